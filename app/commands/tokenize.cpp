#include "commands/commands.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/core/utf8.h"
#include "attnviz/report/json/document_json.h"
#include "attnviz/text/tokenizer.h"
#include "commands/input.h"
#include "commands/prepared_text.h"
#include "stores/model_source.h"
#include "system/diagnostics.h"
#include "system/output_file.h"
#include "system/terminal_info.h"

namespace attnviz::app {

namespace {

// "special, added": properties of a token that its text does not show.
std::string remarks(const Token& token) {
  std::string words;
  for (const auto& [is_so, word] : {std::pair{token.special, "special"},
                                    {token.added, "added"},
                                    {token.segment > 0, "second text"}}) {
    if (is_so) {
      words += (words.empty() ? "" : ", ") + std::string(word);
    }
  }
  return words;
}

// Columns are as wide as their widest cell; numbers align right, words left.
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
    std::string bytes = fmt::format("{}-{}", token.begin, token.end);
    if (const std::string words = remarks(token); !words.empty()) {
      bytes = fmt::format("{:<9}  {}", bytes, words);
    }
    out += fmt::format("{:>5}  {:>6}  {}  {}\n", i, token.id, pad_right(labels[i], widest), bytes);
  }
  return out;
}

}  // namespace

void run(const TokenizeOptions& options) {
  Phases phases(options.verbosity);
  TextSource source(options.input, options.verbosity);
  const auto tokenizer = open_tokenizer(options.tokenizer, options.model);
  phases.done("tokenizer");
  report_unread_keys(tokenizer->name(), *tokenizer, options.verbosity);
  bool is_first = true;
  source.for_each([&](const InputText& input) {
    const TokenizedText text = tokenize(*tokenizer, input, options.input);
    check_prompt(text, *tokenizer, options.input, options.verbosity);
    phases.done("tokenize");
    if (options.print_prompt) {
      // A file gets only the bytes that the template writes.
      const bool ends_line = stdout_is_terminal() || options.input.many_texts();
      return write_to_stdout(text.source + (ends_line ? "\n" : ""));
    }
    if (options.json) {
      write_tokens_json(text, tokenizer->name(), write_to_stdout,
                        options.input.many_texts() ? source.lines().count() : 0);
    } else {
      if (!is_first) {
        write_to_stdout("\n");
      }
      write_to_stdout(token_table(text));
    }
    is_first = false;
    phases.done("print");
  });
}

}  // namespace attnviz::app
