#include "tokenize.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "attnviz/core/utf8.h"
#include "attnviz/model/weights_json.h"
#include "attnviz/render/tokens_json.h"
#include "attnviz/text/tokenizer.h"
#include "input.h"
#include "output_file.h"
#include "talk.h"

namespace attnviz::app {

namespace {

// Columns as wide as their widest cell; numbers to the right, words to the left.
std::string token_table(const TokenizedText& text) {
  std::vector<std::string> labels;
  std::size_t widest = std::string_view("token").size();
  for (const Token& token : text.tokens) {
    labels.push_back(printable(token.text));
    widest = std::max(widest, display_width(labels.back()));
  }
  std::string out = fmt::format("index      id  {}  bytes\n", pad_right("token", widest));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const Token& token = text.tokens[i];
    fmt::format_to(std::back_inserter(out), "{:>5}  {:>6}  {}  {}-{}\n", i, token.id,
                   pad_right(labels[i], widest), token.begin, token.end);
  }
  return out;
}

}  // namespace

void run_tokenize(const TokenizeOptions& options) {
  Phases phases(options.talk);
  TextSource source(options.input, options.talk);
  std::string name = "words";
  std::vector<std::string> vocabulary;
  if (options.weights) {
    Model model = load_weights_json(*options.weights);
    name = model.config.tokenizer;
    vocabulary = std::move(model.vocabulary);
    phases.done("model");
  }
  const auto tokenizer = make_tokenizer(options.tokenizer.value_or(name), vocabulary);
  bool is_first = true;
  while (const auto input = source.next()) {
    const TokenizedText text = tokenize(*tokenizer, *input);
    phases.done("tokenize");
    if (options.json) {
      write_tokens_json(text, tokenizer->name(), write_to_stdout);
    } else {
      if (!is_first) {
        write_to_stdout("\n");
      }
      write_to_stdout(token_table(text));
    }
    is_first = false;
    phases.done("print");
  }
}

}  // namespace attnviz::app
