#include "attnviz/text/vocabulary_fit.h"

#include <algorithm>
#include <string_view>

#include "attnviz/text/word_groups.h"

namespace attnviz {

VocabularyFit vocabulary_fit(const TokenizedText& text) {
  constexpr std::size_t kManyPieces = 3;
  VocabularyFit fit;
  const std::vector<std::size_t> words = word_numbers(text);
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin + 1;
    while (end < text.size() && words[end] == words[begin]) {
      ++end;
    }
    const Token& first = text.tokens[begin];
    if (!first.added) {
      fit.n_tokens += end - begin;
    }
    const std::size_t place = std::min(text.source.find_first_not_of(' ', first.begin),
                                       text.tokens[end - 1].end);  // white space alone is no word
    if (!first.special && end - begin >= kManyPieces && place < text.tokens[end - 1].end) {
      fit.n_in_pieces += end - begin;
      std::string word = text.source.substr(place, text.tokens[end - 1].end - place);
      if (std::ranges::find(fit.in_pieces, word) == fit.in_pieces.end()) {
        fit.in_pieces.push_back(std::move(word));
      }
    }
    begin = end;
  }
  return fit;
}

}  // namespace attnviz
