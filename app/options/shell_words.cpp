#include "options/shell_words.h"

#include <fmt/core.h>

#include <cstddef>
#include <string_view>

namespace attnviz::app {

namespace {

// C0, DEL, and C1 as UTF-8 has it: C2 80 to C2 9F.
bool is_control(std::string_view word, std::size_t at) {
  const auto byte = static_cast<unsigned char>(word[at]);
  const auto next = static_cast<unsigned char>(at + 1 < word.size() ? word[at + 1] : '\0');
  const auto before = static_cast<unsigned char>(at > 0 ? word[at - 1] : '\0');
  return byte < 0x20 || byte == 0x7F || (byte == 0xC2 && next >= 0x80 && next < 0xA0) ||
         (before == 0xC2 && byte >= 0x80 && byte < 0xA0);
}

bool has_control(std::string_view word) {
  for (std::size_t at = 0; at < word.size(); ++at) {
    if (is_control(word, at)) {
      return true;
    }
  }
  return false;
}

bool is_plain(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,@%+-";
  return !word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos;
}

}  // namespace

std::string shell_word(const std::string& word) {
  if (is_plain(word)) {
    return word;
  }
  const bool has_controls = has_control(word);
  std::string quoted = has_controls ? "$'" : "'";
  for (std::size_t at = 0; at < word.size(); ++at) {
    const char sign = word[at];
    if (is_control(word, at)) {
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(sign));
    } else if (has_controls && (sign == '\'' || sign == '\\')) {
      quoted += {'\\', sign};
    } else {
      quoted += sign == '\'' ? std::string("'\\''") : std::string(1, sign);
    }
  }
  return quoted + "'";
}

std::string typed_word(const std::string& word) {
  constexpr std::string_view kTold = "\"\\$`!";  // to a shell, also between double quotes
  const bool is_simple = word.find_first_of(kTold) == std::string::npos && !has_control(word);
  return is_simple && !is_plain(word) ? '"' + word + '"' : shell_word(word);
}

}  // namespace attnviz::app
