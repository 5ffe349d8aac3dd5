// Reads JSON (RFC 8259) from front to back without keeping it: for callers that build values of
// their own, and for vocabularies, for which a tree is too slow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/tensor.h"

namespace attnviz {

/// Reads values, commas and brackets one by one. Every function skips white space first, and throws
/// Error{kMalformed} `file: line 3, column 7: expected …, found …` if it finds something else.
/// Lines and columns count from 1; columns count characters.
class JsonReader {
 public:
  /// The bytes must outlive the reader; a byte order mark is skipped. Every message begins with
  /// `name` and ends with the result of `ending`.
  JsonReader(std::string_view bytes, std::string_view name,
             std::function<std::string()> ending = {});

  /// The next byte that is not white space; NUL at the end.
  char peek() noexcept {
    while (at_ < bytes_.size() && is_white(bytes_[at_])) {
      ++at_;
    }
    return at_ < bytes_.size() ? bytes_[at_] : '\0';
  }
  /// The bytes not yet read.
  std::string_view rest() const noexcept { return bytes_.substr(at_); }
  /// Skips `n` bytes that were read elsewhere.
  void skip(std::size_t n) noexcept { at_ += n; }
  /// Takes the next byte if it is `c`.
  bool take(char c) noexcept {
    if (peek() != c || at_ == bytes_.size()) {
      return false;
    }
    ++at_;
    return true;
  }
  void expect(char c);
  void expect_end();
  /// Between the members of an object or a list: returns true when another follows, false after
  /// taking the `closing` bracket.
  bool next_item(char closing, bool& is_first);

  /// A string, decoded; valid as long as the reader and its bytes, or until forget_strings(). It
  /// need not be UTF-8.
  std::string_view string();
  /// A member's name and the colon.
  std::string_view key();
  void forget_strings() noexcept { decoded_.clear(); }
  std::uint32_t whole_number();
  double number();
  /// A number, true, false or null, as written.
  std::string_view plain_value();
  /// Any value, as written. Checks only brackets and strings.
  std::string_view raw_value();

  /// Throws an error that names `expected` and the text found at this position.
  [[noreturn]] void fail(std::string_view expected);
  /// As above, for a value that has been read.
  [[noreturn]] void fail_at(std::string_view value, std::string_view expected);

 private:
  static bool is_white(char c) noexcept { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
  std::string_view quoted_string(std::string_view expected);
  void skip_plain() noexcept;
  void skip_string();
  std::string_view unescaped(std::size_t begin);
  char32_t hex4();
  [[noreturn]] void fail_in_string();
  [[noreturn]] void fail_escape(std::string_view expected);
  [[noreturn]] void throw_at(std::size_t offset, std::string_view problem) const;

  std::string_view bytes_;
  std::string name_;
  std::function<std::string()> ending_;
  std::size_t at_ = 0;
  std::deque<std::string> decoded_;  // decoded strings with escapes; a deque does not move them
};

/// The position of the byte at `offset`: "line 3, column 17".
std::string line_and_column(std::string_view bytes, std::size_t offset);

// Rows of numbers as JSON text, for a JsonWriter or prepared beside it; and reading lists of
// numbers from JSON text.

/// Appends `number` as JsonWriter::value writes it.
void append_json_number(std::string& out, float number);

/// Appends `a, b, c`: the part that JsonWriter::values writes between its brackets.
void append_json_items(std::string& out, std::span<const float> numbers);

/// Appends `[a, b, c]`, as JsonWriter::values writes it.
void append_json_values(std::string& out, std::span<const float> numbers);

/// Appends a row to others: `[a, b]` to an empty string and `, [a, b]` to any other. The result is
/// the rows of a matrix without its outer brackets, as JsonWriter::raw_items takes them. Threads
/// may prepare rows in parallel.
void append_json_row(std::string& out, std::span<const float> row);

/// Whether `text` is one number: RFC 8259, section 6.
bool is_json_number(std::string_view text) noexcept;

/// Appends the numbers at the beginning of `text`, which follows a list's opening bracket, and
/// returns where it stopped: before the closing bracket, or before a value that the caller must
/// read. It never stops between a comma and a bracket. So the rest, after an opening bracket, is
/// valid or invalid exactly as `text` is, for the same reason.
///
/// Reads numbers by the grammar of RFC 8259, section 6, rounded to the nearest float, and leaves
/// those that are too large or too small for one. If `n_nulls` is given, it also reads null and
/// -Infinity, both as minus infinity, and adds their number to it.
std::size_t read_json_numbers(std::string_view text, std::vector<float>& numbers,
                              std::size_t* n_nulls = nullptr);

}  // namespace attnviz
