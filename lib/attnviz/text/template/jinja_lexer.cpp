#include "attnviz/text/template/jinja.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <utility>

#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/text/template/budget.h"
#include "attnviz/text/template/python.h"

namespace attnviz::templates {

namespace {

bool is_digit(char one) noexcept {
  return one >= '0' && one <= '9';
}
bool is_name(char one) noexcept {
  return is_digit(one) || one == '_' || (one >= 'a' && one <= 'z') || (one >= 'A' && one <= 'Z') ||
         (static_cast<unsigned char>(one) & 0x80U) != 0;
}

class JinjaLexer {
 public:
  JinjaLexer(std::string_view source, std::string_view where)
      : source_(source), where_(where), end_(source.size() - (source.ends_with('\n') ? 1 : 0)) {}

  std::vector<JinjaToken> read() && {
    while (at_ < end_) {
      const std::size_t begin = tag_from(at_);
      take_text(begin);
      if (begin == end_) {
        break;
      }
      take_tag(begin);
    }
    add(JinjaTokenKind::kEnd, "", end_);
    return std::move(tokens_);
  }

 private:
  [[noreturn]] void fail(std::size_t at, std::string_view message) const {
    fail_at(where_, source_, at, message);
  }

  void add(JinjaTokenKind kind, std::string text, std::size_t at) {
    tokens_.push_back({kind, std::move(text), at});
  }

  bool has(std::size_t at, std::string_view what) const {
    return at + what.size() <= end_ && source_.substr(at, what.size()) == what;
  }

  std::size_t tag_from(std::size_t from) const {
    for (std::size_t at = from; at + 1 < end_; ++at) {
      if (source_[at] == '{' &&
          (source_[at + 1] == '{' || source_[at + 1] == '%' || source_[at + 1] == '#')) {
        return at;
      }
    }
    return end_;
  }

  // Takes the text up to a tag or the end, without the white space that the tag removes.
  void take_text(std::size_t begin) {
    std::string text(source_.substr(at_, begin - at_));
    const char sign = begin + 2 < end_ ? source_[begin + 2] : '\0';
    if (begin < end_ && sign == '-') {
      text.resize(stripped(text, Side::kRight).size());
    } else if (begin < end_ && sign != '+' && source_[begin + 1] != '{') {
      const std::size_t line = text.rfind('\n') + 1;  // 0 without a line feed
      if ((line > 0 || is_line_begin_) &&
          stripped(std::string_view(text).substr(line), Side::kLeft).empty()) {
        text.resize(line);
      }
    }
    if (!text.empty()) {
      add(JinjaTokenKind::kText, std::move(text), at_);
    }
    at_ = begin;
  }

  // After a tag that ends at `at_`: skips the white space that it removes from the following text.
  void finish_tag(bool is_stripping, bool takes_line_feed) {
    if (is_stripping) {
      skip_white();
    } else if (takes_line_feed) {
      at_ += has(at_, "\n") ? 1U : 0U;
    }
    is_line_begin_ = at_ > 0 && source_[at_ - 1] == '\n';
  }

  void take_tag(std::size_t begin) {
    at_ = begin + 2;
    if (source_[begin + 1] == '#') {
      return take_comment(begin);
    }
    const bool is_print = source_[begin + 1] == '{';
    if (at_ < end_ && (source_[at_] == '-' || (source_[at_] == '+' && !is_print))) {
      ++at_;
    }
    if (!is_print && take_raw(begin)) {
      return;
    }
    add(is_print ? JinjaTokenKind::kPrintBegin : JinjaTokenKind::kBlockBegin, "", begin);
    const std::string_view close = is_print ? "}}" : "%}";
    std::vector<char> open;
    for (;;) {
      skip_white();
      if (at_ >= end_) {
        fail(begin, fmt::format("a tag without its end, {}", close));
      }
      if (open.empty()) {
        const bool has_sign = source_[at_] == '-' || (source_[at_] == '+' && !is_print);
        if (has(at_ + (has_sign ? 1 : 0), close)) {
          const bool is_stripping = source_[at_] == '-';
          const bool keeps = source_[at_] == '+';
          add(is_print ? JinjaTokenKind::kPrintEnd : JinjaTokenKind::kBlockEnd, "", at_);
          at_ += (has_sign ? 1 : 0) + close.size();
          return finish_tag(is_stripping, !is_print && !keeps);
        }
      }
      take_expression_token(open);
    }
  }

  void take_comment(std::size_t begin) {
    const std::size_t end = source_.substr(0, end_).find("#}", at_);
    if (end == std::string_view::npos) {
      fail(begin, "a comment without its end, #}");
    }
    const bool is_stripping = end > at_ && source_[end - 1] == '-';
    const bool keeps = end > at_ && source_[end - 1] == '+';
    at_ = end + 2;
    finish_tag(is_stripping, !keeps);
  }

  std::size_t after_white(std::size_t at) const {
    return end_ - stripped(source_.substr(at, end_ - at), Side::kLeft).size();
  }
  void skip_white() { at_ = after_white(at_); }

  // The end of the tag whose name is at `at`; npos if the tag has another name.
  std::size_t end_of_block(std::size_t at, std::string_view name, char& sign) const {
    at = after_white(at);
    if (!has(at, name)) {
      return std::string_view::npos;
    }
    at = after_white(at + name.size());
    sign = at < end_ ? source_[at] : '\0';
    at += sign == '-' || sign == '+' ? 1U : 0U;
    return has(at, "%}") ? at + 2 : std::string_view::npos;
  }

  // {% raw %} … {% endraw %}: the text between, even if it looks like tags.
  bool take_raw(std::size_t begin) {
    char sign = '\0';
    const std::size_t text = end_of_block(at_, "raw", sign);
    if (text == std::string_view::npos || sign == '+') {
      return false;
    }
    at_ = text;
    finish_tag(sign == '-', /*takes_line_feed=*/false);
    for (std::size_t tag = at_; tag < end_; ++tag) {
      if (!has(tag, "{%")) {
        continue;
      }
      const std::size_t name = tag + 2 + (has(tag + 2, "-") || has(tag + 2, "+") ? 1 : 0);
      const std::size_t end = end_of_block(name, "endraw", sign);
      if (end != std::string_view::npos) {
        take_text(tag);
        at_ = end;
        finish_tag(sign == '-', sign != '+');
        return true;
      }
    }
    fail(begin, "raw without its endraw");
  }

  void take_expression_token(std::vector<char>& open) {
    const char one = source_[at_];
    if (one == '\'' || one == '"') {
      return take_string();
    }
    if (is_digit(one)) {
      return take_number();
    }
    if (is_name(one)) {
      const std::size_t begin = at_;
      while (at_ < end_ && is_name(source_[at_]) && after_white(at_) == at_) {
        ++at_;
      }
      return add(JinjaTokenKind::kName, std::string(source_.substr(begin, at_ - begin)), begin);
    }
    constexpr std::array<std::string_view, 6> kPairs = {"==", "!=", ">=", "<=", "//", "**"};
    for (const std::string_view pair : kPairs) {
      if (has(at_, pair)) {
        add(JinjaTokenKind::kOperator, std::string(pair), at_);
        at_ += 2;
        return;
      }
    }
    constexpr std::string_view kSigns = "+-*/%~<>=()[]{}.,:|";
    if (kSigns.find(one) == std::string_view::npos) {
      fail(at_, fmt::format("no expression has {}", in_quotes(std::string_view(&one, 1))));
    }
    if (one == '(' || one == '[' || one == '{') {
      open.push_back(one);
    } else if (one == ')' || one == ']' || one == '}') {
      const char partner = one == ')' ? '(' : one == ']' ? '[' : '{';
      if (open.empty() || open.back() != partner) {
        fail(at_, fmt::format("{} without its beginning", one));
      }
      open.pop_back();
    }
    add(JinjaTokenKind::kOperator, std::string(1, one), at_);
    ++at_;
  }

  void take_number() {
    const std::size_t begin = at_;
    std::string digits;
    bool is_real = false;
    while (at_ < end_ && is_digit(source_[at_])) {
      digits += source_[at_++];
      at_ += at_ + 1 < end_ && source_[at_] == '_' && is_digit(source_[at_ + 1]) ? 1U : 0U;
    }
    if (at_ + 1 < end_ && source_[at_] == '.' && is_digit(source_[at_ + 1])) {
      is_real = true;
      do {
        digits += source_[at_++];
      } while (at_ < end_ && is_digit(source_[at_]));
    }
    if (at_ + 1 < end_ && (source_[at_] == 'e' || source_[at_] == 'E') &&
        (is_digit(source_[at_ + 1]) || source_[at_ + 1] == '-' || source_[at_ + 1] == '+')) {
      is_real = true;
      digits += source_[at_++];
      do {
        digits += source_[at_++];
      } while (at_ < end_ && is_digit(source_[at_]));
    }
    if (!is_real && digits.front() == '0' && digits.find_first_not_of('0') != std::string::npos) {
      fail(begin, "a whole number that begins with 0");
    }
    add(is_real ? JinjaTokenKind::kReal : JinjaTokenKind::kInteger, digits, begin);
  }

  void take_string() {
    const std::size_t begin = at_;
    const char quote = source_[at_++];
    std::string text;
    while (at_ < end_ && source_[at_] != quote) {
      if (source_[at_] == '\\' && at_ + 1 < end_) {
        take_escape(text);
      } else {
        text += source_[at_++];
      }
    }
    if (at_ >= end_) {
      fail(begin, "a text without its end");
    }
    ++at_;
    add(JinjaTokenKind::kString, std::move(text), begin);
  }

  void take_escape(std::string& text) {
    constexpr std::string_view kNames = "ntrabfv'\"\\";
    constexpr std::string_view kMeant = "\n\t\r\a\b\f\v'\"\\";
    const std::size_t begin = at_;
    const char name = source_[at_ + 1];
    at_ += 2;
    if (const std::size_t known = kNames.find(name); known != std::string_view::npos) {
      text += kMeant[known];
      return;
    }
    if (name == 'N') {
      fail(begin, "\\N: an escape by the name of a character is not run");
    }
    const bool is_octal = name >= '0' && name <= '7';
    at_ -= is_octal ? 1 : 0;
    const std::size_t n_digits = is_octal      ? n_octal_digits()
                                 : name == 'x' ? 2
                                 : name == 'u' ? 4
                                 : name == 'U' ? 8
                                               : 0;
    if (n_digits == 0) {  // as in Python
      text += name == '\n' ? "" : fmt::format("\\{}", name);
      return;
    }
    std::uint32_t point = 0;
    const char* const first = source_.data() + at_;
    const char* const last = first + std::min(n_digits, end_ - at_);
    const auto [stop, error] = std::from_chars(first, last, point, is_octal ? 8 : 16);
    constexpr std::uint32_t kMost = 0x10FFFF;
    if (error != std::errc() || stop != first + n_digits || point > kMost ||
        (point >= 0xD800 && point < 0xE000)) {
      fail(begin, "an escape that stands for no character");
    }
    append_utf8(text, static_cast<char32_t>(point));
    at_ += n_digits;
  }

  std::size_t n_octal_digits() const {
    constexpr std::size_t kMost = 3;
    std::size_t count = 0;
    while (count < kMost && at_ + count < end_ && source_[at_ + count] >= '0' &&
           source_[at_ + count] <= '7') {
      ++count;
    }
    return count;
  }

  std::string_view source_;
  std::string_view where_;
  std::size_t end_ = 0;
  std::size_t at_ = 0;
  bool is_line_begin_ = true;
  std::vector<JinjaToken> tokens_;
};

}  // namespace

std::vector<JinjaToken> jinja_tokens(std::string_view source, std::string_view where) {
  return JinjaLexer(source, where).read();
}

}  // namespace attnviz::templates
