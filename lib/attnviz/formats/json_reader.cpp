#include "attnviz/formats/json_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <charconv>

#include "attnviz/core/choices.h"
#include "attnviz/core/error.h"
#include "attnviz/core/file_kind.h"
#include "attnviz/core/message.h"
#include "attnviz/core/stored_matrix.h"
#include "attnviz/core/utf8.h"

namespace attnviz {

namespace {

bool is_part_of_number(char c) noexcept {
  return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

// The token at the beginning of `text`: a bracket, comma or colon, a string, or a word up to any of
// these.
std::string_view first_token(std::string_view text) noexcept {
  constexpr std::string_view kPunctuation = "[]{},:";
  std::size_t end = 1;
  if (text.front() == '"') {
    while (end < text.size() && text[end] != '"') {
      end += text[end] == '\\' ? std::size_t{2} : std::size_t{1};
    }
    return text.substr(0, end + 1);
  }
  if (kPunctuation.find(text.front()) == std::string_view::npos) {
    end = std::min(text.find_first_of(" \t\r\n[]{},:\"", 1), text.size());
  }
  return text.substr(0, end);
}

bool is_plain_value(std::string_view word) noexcept {
  return word == "true" || word == "false" || word == "null" || is_json_number(word);
}

// Whether the word could become a value if the text went on.
bool is_begin_of_value(std::string_view word) {
  return std::string_view("true").starts_with(word) ||
         std::string_view("false").starts_with(word) ||
         std::string_view("null").starts_with(word) || is_json_number(std::string(word) + '0');
}

}  // namespace

JsonReader::JsonReader(std::string_view bytes, std::string_view name,
                       std::function<std::string()> ending)
    : bytes_(bytes), name_(name), ending_(std::move(ending)) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (bytes_.starts_with(kByteOrderMark)) {
    bytes_.remove_prefix(kByteOrderMark.size());
  }
}

void JsonReader::expect(char c) {
  if (!take(c)) {
    fail(c == ',' ? "a comma" : c == ':' ? "a colon (:)" : fmt::format("a {}", c));
  }
}

void JsonReader::expect_end() {
  peek();
  if (at_ < bytes_.size()) {
    fail("the end of the file");
  }
}

bool JsonReader::next_item(char closing, bool& is_first) {
  if (take(closing)) {
    return false;
  }
  if (!is_first && !take(',')) {
    fail(fmt::format("a comma or {}", closing));
  }
  is_first = false;
  return true;
}

std::string_view JsonReader::quoted_string(std::string_view expected) {
  if (!take('"')) {
    fail(expected);
  }
  const std::size_t begin = at_;
  skip_plain();
  if (at_ < bytes_.size() && bytes_[at_] == '\\') {
    return unescaped(begin);
  }
  if (at_ == bytes_.size() || bytes_[at_] != '"') {
    fail_in_string();
  }
  return bytes_.substr(begin, at_++ - begin);
}

std::string_view JsonReader::string() {
  return quoted_string("a string");
}

// Advances to the next quote, backslash or control character.
void JsonReader::skip_plain() noexcept {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHigh = 0x8080808080808080;
  // The high bit of each byte that is 0 (and of some bytes above one).
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

char32_t JsonReader::hex4() {
  std::uint32_t value = 0;
  const std::string_view digits = bytes_.substr(at_, 4);
  const char* const end =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
  at_ += static_cast<std::size_t>(end - digits.data());
  if (end != digits.data() + 4) {
    fail_escape("");
  }
  return value;
}

// As string(), for a string with escapes.
std::string_view JsonReader::unescaped(std::size_t begin) {
  constexpr std::string_view kNames = "\"\\/bfnrtu";
  constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
  std::string& text = decoded_.emplace_back();
  for (at_ = begin; at_ < bytes_.size() && bytes_[at_] != '"';) {
    if (static_cast<unsigned char>(bytes_[at_]) < 0x20) {
      fail_in_string();
    }
    if (bytes_[at_] != '\\') {
      text += bytes_[at_++];
      continue;
    }
    ++at_;
    const std::size_t which =
        at_ < bytes_.size() ? kNames.find(bytes_[at_]) : std::string_view::npos;
    if (which == std::string_view::npos) {
      fail_escape("");
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
      fail_escape(" that makes a pair of surrogates");
    }
    append_utf8(text, point);
  }
  if (at_ == bytes_.size()) {
    fail_in_string();
  }
  ++at_;
  return text;
}

std::string_view JsonReader::key() {
  const std::string_view name = quoted_string("a key in double quotes");
  expect(':');
  return name;
}

std::uint32_t JsonReader::whole_number() {
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

double JsonReader::number() {
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

std::string_view JsonReader::plain_value() {
  peek();
  const std::string_view word = at_ < bytes_.size() ? first_token(rest()) : std::string_view();
  if (word.empty() || !is_plain_value(word)) {
    if (word.size() == rest().size() && is_begin_of_value(word)) {
      at_ = bytes_.size();
    }
    fail("a value");
  }
  at_ += word.size();
  return word;
}

void JsonReader::skip_string() {
  ++at_;
  for (skip_plain(); at_ < bytes_.size() && bytes_[at_] != '"'; skip_plain()) {
    at_ = std::min(bytes_.size(), at_ + (bytes_[at_] == '\\' ? 2u : 1u));
  }
  if (at_ >= bytes_.size()) {
    at_ = bytes_.size();
    fail_in_string();
  }
  ++at_;
}

std::string_view JsonReader::raw_value() {
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

void JsonReader::fail(std::string_view expected) {
  peek();
  if (at_ >= bytes_.size()) {
    throw_at(bytes_.size(), fmt::format("the file ends too early: expected {}", expected));
  }
  fail_at(first_token(rest()), expected);
}

void JsonReader::fail_at(std::string_view value, std::string_view expected) {
  constexpr std::size_t kLongestQuote = 24;  // columns of input quoted in a message
  throw_at(static_cast<std::size_t>(value.data() - bytes_.data()),
           fmt::format("expected {}, found {}", expected,
                       fit_width(printable(value.substr(0, kLongestQuote * 4)), kLongestQuote)));
}

// At the end of an unclosed string, or at a byte that a string must not contain.
void JsonReader::fail_in_string() {
  if (at_ == bytes_.size()) {
    fail("a closing quote");
  }
  if (bytes_[at_] == '\n' || bytes_[at_] == '\r') {
    throw_at(at_, "expected a closing quote before the end of the line");
  }
  throw_at(at_, fmt::format("expected \\u{:04X} instead of the control character",
                            static_cast<unsigned char>(bytes_[at_])));
}

void JsonReader::fail_escape(std::string_view expected) {
  if (at_ == bytes_.size()) {
    fail_in_string();
  }
  throw_at(at_, fmt::format("expected an escape{}, found {}",
                            expected.empty() ? " such as \\n, \\\" or \\u00E9" : expected,
                            printable(bytes_.substr(at_, decode_utf8(bytes_, at_).length))));
}

void JsonReader::throw_at(std::size_t offset, std::string_view problem) const {
  refuse_other_kind(bytes_, name_, FileKind::kOllamaManifest);
  throw Error(ErrorKind::kMalformed,
              fmt::format("{}: {}: {}{}", name_, line_and_column(bytes_, offset), problem,
                          ending_ ? ending_() : std::string()));
}

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

}  // namespace attnviz
