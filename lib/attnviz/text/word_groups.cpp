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

// Whether pieces of this tokenizer carry the white space before them, as those of GPT-2 and Llama.
bool carries_spaces(const TokenizedText& text) {
  return std::any_of(text.tokens.begin(), text.tokens.end(), [&text](const Token& token) {
    const auto sign = token.special ? std::nullopt : first_sign(text, token);
    return sign && *sign > token.begin;
  });
}

}  // namespace

std::vector<std::size_t> word_numbers(const TokenizedText& text) {
  const TokenizedText words = make_tokenizer("words")->tokenize(text.source);
  std::vector<std::size_t> numbers;
  numbers.reserve(text.size());
  const bool joins_spaces = carries_spaces(text);
  const Token* space = nullptr;     // the token before, if it is one space and no more
  std::optional<std::size_t> last;  // its word
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
    const bool is_its_space = space != nullptr && place == token.begin && space->end == token.begin;
    if (!numbers.empty() && !(word && word == last) && !is_its_space) {
      ++number;
    }
    numbers.push_back(number);
    last = word;
    space = joins_spaces && !token.special && token.text == " " ? &token : nullptr;
  }
  return numbers;
}

TokenizedText merged_words(const TokenizedText& text, std::span<const std::size_t> numbers) {
  TokenizedText merged{text.source, {}, text.turns};
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
