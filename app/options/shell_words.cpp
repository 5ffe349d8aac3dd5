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

// Words that begin with = or % need quotes: zsh expands =ls, fish %self.
bool is_plain(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,@%+-";
  return !word.empty() && word.front() != '=' && word.front() != '%' &&
         word.find_first_not_of(kPlain) == std::string_view::npos;
}

// Quotes and backslashes go outside of the single quotes: shells read them differently inside.
std::string in_quotes(std::string_view word) {
  std::string quoted;
  bool is_open = false;
  for (const char byte : word) {
    if (const bool is_bare = byte == '\'' || byte == '\\'; is_bare == is_open) {
      quoted += '\'';
      is_open = !is_open;
    }
    quoted += byte == '\'' ? "\"'\"" : byte == '\\' ? "\\\\" : std::string(1, byte);
  }
  return quoted.empty() ? "''" : is_open ? quoted + '\'' : quoted;
}

// Writes bytes that a terminal could obey, and those that printf or a shell would interpret, in
// octal.
std::string printed(std::string_view word) {
  // Before version 5, bash expands ! there, too; fish has its own rules for $ in double quotes.
  constexpr std::string_view kRead = "'\\!$`\"()";
  std::string format;
  for (const std::string_view sign : grapheme_clusters(word)) {
    const bool is_escaped = is_hidden(sign);
    for (const char byte : sign) {  // a mark may follow a quote
      const bool is_option = format.empty() && byte == '-';
      if (is_escaped || is_option || kRead.find(byte) != kRead.npos) {
        format += fmt::format("\\{:03o}", static_cast<unsigned char>(byte));
      } else {
        format += byte == '%' ? "%%" : std::string(1, byte);
      }
    }
  }
  return "\"$(printf '" + format + "')\"";
}

}  // namespace

std::string shell_word(const std::string& word) {
  if (is_plain(word)) {
    return word;
  }
  if (!is_hidden(word)) {
    return in_quotes(word);
  }
  // Shells strip line feeds from the end of the output of $(…).
  const std::size_t end = word.find_last_not_of('\n') + 1;
  return (end > 0 ? printed(std::string_view(word).substr(0, end)) : std::string()) +
         (end < word.size() ? '\'' + word.substr(end) + '\'' : std::string());
}

std::string typed_word(const std::string& word) {
  constexpr std::string_view kTold = "\"\\$`!";  // to a shell, also between double quotes
  const bool is_simple = word.find_first_of(kTold) == std::string::npos && !is_hidden(word);
  return is_simple && !is_plain(word) ? '"' + word + '"' : shell_word(word);
}

}  // namespace attnviz::app
