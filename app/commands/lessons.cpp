#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "attnviz/analysis/lessons/lesson_numbers.h"
#include "attnviz/attention/layer.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/report/lessons/lesson.h"
#include "attnviz/report/reports/reports.h"
#include "attnviz/terminal/views.h"
#include "commands/attention_run.h"
#include "commands/commands.h"
#include "commands/input.h"
#include "options/option_values.h"
#include "outputs/outputs.h"
#include "system/diagnostics.h"
#include "system/output_file.h"
#include "system/process.h"
#include "system/system_fonts.h"
#include "system/terminal_info.h"

namespace attnviz::app {

namespace {

// The scores on standard input.
std::string typed_scores(const Verbosity& verbosity) {
  InputOptions input;
  input.text = "-";
  TextSource source(input, verbosity);
  const auto text = source.next();
  return text ? std::get<std::string>(text->content) : "";
}

std::vector<double> given_scores(const SoftmaxOptions& options) {
  if (options.scores.empty() && stdin_is_terminal()) {
    throw Error(ErrorKind::kUsage, "softmax needs SCOREs, as in: attnviz softmax 2.1 8.7 3.2");
  }
  const bool reads =
      options.scores.empty() || (options.scores.size() == 1 && options.scores.front() == "-");
  std::string words = reads ? typed_scores(options.verbosity) : "";
  for (const std::string& word : options.scores) {
    words += reads ? "" : word + " ";
  }
  return parse_numbers("softmax", words);
}

}  // namespace

void run(const SoftmaxOptions& options) {
  const auto fonts = open_fonts(options.look.fonts, options.verbosity);
  Outputs outputs({.result = Result::kReport,
                   .options = options.output,
                   .look = options.look,
                   .verbosity = options.verbosity,
                   .fonts = *fonts,
                   .read_files = {}});
  const SoftmaxSteps steps =
      softmax_steps(given_scores(options), static_cast<double>(options.divide_by),
                    static_cast<double>(options.temperature));
  Report report = softmax_report(steps);
  draw_as_asked(report, options.drawing);
  if (outputs.writes(Content::kFigure)) {
    warn_unused(options.verbosity, {"--cell"}, "the weights are drawn as bars");
  }
  if (!outputs.writes(Content::kFigure) && !outputs.writes(Content::kPage)) {
    warn_unused(options.verbosity, Effect::kMap, "no picture was drawn (-o FILE.png)");
  }
  outputs.write(report);
}

namespace {

// The lesson's own figure comes first.
std::vector<NextCommand> next_commands(LessonKind kind) {
  std::vector<NextCommand> next;
  switch (kind) {
    case LessonKind::kScaling:
      next = {{"attnviz softmax 2.1 8.7 3.2 --divide-by 11.31", "one row, step by step"},
              {"attnviz \"The cat sat\" --no-scale", "a model without the division"}};
      break;
    case LessonKind::kHeads:
      next = {{"attnviz heads", "what each head of the demo model does"},
              {"attnviz \"The cat sat\" --layer 1", "the heads of one layer"}};
      break;
    case LessonKind::kLinear:
      next = {{"attnviz inspect \"The cat sat\" --head 0.1", "q, k and scores, number by number"},
              {"attnviz lesson cost", "the cost of softmax attention"}};
      break;
    case LessonKind::kPositions:
      next = {{"attnviz --random \"the cat saw the dog\" --positions rope", "only one kind"},
              {"attnviz inspect \"The cat sat\" --step rope", "how RoPE turns q and k"}};
      break;
    case LessonKind::kCost:
      next = {{"attnviz lesson cache", "which work a cache saves"}};
      break;
    case LessonKind::kCache:
      next = {{"attnviz \"Once upon a time\" --generate 20", "let the model write"},
              {"attnviz info --d-model 4096 --heads 32 --kv-heads 8", "a model of your own sizes"}};
      break;
    case LessonKind::kMasks:
      next = {{"attnviz \"The cat sat on the mat\" --mask window:2", "the demo model, masked"}};
      break;
  }
  const std::string name(word_for(kLessonChoices, kind));
  next.insert(next.begin(), {"attnviz lesson " + name + " -o " + name + ".png", "this figure"});
  return next;
}

}  // namespace

void run(const LessonOptions& options) {
  if (!options.lesson) {
    const Report report = lesson_list_report();
    return write_report(report, options.output.json,
                        stdout_drawing(options.look.style, options.look.color), write_to_stdout);
  }
  const auto fonts = open_fonts(options.look.fonts, options.verbosity);
  Outputs outputs({.result = Result::kReport,
                   .options = options.output,
                   .look = options.look,
                   .verbosity = options.verbosity,
                   .fonts = *fonts,
                   .read_files = {}});
  LessonRequest request{options.seed.value_or(kDefaultSeed), options.n_threads, {}};
  Lesson lesson;
  {
    ProgressLine progress("measuring", options.verbosity);
    request.report = progress.report();
    lesson = make_lesson(*options.lesson, request);
  }
  if (!lesson.seed) {
    warn_unused(options.verbosity, {"--seed"}, "this lesson uses no random numbers");
  }
  if (std::holds_alternative<ChartFigure>(lesson.figure)) {
    constexpr const char* kWhy = "this lesson's figure is a line chart";
    if (outputs.writes(Content::kFigure)) {
      warn_unused(options.verbosity, {"--cell", "--no-values", "--colormap"}, kWhy);
    } else {  // those apply to pictures only
      warn_unused(options.verbosity, {"--colormap"}, kWhy);
    }
  }
  lesson.next = next_commands(*options.lesson);
  Report report = lesson_report(lesson);
  draw_as_asked(report, options.drawing);
  outputs.write(report);
}

namespace {

// The position of the word in a context, whose number counts from 1.
WordPlace find_word(const MeaningOptions& options, const TokenizedText& text, std::size_t number) {
  const std::string where = fmt::format("--in {}", number);
  try {
    return place_of_word(text, options.word, where);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUsage) {
      throw;
    }
    throw Error(ErrorKind::kUsage,
                fmt::format("--in {}: the text {} does not contain the word {}", number,
                            in_quotes(options.contexts[number - 1]), in_quotes(options.word)));
  }
}

void add_note(MeaningDocument& document, const std::string& note) {
  if (!note.empty() && std::ranges::find(document.notes, note) == document.notes.end()) {
    document.notes.push_back(note);
  }
}

void add_context(const MeaningOptions& options, AttentionSetup& setup, const Tokenizer& tokenizer,
                 std::size_t number, MeaningDocument& document) {
  const std::string& given = options.contexts[number - 1];
  if (given.find_first_not_of(" \t\r\n\v\f") == std::string::npos) {
    throw Error(ErrorKind::kUsage, fmt::format("--in {}: the text is empty", number));
  }
  WordContext context;
  context.text = read_text(setup, options, tokenizer, {given});
  WordPlace place = find_word(options, context.text, number);
  context.tokens = std::move(place.tokens);
  const AttentionRequest request = request_of(options, setup.model, context.text);
  require_memory(layer_bytes(setup.model, context.text.size()),
                 fmt::format("meaning in {}", counted(context.text.size(), "token")),
                 "take a shorter text");
  context.vectors = word_vectors(setup.model, context.text, request, context.tokens);
  if (number == 1) {
    document.model = model_facts(setup.model, context.text);
    document.run = run_facts(setup.model, request);
    for (const std::string& note : model_notes(document.model)) {
      add_note(document, note);
    }
  }
  add_note(document, place.note.empty() ? "" : fmt::format("text {}: {}", number, place.note));
  for (const std::string& note : context.text.notes) {
    add_note(document, fmt::format("text {}: {}", number, note));
  }
  document.contexts.push_back(std::move(context));
}

}  // namespace

void run(const MeaningOptions& options) {
  constexpr std::size_t kMostTexts = 256;  // all pairs are compared
  if (options.contexts.size() > kMostTexts) {
    throw Error(ErrorKind::kUsage, fmt::format("--in: expected {} texts at most, found {}",
                                               kMostTexts, options.contexts.size()));
  }
  AttentionSetup setup(options, options.look, Result::kReport);
  setup.phases.done("model");
  const auto tokenizer = chosen_tokenizer(options, setup.origin, setup.model);
  MeaningDocument document;
  document.word = options.word;
  for (std::size_t number = 1; number <= options.contexts.size(); ++number) {
    add_context(options, setup, *tokenizer, number, document);
  }
  setup.phases.done("vectors");
  Report report = meaning_report(document);
  draw_as_asked(report, options.drawing);
  setup.outputs.write(report);
  setup.phases.done("render");
}

}  // namespace attnviz::app
