#include "attnviz/text/pronouns.h"

#include <algorithm>
#include <array>

namespace attnviz {

bool is_pronoun(std::string_view piece) noexcept {
  constexpr std::array<std::string_view, 7> kPronouns = {"it",  "he",  "she", "they",
                                                         "him", "her", "them"};
  constexpr char kToLower = 'a' - 'A';
  piece.remove_prefix(std::min(piece.find_first_not_of(' '), piece.size()));
  const auto same = [](char c, char lower) {
    return c == lower || (c >= 'A' && c <= 'Z' && c + kToLower == lower);
  };
  return std::ranges::any_of(kPronouns, [&](std::string_view pronoun) {
    return std::ranges::equal(piece, pronoun, same);
  });
}

}  // namespace attnviz
