// The options of attnviz lesson, softmax and meaning.
#include <fmt/core.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "attnviz/core/choices.h"
#include "attnviz/core/cpus.h"
#include "attnviz/core/error.h"
#include "attnviz/document/lessons/lesson_names.h"
#include "options/option_groups.h"
#include "options/option_values.h"

namespace attnviz::app {

namespace {

// Commands that teach, too, but are no lessons.
void refuse_commands(const std::string& word) {
  constexpr std::array kTeaching = {
      Choice{"softmax", "attnviz softmax 2.1 8.7 3.2"},
      Choice{"meaning",
             "attnviz meaning bank --in \"the river bank\" --in \"the bank gave a loan\""},
      Choice{"tour", "attnviz tour"}};
  if (const auto line = choice_named(kTeaching, word)) {
    throw AdviceError(ErrorKind::kUsage, {fmt::format("lesson: {} is a command of its own:", word),
                                          {std::string(*line)}});
  }
}

}  // namespace

void define_lesson(OptionList& list, LessonOptions& options) {
  options.n_threads = available_threads();
  list.add_positional(kLesson, [&options](const std::string& word) {
    refuse_commands(word);
    options.lesson = parse_choice("lesson", word, kLessonChoices);
  });
  list.propose(choice_words(kLessonChoices));
  list.add_value("Model", "--seed", "N",
                 "seed of what is drawn at random (default " + std::to_string(kDefaultSeed) + ")",
                 options.seed, count_between(0, std::numeric_limits<std::uint64_t>::max()));
  define_files(list, options.output, Result::kReport);
  define_text_style(list, options.look);
  define_colormap(list, options.drawing);
  define_figure(list, options.drawing, options.look);
  list.add_value("General", "--threads", "N", "threads to compute with (default: all cores)",
                 options.n_threads, count_between(1, 1024));
  define_talk(list, options.talk);
}

void define_softmax_command(OptionList& list, SoftmaxOptions& options) {
  list.add_positionals(kScores, options.scores);
  list.add_value("Attention", "--divide-by", "N",
                 "divide the scores by this first: the root of d_head, as 11.31 of 128 (default 1)",
                 options.divide_by, parse_positive);
  list.add_value("Attention", "--temperature", "T", "and by this (default 1)", options.temperature,
                 parse_positive);
  define_files(list, options.output, Result::kReport);
  define_text_style(list, options.look);
  define_colormap(list, options.drawing);
  define_figure(list, options.drawing, options.look);
  define_talk(list, options.talk);
}

void check_lesson(const Given& given, const LessonOptions& options) {
  for (const char* option : {"-o", "--seed", "--threads", "--title", "--theme", "--cell", "--dpi",
                             "--width", "--colormap", "--font", "--no-values", "--no-footer"}) {
    if (!options.lesson && given.has(option)) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("{} goes with a lesson's NAME, as in: attnviz lesson {} -o FILE.png; "
                              "attnviz lesson lists them",
                              option, kLessonChoices.front().word));
    }
  }
  check_output(options.output);
}

void check_softmax(const Given& /*given*/, const SoftmaxOptions& options) {
  check_output(options.output);
}

void check_meaning(const Given& given, MeaningOptions& options) {
  if (options.word.find_first_not_of(" \t\r\n") == std::string::npos) {
    throw Error(ErrorKind::kUsage,
                "meaning needs a WORD, as in: attnviz meaning bank --in \"…\" --in \"…\"");
  }
  if (options.contexts.size() < 2) {
    throw Error(ErrorKind::kUsage, fmt::format("meaning compares texts: give --in twice or more, "
                                               "found {}",
                                               options.contexts.size()));
  }
  options.input.may_be_absent = true;
  check_attention(given, options);
}

void define_meaning(OptionList& list, MeaningOptions& options) {
  list.add_positional(kWord, [&options](const std::string& word) { options.word = word; });
  list.add_list("Input", "--in", "TEXT",
                "a text with the word in it; twice or more. Of several places in one text the last "
                "is taken; bank#1 is the first",
                options.contexts);
  define_model(list, options);
  define_files(list, options.output, Result::kReport);
  define_text_style(list, options.look);
  define_colormap(list, options.drawing);
  define_figure(list, options.drawing, options.look);
  define_run(list, options);
}

}  // namespace attnviz::app
