#include "attnviz/formats/json_syntax_error.h"

#include <fmt/core.h>

#include <algorithm>

#include "attnviz/core/utf8.h"
#include "attnviz/formats/json_number_reader.h"

namespace attnviz {

namespace {

constexpr std::string_view kSpace = " \t\r\n";
constexpr std::size_t kLongestQuote = 24;  // columns of input that a message repeats

bool is_space(char c) noexcept {
  return kSpace.find(c) != std::string_view::npos;
}

bool is_punctuation(char c) noexcept {
  return std::string_view("[]{},:").find(c) != std::string_view::npos;
}

struct Lexeme {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// The token that begins at `begin`: a bracket, comma or colon, a string, or a word up to any of
// those.
Lexeme lexeme_at(std::string_view bytes, std::size_t begin) noexcept {
  std::size_t end = begin + 1;
  if (bytes[begin] == '"') {
    while (end < bytes.size() && bytes[end] != '"') {
      end += bytes[end] == '\\' ? std::size_t{2} : std::size_t{1};
    }
    return {begin, std::min(end + 1, bytes.size() + 1)};  // past the end: never closed
  }
  if (!is_punctuation(bytes[begin])) {
    while (end < bytes.size() && !is_space(bytes[end]) && !is_punctuation(bytes[end]) &&
           bytes[end] != '"') {
      ++end;
    }
  }
  return {begin, end};
}

bool is_broken_word(std::string_view bytes, Lexeme lexeme) noexcept {
  const std::string_view text = bytes.substr(lexeme.begin, lexeme.end - lexeme.begin);
  return text != "true" && text != "false" && text != "null" && !text.starts_with('"') &&
         !is_punctuation(text.front()) && !is_json_number(text);
}

// What the parser choked on: the last token that begins before `end`, or a word that is none and
// that it had to read past to know so. A parser's own last token may be only the word's beginning.
Lexeme offending_lexeme(std::string_view bytes, std::size_t end) noexcept {
  Lexeme last;
  for (std::size_t i = 0; i < std::min(end, bytes.size());) {
    if (is_space(bytes[i])) {
      ++i;
      continue;
    }
    const Lexeme next = lexeme_at(bytes, i);
    if (last.end > 0 && is_broken_word(bytes, last)) {
      return last;
    }
    last = next;
    i = next.end;
  }
  return last;
}

// What the grammar asks for behind the last byte of `before`.
std::string_view expected(std::string_view before, const JsonSyntaxError& error) {
  const std::size_t last = before.find_last_not_of(kSpace);
  const char previous = last == std::string_view::npos ? '\0' : before[last];
  if (error.after_key) {
    return previous == ':' ? "a value" : "a colon (:)";
  }
  if (error.in_object) {
    return previous == '{' || previous == ',' ? "a key in double quotes" : "a comma or }";
  }
  if (error.in_array) {
    return previous == '[' || previous == ',' ? "a value" : "a comma or ]";
  }
  return previous == '\0' ? "a value" : "the end of the file";
}

// A string with a byte that may not stand in it.
std::string describe_broken_string(std::string_view bytes, std::size_t at) {
  const auto byte = static_cast<unsigned char>(bytes[at]);
  const std::string place = line_and_column(bytes, at);
  if (byte == '\n' || byte == '\r') {
    return fmt::format("{}: expected a closing quote before the end of the line", place);
  }
  if (byte < 0x20) {
    return fmt::format("{}: expected \\u{:04X} in place of the control character", place, byte);
  }
  return fmt::format("{}: expected an escape such as \\n, \\\" or \\u00E9, found {}", place,
                     printable(bytes.substr(at, 1)));
}

}  // namespace

std::string line_and_column(std::string_view bytes, std::size_t offset) {
  const std::string_view before = bytes.substr(0, offset);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::size_t line_begin = before.find_last_of('\n') + 1;  // npos + 1 == 0
  std::size_t column = 1;
  for (std::size_t i = line_begin; i < offset; i += decode_utf8(bytes, i).length) {
    ++column;
  }
  return fmt::format("line {}, column {}", lines + 1, column);
}

std::string describe_syntax_error(std::string_view bytes, const JsonSyntaxError& error) {
  const Lexeme lexeme = offending_lexeme(bytes, error.end);
  const bool is_string = bytes[lexeme.begin] == '"';
  if (error.end > bytes.size()) {
    const bool in_string = is_string && lexeme.end > bytes.size();
    const bool in_word = is_broken_word(bytes, lexeme);
    return fmt::format(
        "{}: the file ends too early: expected {}", line_and_column(bytes, bytes.size()),
        in_string ? "a closing quote"
                  : expected(in_word ? bytes.substr(0, lexeme.begin) : bytes, error));
  }
  if (is_string && error.end < lexeme.end) {
    return describe_broken_string(bytes, error.end - 1);
  }
  const std::string place = line_and_column(bytes, lexeme.begin);
  const std::string found = fit_width(
      printable(bytes.substr(lexeme.begin, std::min(lexeme.end - lexeme.begin, kLongestQuote * 4))),
      kLongestQuote);
  if (error.is_number_overflow) {
    return fmt::format("{}: expected a number that fits a 32-bit float (up to 3.4e38), found {}",
                       place, found);
  }
  return fmt::format("{}: expected {}, found {}", place,
                     expected(bytes.substr(0, lexeme.begin), error), found);
}

}  // namespace attnviz
