// The options of attnviz cite, diff, lesson, softmax, meaning and why.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "attnviz/core/choices.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/threads.h"
#include "attnviz/report/lessons/lesson.h"
#include "attnviz/report/why_document.h"
#include "options/option_groups.h"
#include "options/option_values.h"

namespace attnviz::app {

namespace {

float parse_factor(std::string_view option, const std::string& word) {
  const float factor = parse_decimal(option, word);
  if (!(factor > 1.0f)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{}: expected a number above 1, found \"{}\"", option, word));
  }
  return factor;
}

std::string parse_answer(std::string_view option, const std::string& word) {
  if (words_of(word).empty()) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("{}: the text is empty or blank, so there is no answer to score", option));
  }
  return word;
}

}  // namespace

void define_cite(OptionList& list, CiteOptions& options) {
  constexpr std::uint64_t kMost = 1'000'000;
  InputOptions& input = options.input;
  define_text(list, input);
  list.add_list("Input", "--doc", "FILE",
                "put this document before TEXT, the question; may be repeated. Without --doc, TEXT "
                "is the whole prompt and its own sentences are ranked",
                options.documents)
      .common();
  list.add_value("Input", "-f,--file", "FILE", "read TEXT from a file", input.file);
  list.add_value("Input", "--answer", "TEXT",
                 "score this answer (default: the one the model writes)", options.answer,
                 parse_answer)
      .conflicts({"--generate"})
      .common();
  list.add_value(
      "Input", "--generate", "N",
      fmt::format(
          "let the model write at most N tokens (default {}); it stops at the end of a line",
          options.generate),
      options.generate, count_between(1, kMost));
  list.add_value(
      "Input", "--span-words", "N",
      "cut sentences longer than N words, as in texts without punctuation, and rank the pieces",
      options.span_words, count_between(1, kMost));
  list.add_flag("Input", "--print-prompt", "print only the prompt that the model gets",
                options.print_prompt)
      .conflicts({"--json", "-o"})
      .conflicts({"--truncate"}, ": the whole prompt is printed")
      .common();
  list.add_flag("Input", "--bos",
                "add the beginning-of-text token (default: as the tokenizer is configured)",
                [&input] { input.bos = true; })
      .conflicts({"--no-bos"});
  list.add_flag("Input", "--no-bos", "do not add the beginning-of-text token",
                [&input] { input.bos = false; });
  list.add_flag("Input", "--special", "parse special tokens such as <|endoftext|> in the prompt",
                input.special);
  define_tokenizer(list, options.tokenizer);
  // The answer follows the end of the prompt, so only the beginning can be cut.
  list.add_choice("Input", "--truncate", std::span(kTruncateSides).first(1),
                  "cut the beginning of a prompt that, with the answer, is longer than the model's "
                  "context (default: refuse it)",
                  options.truncate);
  define_named_model(
      list, options.model.model, options.verbosity,
      "the model: a Hugging Face folder or .safetensors file, a GGUF file, or the name of a model "
      "on this machine, as attnviz models lists them (default: demo, the embedded one)");
  define_softmax(list, options.request);
  define_what_if(list, options.what_if);
  list.add_flag("Attention", "--retrieval-heads",
                "first find the heads that copy a needle from random tokens, and report their "
                "attention separately",
                options.retrieval_heads);
  list.add_value("Output", "--matters", "FACTOR",
                 "a sentence matters if hiding it makes the answer at least this many times less "
                 "probable (default 2)",
                 options.least_factor, parse_factor);
  list.add_value(
          "Output", "--top", "N",
          fmt::format("only the first N sentences of the table; 0: all (default {})", options.top),
          options.top, count_between(0, kMost))
      .common();
  define_files(list, options.output, Result::kTextReport);
  define_text_style(list, options.look);
  define_colormap(list, options.drawing);
  define_run(list, options);
}

void define_diff(OptionList& list, DiffOptions& options) {
  for (const char* name : {kText, kOtherText}) {
    list.add_positional(name,
                        [&options](const std::string& word) { options.texts.push_back(word); });
  }
  list.add_list("Input", "--text", "TEXT", "a text to compare; give it twice, or two TEXTs",
                options.other_texts)
      .common();
  define_reading(list, options.input);
  define_chat(list, options.input);
  define_cutting(list, options);
  list.add_list(
          "Model", kModelNames, "FILE",
          "the model for both texts (default: demo, the embedded one); given twice: two models to "
          "compare on one TEXT, for example a base model and a fine-tune, or F16 and Q4_K",
          options.models)
      .common();
  define_strict(list, options.verbosity);
  define_random(list, options);
  define_attention(list, options, "all; --head draws the change of each chosen head");
  list.add_flag("Output", "--map", "a map of all heads instead of the table, as in pictures",
                options.map)
      .common();
  list.add_value("Output", "--top", "N", "only the first N heads of the table; 0: all (default 12)",
                 options.top, count_between(0, 1'000'000))
      .only_in(Effect::kTable)
      .common();
  list.add_value("Output", "--threshold", "SHARE",
                 "two models: relative distance at which two residual streams count as different "
                 "(default 0.05)",
                 options.threshold, parse_share);
  for (const char* const name : {"--map", "--top", "--threshold"}) {
    list.row(name).conflicts({"--head"}, ": --head draws chosen heads");
  }
  define_files(list, options.output, Result::kReport);
  define_drawing(list, options.drawing);
  define_run(list, options);
}

namespace {

[[noreturn]] void fail_diff(const std::string& what) {
  throw Error(ErrorKind::kUsage,
              "diff compares two texts in one model, or one text in two models" + what);
}

bool is_blank(const std::string& text) {
  return words_of(text).empty();
}

}  // namespace

void settle_compared(DiffOptions& options) {
  std::vector<std::string>& texts = options.texts;
  std::move(options.other_texts.begin(), options.other_texts.end(), std::back_inserter(texts));
  options.other_texts.clear();
  const std::vector<std::string>& models = options.models;
  const InputOptions& input = options.input;
  if (texts.size() > 2 || models.size() > 2) {
    fail_diff(fmt::format(": found {} and {}", counted(texts.size(), "text"),
                          counted(models.size(), "model")));
  }
  if (models.size() == 2) {
    if (texts.size() == 2) {
      fail_diff(": found two of both; leave out a text or a model");
    }
    if (!texts.empty() && (input.file || input.ids)) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("--text and {} exclude each other", input.messages ? "--messages"
                                                                  : input.file   ? "--file"
                                                                                 : "--ids"));
    }
    options.second = options.model;
    options.second->model = given_model(models[1]);
  } else if (texts.size() < 2) {
    fail_diff(
        texts.empty() && !input.is_given()
            ? std::string(", as in: attnviz diff --text \"The cat sat\" --text \"The dog sat\", or "
                          "attnviz diff -m A -m B TEXT")
            : std::string(": found one text and one model; give another --text, or another -m"));
  } else if (input.file || input.ids) {
    fail_diff(fmt::format(": {} gives a third text", input.file ? "--file" : "--ids"));
  }
  if (std::ranges::any_of(texts, is_blank)) {
    throw Error(ErrorKind::kUsage, "TEXT: the text is empty or blank");
  }
  if (!models.empty()) {
    options.model.model = given_model(models[0]);
  }
  if (!texts.empty()) {
    options.input.text = texts[0];
  }
}

namespace {

// Some commands teach but are not lessons.
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
  list.add_positional(kLesson,
                      [&options](const std::string& word) {
                        refuse_commands(word);
                        options.lesson = parse_choice("lesson", word, kLessonChoices);
                      })
      .proposes(choice_words(kLessonChoices));
  list.add_value("Model", "--seed", "N",
                 "seed of the random numbers (default " + std::to_string(kDefaultSeed) + ")",
                 options.seed, count_between(0, std::numeric_limits<std::uint64_t>::max()));
  define_files(list, options.output, Result::kReport);
  define_text_style(list, options.look);
  define_colormap(list, options.drawing);
  define_figure(list, options.drawing, options.look);
  list.add_value("General", "--threads", "N", "threads to compute with (default: all cores)",
                 options.n_threads, count_between(1, 1024));
  define_verbosity(list, options.verbosity);
  for (const char* const name :
       {"-o", "--seed", "--threads", "--title", "--theme", "--cell", "--dpi", "--width",
        "--colormap", "--font", "--no-values", "--no-footer"}) {
    list.row(name).needs({kLesson},
                         ", as in: attnviz lesson scaling -o FILE.png; attnviz lesson lists them");
  }
}

void define_softmax_command(OptionList& list, SoftmaxOptions& options) {
  list.add_positionals(kScores, options.scores);
  list.add_value("Attention", "--divide-by", "N",
                 "first divide the scores by N, usually the square root of d_head: 11.31 for "
                 "d_head 128 (default 1)",
                 options.divide_by, parse_positive);
  list.add_value("Attention", "--temperature", "T", "also divide them by T (default 1)",
                 options.temperature, parse_positive);
  define_files(list, options.output, Result::kReport);
  define_text_style(list, options.look);
  define_colormap(list, options.drawing);
  define_figure(list, options.drawing, options.look);
  define_verbosity(list, options.verbosity);
}

void define_meaning(OptionList& list, MeaningOptions& options) {
  options.input.may_be_absent = true;
  list.add_positional(kWord, [&options](const std::string& word) { options.word = word; });
  list.add_list("Input", "--in", "TEXT",
                "a text that contains the word; give two or more. The last occurrence in a text "
                "counts; bank#1 is the first",
                options.contexts);
  define_model(list, options);
  define_files(list, options.output, Result::kReport);
  define_text_style(list, options.look);
  define_colormap(list, options.drawing);
  define_figure(list, options.drawing, options.look);
  define_run(list, options);
}

namespace {

std::vector<AblatedPart> parse_parts(std::string_view option,
                                     const std::vector<std::string>& lists) {
  std::vector<AblatedPart> parts;
  for (const std::string& list : lists) {
    for (const std::string_view item : list_parts(list)) {
      const AblatedPart part = parse_choice(option, item, kAblatedParts);
      if (std::ranges::find(parts, part) == parts.end()) {
        parts.push_back(part);
      }
    }
  }
  return parts;
}

}  // namespace

void define_why(OptionList& list, WhyOptions& options) {
  constexpr const char* kExample = ", as in: attnviz why TEXT --head 2.1 --query -1 --key cat";
  define_input(list, options.input);
  define_model(list, options);
  define_attention(list, options, "none; the head whose score --query and --key split");
  define_names(list, options);
  list.add_value("Prediction", "--toward", "TOKEN",
                 "the token to explain (default: the most probable one): \" Potter\", or id:301",
                 options.toward)
      .common();
  list.add_value("Prediction", "--versus", "TOKEN",
                 "the token to compare it with (default: the next most probable one)",
                 options.versus)
      .common();
  list.add_value("Prediction", "--at", "TOKEN|INDEX",
                 "explain the prediction after this token (default: the last); later text is not "
                 "read, so -1 in --hide is this token",
                 options.at);
  list.add_flag("Prediction", "--tokens",
                "only what the prediction loses without each word (default: all parts)",
                options.tokens);
  list.add_flag("Prediction", "--attribution", "only what heads and MLPs write into the logit",
                options.attribution);
  list.add_list("Prediction", "--ablate-each", "PARTS",
                "only what is lost without each of these: heads, mlps, layers (their attention), "
                "or a list with commas; may be repeated",
                [&options](const std::vector<std::string>& lists) {
                  options.ablate_each = parse_parts("--ablate-each", lists);
                })
      .proposes({"heads", "mlps", "layers"});
  list.add_choice(
      "Prediction", "--by", kReplacements,
      "what replaces the output of an ablated part: zero, or its mean over the text (default zero)",
      options.by_mean);
  list.add_flag("Prediction", "--lens",
                "only what the model would predict if it ended after each layer", options.lens)
      .common();
  list.add_value("Attention", "--query", "TOKEN|INDEX",
                 "with --key and --head: explain this query's score instead of a prediction, split "
                 "over the parts that wrote into the two tokens",
                 options.query)
      .needs({"--key"}, kExample)
      .needs({"--head"}, kExample)
      .conflicts({"--at", "--toward", "--versus", "--tokens", "--lens", "--by", "--attribution",
                  "--ablate-each"},
                 ": a score is not a prediction");
  list.add_value("Attention", "--key", "TOKEN|INDEX", "the key of the score to explain",
                 options.key)
      .needs({"--query"}, kExample);
  for (const char* const name : {"--head", "--layer"}) {
    list.row(name).needs({"--query"}, " and --key: it names the head whose score is explained");
  }
  constexpr std::uint64_t kMostRows = 1'000'000;
  list.add_value("Output", "--top", "N", "only the first N rows of a table; 0: all (default 8)",
                 options.top, count_between(0, kMostRows))
      .only_in(Effect::kTable);
  define_files(list, options.output, Result::kReport);
  define_text_style(list, options.look);
  define_colormap(list, options.drawing);
  define_figure(list, options.drawing, options.look);
  define_run(list, options);
}

}  // namespace attnviz::app
