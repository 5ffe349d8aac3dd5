// Reads JSON from front to back without keeping it: for vocabularies, which a tree is too slow for.
// What is wrong at a place where a text stops being JSON, in words a person can act on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace attnviz {

/// Stands before a value, a comma or a bracket. Every function skips white space first, and throws
/// Error{kMalformed} `file: line 3, column 7: expected …, found …` when something else stands
/// there.
class JsonScanner {
 public:
  /// The bytes must outlive the scanner. `name` stands in front of every message.
  JsonScanner(std::string_view bytes, std::string_view name);

  /// The next byte that is no white space; NUL at the end.
  char peek() noexcept {
    while (at_ < bytes_.size() && is_white(bytes_[at_])) {
      ++at_;
    }
    return at_ < bytes_.size() ? bytes_[at_] : '\0';
  }
  /// How many bytes there are yet.
  std::size_t left() const noexcept { return bytes_.size() - at_; }
  /// Takes the next byte when it is `c`.
  bool take(char c) noexcept {
    if (peek() != c || at_ == bytes_.size()) {
      return false;
    }
    ++at_;
    return true;
  }
  void expect(char c);
  /// Between the members of an object or a list: true when another follows, false at the `closing`
  /// bracket, which is taken.
  bool next_item(char closing, bool& is_first);

  /// A string, decoded; valid as long as the scanner and its bytes. It need not be UTF-8.
  std::string_view string();
  /// A member's name and the colon.
  std::string_view key();
  std::uint32_t whole_number();
  double number();
  /// Any value, as it is written. Checks brackets and strings only.
  std::string_view raw_value();
  /// Throws what stands here instead of `expected`.
  [[noreturn]] void fail(std::string_view expected);

 private:
  static bool is_white(char c) noexcept { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
  void skip_plain() noexcept;
  void skip_string();
  std::string_view unescaped(std::size_t begin);
  char32_t hex4();

  std::string_view bytes_;
  std::string name_;
  std::size_t at_ = 0;
  std::deque<std::string> decoded_;  // strings with escapes: does not move them
};

/// Where a parser stood when it gave up.
struct JsonSyntaxError {
  std::size_t end;          // bytes consumed, the offending ones among them; more than there are:
                            // the text ended
  bool in_object;           // the innermost open bracket is {
  bool in_array;            // … is [
  bool after_key;           // a key was read, its value was not
  bool is_number_overflow;  // the last token is a number too large for a float
};

/// "line 3, column 17: expected a value, found NaN". Lines and columns count from 1; columns count
/// characters.
std::string describe_syntax_error(std::string_view bytes, const JsonSyntaxError& error);

/// "line 3, column 17" of the byte at `offset`.
std::string line_and_column(std::string_view bytes, std::size_t offset);

}  // namespace attnviz
