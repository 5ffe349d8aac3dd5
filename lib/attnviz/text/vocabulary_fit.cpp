#include "attnviz/text/vocabulary_fit.h"

#include <algorithm>
#include <set>
#include <span>
#include <string_view>

#include "attnviz/core/utf8.h"
#include "attnviz/text/unicode_classes.h"
#include "attnviz/text/word_groups.h"

namespace attnviz {

namespace {

bool is_in_pieces(std::span<const Token> tokens, std::string_view word) {
  constexpr std::size_t kManyPieces = 3;
  return !is_utf8(word) || (tokens.size() >= kManyPieces && has_letter(word));
}

}  // namespace

VocabularyFit vocabulary_fit(const TokenizedText& text) {
  constexpr std::size_t kMostNamed = 3;
  VocabularyFit fit;
  const std::vector<std::size_t> words = word_numbers(text);
  const std::string_view source = text.source;
  std::set<std::string_view> met;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = static_cast<std::size_t>(
        std::upper_bound(words.begin() + static_cast<std::ptrdiff_t>(begin), words.end(),
                         words[begin]) -
        words.begin());
    const std::span<const Token> tokens = std::span(text.tokens).subspan(begin, end - begin);
    begin = end;
    if (tokens.front().added) {
      continue;
    }
    fit.n_tokens += tokens.size();
    std::string_view word =
        source.substr(tokens.front().begin, tokens.back().end - tokens.front().begin);
    word.remove_prefix(std::min(word.find_first_not_of(' '), word.size()));
    if (tokens.front().special || !is_in_pieces(tokens, word)) {
      continue;
    }
    fit.n_in_pieces += tokens.size();
    if (met.insert(word).second && fit.named.size() < kMostNamed) {
      fit.named.emplace_back(word);
    }
  }
  fit.n_words = met.size();
  return fit;
}

}  // namespace attnviz
