#include "attnviz/formats/json_scanner.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <charconv>

#include "attnviz/core/choices.h"
#include "attnviz/core/error.h"
#include "attnviz/core/file_kind.h"
#include "attnviz/core/float16.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/formats/json_numbers.h"

namespace attnviz {

namespace {

bool is_part_of_number(char c) noexcept {
  return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

}  // namespace

JsonScanner::JsonScanner(std::string_view bytes, std::string_view name)
    : bytes_(bytes), name_(name) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (bytes_.starts_with(kByteOrderMark)) {
    bytes_.remove_prefix(kByteOrderMark.size());
  }
}

void JsonScanner::expect(char c) {
  if (!take(c)) {
    fail(fmt::format("a {}", c));
  }
}

bool JsonScanner::next_item(char closing, bool& is_first) {
  if (take(closing)) {
    return false;
  }
  if (!is_first) {
    if (!take(',')) {
      fail(fmt::format("a comma or a {}", closing));
    }
  }
  is_first = false;
  return true;
}

std::string_view JsonScanner::string() {
  if (!take('"')) {
    fail("a string");
  }
  const std::size_t begin = at_;
  skip_plain();
  const std::string_view text = bytes_.substr(begin, at_ - begin);
  if (at_ < bytes_.size() && bytes_[at_] == '\\') {
    return unescaped(begin);
  }
  if (at_ == bytes_.size() || bytes_[at_] != '"') {
    fail("a string that ends, without control characters");
  }
  ++at_;
  return text;
}

// Goes on to the next quote, backslash or control character.
void JsonScanner::skip_plain() noexcept {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHigh = 0x8080808080808080;
  // The high bit of each byte that is 0 (and of some above one that is).
  const auto zeros = [](std::uint64_t x) { return (x - kOnes) & ~x & kHigh; };
  for (; bytes_.size() - at_ >= sizeof kOnes; at_ += sizeof kOnes) {
    const auto eight = load_number<std::uint64_t>(bytes_.data() + at_);
    const std::uint64_t below_space = (eight - 0x20 * kOnes) & ~eight & kHigh;
    const std::uint64_t ends =
        zeros(eight ^ ('"' * kOnes)) | zeros(eight ^ ('\\' * kOnes)) | below_space;
    if (ends != 0) {
      at_ += static_cast<std::size_t>(std::countr_zero(ends)) / 8;
      return;
    }
  }
  while (at_ < bytes_.size() && bytes_[at_] != '"' && bytes_[at_] != '\\' &&
         static_cast<unsigned char>(bytes_[at_]) >= 0x20) {
    ++at_;
  }
}

char32_t JsonScanner::hex4() {
  std::uint32_t value = 0;
  const std::string_view digits = bytes_.substr(at_, 4);
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (error != std::errc() || end != digits.data() + 4) {
    fail("four hexadecimal digits");
  }
  at_ += 4;
  return value;
}

// The same for a string with escapes.
std::string_view JsonScanner::unescaped(std::size_t begin) {
  std::string& text = decoded_.emplace_back();
  for (at_ = begin; at_ < bytes_.size() && bytes_[at_] != '"';) {
    if (static_cast<unsigned char>(bytes_[at_]) < 0x20) {
      fail("a string without control characters");
    }
    if (bytes_[at_] != '\\') {
      text += bytes_[at_++];
      continue;
    }
    constexpr std::string_view kNames = "\"\\/bfnrtu";
    constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
    ++at_;
    const std::size_t which =
        at_ < bytes_.size() ? kNames.find(bytes_[at_]) : std::string_view::npos;
    if (which == std::string_view::npos) {
      fail("an escape sequence");
    }
    ++at_;
    if (which < kValues.size()) {
      text += kValues[which];
      continue;
    }
    char32_t point = hex4();
    if (point >= 0xD800 && point < 0xDC00 && bytes_.substr(at_, 2) == "\\u") {
      at_ += 2;
      const char32_t low = hex4();
      point = low >= 0xDC00 && low < 0xE000 ? 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00)
                                            : 0xD800;
    }
    if (point >= 0xD800 && point < 0xE000) {
      fail("a pair of surrogates");
    }
    append_utf8(text, point);
  }
  expect('"');
  return text;
}

std::string_view JsonScanner::key() {
  const std::string_view name = string();
  expect(':');
  return name;
}

std::uint32_t JsonScanner::whole_number() {
  peek();
  std::uint64_t number = 0;
  std::size_t end = at_;
  for (; end < bytes_.size() && bytes_[end] >= '0' && bytes_[end] <= '9' && number <= UINT32_MAX;
       ++end) {
    number = 10 * number + static_cast<std::uint64_t>(bytes_[end] - '0');
  }
  if (end == at_ || number > UINT32_MAX ||
      (end < bytes_.size() && is_part_of_number(bytes_[end]))) {
    fail("a whole number below 2^32");
  }
  at_ = end;
  return static_cast<std::uint32_t>(number);
}

double JsonScanner::number() {
  peek();
  std::size_t end = at_;
  while (end < bytes_.size() && is_part_of_number(bytes_[end])) {
    ++end;
  }
  const auto number = parse_number<double>(bytes_.substr(at_, end - at_));
  if (!number) {
    fail("a number");
  }
  at_ = end;
  return *number;
}

void JsonScanner::skip_string() {
  ++at_;
  for (skip_plain(); at_ < bytes_.size() && bytes_[at_] != '"'; skip_plain()) {
    at_ = std::min(bytes_.size(), at_ + (bytes_[at_] == '\\' ? 2u : 1u));
  }
  if (at_ >= bytes_.size()) {
    at_ = bytes_.size();
    fail("the end of a string");
  }
  ++at_;
}

std::string_view JsonScanner::raw_value() {
  const char first = peek();
  const std::size_t begin = at_;
  if (first == '"') {
    skip_string();
    return bytes_.substr(begin, at_ - begin);
  }
  std::size_t depth = 0;
  for (; at_ < bytes_.size(); ++at_) {
    const char c = bytes_[at_];
    if (c == '"') {
      skip_string();
      --at_;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (depth == 0 && (c == ',' || c == '}' || c == ']' || c == ':')) {
      break;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  if (depth > 0 || at_ == begin) {
    fail("a value");
  }
  return bytes_.substr(begin, at_ - begin);
}

void JsonScanner::fail(std::string_view expected) {
  refuse_other_kind(bytes_, name_, FileKind::kOllamaManifest);
  peek();
  const std::size_t at = std::min(at_, bytes_.size());
  const std::string found = at == bytes_.size()
                                ? std::string("the end of the file")
                                : attnviz::quoted(valid_utf8(bytes_.substr(at, 12)));
  throw Error(ErrorKind::kMalformed,
              fmt::format("{}: {}: expected {}, found {}", name_,
                          line_and_column(bytes_, at == bytes_.size() && at > 0 ? at - 1 : at),
                          expected, found));
}

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
