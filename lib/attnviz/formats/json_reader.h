// Reads JSON (RFC 8259) from front to back without keeping it: for what makes values of its own,
// and for vocabularies, which a tree is too slow for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>

namespace attnviz {

/// Stands before a value, a comma or a bracket. Every function skips white space first, and throws
/// Error{kMalformed} `file: line 3, column 7: expected …, found …` when something else stands
/// there. Lines and columns count from 1; columns count characters.
class JsonReader {
 public:
  /// The bytes must outlive the reader; a byte order mark is skipped. Every message begins with
  /// `name` and ends with what `ending` returns.
  JsonReader(std::string_view bytes, std::string_view name,
             std::function<std::string()> ending = {});

  /// The next byte that is no white space; NUL at the end.
  char peek() noexcept {
    while (at_ < bytes_.size() && is_white(bytes_[at_])) {
      ++at_;
    }
    return at_ < bytes_.size() ? bytes_[at_] : '\0';
  }
  /// The bytes that are left.
  std::string_view rest() const noexcept { return bytes_.substr(at_); }
  /// Skips `n` bytes, which were read elsewhere.
  void skip(std::size_t n) noexcept { at_ += n; }
  /// Takes the next byte when it is `c`.
  bool take(char c) noexcept {
    if (peek() != c || at_ == bytes_.size()) {
      return false;
    }
    ++at_;
    return true;
  }
  void expect(char c);
  void expect_end();
  /// Between the members of an object or a list: true when another follows, false at the `closing`
  /// bracket, which is taken.
  bool next_item(char closing, bool& is_first);

  /// A string, decoded; valid as long as the reader and its bytes, or until forget_strings(). It
  /// need not be UTF-8.
  std::string_view string();
  /// A member's name and the colon.
  std::string_view key();
  void forget_strings() noexcept { decoded_.clear(); }
  std::uint32_t whole_number();
  double number();
  /// A number, true, false or null, as it is written.
  std::string_view plain_value();
  /// Any value, as it is written. Checks brackets and strings only.
  std::string_view raw_value();

  /// Throws what stands here instead of `expected`.
  [[noreturn]] void fail(std::string_view expected);
  /// The same for a value that was read.
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
  std::deque<std::string> decoded_;  // strings with escapes: does not move them
};

/// "line 3, column 17" of the byte at `offset`.
std::string line_and_column(std::string_view bytes, std::size_t offset);

}  // namespace attnviz
