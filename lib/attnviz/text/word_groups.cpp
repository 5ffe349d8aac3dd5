#include "attnviz/text/word_groups.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "attnviz/core/utf8.h"
#include "attnviz/text/tokenizer.h"
#include "attnviz/text/unicode_classes.h"

namespace attnviz {

namespace {

// The place of the first character that is no white space; nullopt when there is none.
std::optional<std::size_t> first_sign(const TokenizedText& text, const Token& token) {
  const std::string_view source = text.source;
  for (std::size_t i = token.begin; i < token.end;) {
    const CodePoint point = decode_utf8(source, i);
    if (!point.valid || !is_white_space(point.value)) {
      return i;
    }
    i += point.length;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::size_t> word_numbers(const TokenizedText& text) {
  const TokenizedText words = make_tokenizer("words")->tokenize(text.source);
  std::vector<std::size_t> numbers;
  numbers.reserve(text.size());
  std::optional<std::size_t> last;  // the word of the token before
  std::size_t number = 0;
  for (const Token& token : text.tokens) {
    const auto place = token.special ? std::nullopt : first_sign(text, token);
    std::optional<std::size_t> word;
    if (place) {
      // The last word that begins at the place or before it; a piece may begin inside of one.
      const auto behind = std::upper_bound(
          words.tokens.begin(), words.tokens.end(), *place,
          [](std::size_t at, const Token& candidate) { return at < candidate.begin; });
      if (behind != words.tokens.begin()) {
        word = static_cast<std::size_t>(behind - words.tokens.begin()) - 1;
      }
    }
    if (!numbers.empty() && !(word && word == last)) {
      ++number;
    }
    numbers.push_back(number);
    last = word;
  }
  return numbers;
}

TokenizedText merged_words(const TokenizedText& text, std::span<const std::size_t> numbers) {
  TokenizedText merged{text.source, {}};
  for (std::size_t i = 0; i < text.size(); ++i) {
    const Token& token = text.tokens[i];
    if (i == 0 || numbers[i] != numbers[i - 1]) {
      merged.tokens.push_back(token);
      continue;
    }
    Token& word = merged.tokens.back();
    word.end = std::max(word.end, token.end);
    word.generated = word.generated || token.generated;
    word.text = text.source.substr(word.begin, word.end - word.begin);
  }
  return merged;
}

}  // namespace attnviz
