#include "attnviz/text/pronouns.h"

#include <algorithm>
#include <iterator>

#include "attnviz/core/utf8.h"
#include "attnviz/text/unicode_classes.h"

namespace attnviz {

std::string pronoun_of(std::string_view word) {
  constexpr std::string_view kPronouns[] = {"it", "he", "she", "they", "him", "her", "them"};
  constexpr std::size_t kLongest = 4;
  constexpr char32_t kApostrophe = 0x2019;
  word.remove_prefix(std::min(word.find_first_not_of(' '), word.size()));
  std::string lower;
  for (std::size_t i = 0; i < word.size() && word[i] != '\'' && lower.size() <= kLongest;) {
    const CodePoint point = decode_utf8(word, i);
    if (point.valid && point.value == kApostrophe) {
      break;
    }
    if (!point.valid) {
      return {};
    }
    append_lower(lower, point.value);
    i += point.length;
  }
  const bool is_one =
      std::find(std::begin(kPronouns), std::end(kPronouns), lower) != std::end(kPronouns);
  return is_one ? lower : std::string();
}

}  // namespace attnviz
