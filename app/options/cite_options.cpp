// The options of attnviz cite.
#include <fmt/core.h>

#include <span>

#include "attnviz/core/error.h"
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

}  // namespace

void define_cite(OptionList& list, CiteOptions& options) {
  constexpr std::uint64_t kMost = 1'000'000;
  InputOptions& input = options.input;
  define_text(list, input);
  list.add_list("Input", "--doc", "FILE",
                "put this document before TEXT, which is then a question; may be repeated. "
                "Without any, TEXT is the whole prompt and its sentences are ranked",
                options.documents);
  list.add_value("Input", "-f,--file", "FILE", "read TEXT from a file", input.file);
  list.add_value("Input", "--answer", "TEXT",
                 "score this answer (default: the one that the model writes)", options.answer);
  list.add_value("Input", "--generate", "N",
                 fmt::format("how many tokens the model writes at most (default {}); it ends at "
                             "the end of a line",
                             options.generate),
                 options.generate, count_between(1, kMost));
  list.add_value(
      "Input", "--span-words", "N",
      "cut sentences that are longer than N words, as in texts without punctuation; what is "
      "ranked are then spans of at most N words",
      options.span_words, count_between(1, kMost));
  list.add_flag("Input", "--print-prompt", "print what the model is given, and nothing else",
                options.print_prompt);
  list.add_flag(
      "Input", "--bos",
      "begin the prompt with the token that does (default: as the model's tokenizer has it)",
      [&input] { input.bos = true; });
  list.add_flag("Input", "--no-bos", "begin the prompt without it",
                [&input] { input.bos = false; });
  list.add_flag("Input", "--special",
                "names of special tokens in the prompt, such as <|endoftext|>, are these tokens",
                input.special);
  define_tokenizer(list, options.tokenizer);
  // The end of a prompt is what the answer stands behind.
  list.add_choice("Input", "--truncate", std::span(kTruncateSides).first(1),
                  "leave out the beginning of a prompt that, with the answer, is longer than the "
                  "model's context (default: refuse it)",
                  options.truncate);
  define_named_model(
      list, options.model.model, options.talk,
      "a Hugging Face folder or .safetensors file, a GGUF file, or the name of a model on this "
      "machine, as attnviz models lists them (default: demo, the embedded one)");
  define_softmax(list, options.request);
  define_what_if(list, options.what_if);
  list.add_flag("Attention", "--retrieval-heads",
                "find the heads that copy a needle from random tokens first, and tell their "
                "attention by itself",
                options.retrieval_heads);
  list.add_value("Output", "--matters", "FACTOR",
                 "a sentence matters if the answer is this many times less probable, or more, when "
                 "the sentence is hidden from the answer's tokens (default 2)",
                 options.least_factor, parse_factor);
  list.add_value(
      "Output", "--top", "N",
      fmt::format("only the first N sentences of the table; 0: all (default {})", options.top),
      options.top, count_between(0, kMost));
  define_files(list, options.output, Result::kTextReport);
  define_text_style(list, options.look);
  define_colormap(list, options.drawing);
  define_run(list, options);
}

}  // namespace attnviz::app
