#include "options/shell_words.h"

#include <fmt/core.h>

#include <string_view>

#include "attnviz/core/printable_line.h"
#include "attnviz/core/utf8.h"

namespace attnviz::app {

namespace {

// Whether a terminal could obey it, or does not show it as it is.
bool is_hidden(std::string_view text) {
  return printable_line(text) != text;
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
  const bool has_hidden = is_hidden(word);
  std::string quoted = has_hidden ? "$'" : "'";
  for (const std::string_view sign : grapheme_clusters(word)) {
    const bool is_escaped = has_hidden && is_hidden(sign);
    for (const char byte : sign) {  // a mark may follow a quote
      if (is_escaped) {
        quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
      } else if (has_hidden && (byte == '\'' || byte == '\\')) {
        quoted += {'\\', byte};
      } else {
        quoted += byte == '\'' ? std::string("'\\''") : std::string(1, byte);
      }
    }
  }
  return quoted + "'";
}

std::string typed_word(const std::string& word) {
  constexpr std::string_view kTold = "\"\\$`!";  // to a shell, also between double quotes
  const bool is_simple = word.find_first_of(kTold) == std::string::npos && !is_hidden(word);
  return is_simple && !is_plain(word) ? '"' + word + '"' : shell_word(word);
}

}  // namespace attnviz::app
