#include "attnviz/text/tokenizers/regex.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"

namespace attnviz {

namespace {

class RoundsCount {
 public:
  explicit RoundsCount(std::string_view pattern) : pattern_(pattern) {}

  std::size_t most() {
    for (std::size_t i = 0; i < pattern_.size(); ++i) {
      const char c = pattern_[i];
      if (c == '(') {
        levels_.emplace_back();
      } else if (c == ')') {
        close();
      } else if (c == '{') {
        i = repeat(i);
      } else if (c == '\\') {
        i = escape(i);
      } else if (c != '*' && c != '+' && c != '?') {
        add(1);
      }
    }
    while (levels_.size() > 1) {
      close();
    }
    return levels_.back().all();
  }

 private:
  struct Level {
    std::size_t all() const noexcept { return capped(before + last); }
    std::size_t before = 0;
    std::size_t last = 0;  // what a following repeat applies to
  };

  static std::size_t capped(std::size_t rounds) noexcept {
    return std::min(rounds, kMostRounds + 1);
  }
  void add(std::size_t rounds) { levels_.back() = {levels_.back().all(), rounds}; }

  void close() {
    const std::size_t inside = levels_.back().all();
    if (levels_.size() > 1) {
      levels_.pop_back();
      add(inside);
    } else {
      levels_.back() = {0, inside};  // a comment may have hidden the opening parenthesis
    }
  }

  // Returns where it ends. Anything but {2}, {2,}, {,3} or {2,3} is a character.
  std::size_t repeat(std::size_t begin) {
    const std::size_t end = pattern_.find_first_not_of("0123456789,", begin + 1);
    if (end == std::string_view::npos || pattern_[end] != '}') {
      add(1);
      return begin;
    }
    std::size_t bound = 0;
    std::size_t largest = 1;
    for (const char c : pattern_.substr(begin + 1, end - begin - 1)) {
      bound = c == ',' ? 0 : capped(10 * bound + static_cast<std::size_t>(c - '0'));
      largest = std::max(largest, bound);
    }
    levels_.back().last = capped(levels_.back().last * largest);
    return end;
  }

  // Returns where it ends; \p{L} and \x{4E00} are taken as a whole.
  std::size_t escape(std::size_t begin) {
    add(1);
    const std::string_view name = pattern_.substr(begin + 1, 2);
    std::size_t end = std::string_view::npos;
    if (name == "p{" || name == "P{") {
      end = pattern_.find('}', begin);
    } else if (name == "x{") {
      end = pattern_.find_first_not_of("0123456789abcdefABCDEF", begin + 3);
    }
    return end != std::string_view::npos && pattern_[end] == '}' ? end : begin + 1;
  }

  std::string_view pattern_;
  std::vector<Level> levels_ = std::vector<Level>(1);
};

class PatternReader {
 public:
  PatternReader(std::string_view pattern, std::string_view where)
      : pattern_(pattern), where_(where) {
    while (at_ < pattern_.size()) {
      read_item();
    }
    end_stretch();
  }

  CountedPattern take() && { return {std::move(text_), longest_stretch_, parts_flags_}; }

 private:
  std::string_view rest() const noexcept { return pattern_.substr(at_); }

  [[noreturn]] void refuse(std::string_view what) const {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}expected a regular expression without {}, found {}", where_, what,
                            in_quotes(pattern_)));
  }

  void copy(std::size_t n) {
    text_ += pattern_.substr(at_, n);
    at_ = std::min(at_ + n, pattern_.size());
  }
  void copy_through(char last) {
    const std::size_t end = rest().find(last, 2);
    copy(end == kNowhere ? rest().size() : end + 1);
  }

  void end_stretch() {
    longest_stretch_ = std::max(longest_stretch_, stretch_);
    stretch_ = 0;
  }

  void put_count() {
    read_comments();
    if (lookbehind_) {
      return;
    }
    if (repeat_size() == 0) {
      constexpr std::size_t kMostCounts = 1024;
      if (++n_counts_ > kMostCounts) {
        refuse(fmt::format("more than {} groups, alternatives and repeats", kMostCounts));
      }
      text_ += kCountCallout;
      end_stretch();
    }
  }

  // Comments separate a repeat from the item before it.
  void read_comments() {
    while (rest().starts_with("(?#")) {
      std::size_t end = 3;
      while (end < rest().size() && rest()[end] != ')') {
        end += std::size_t{rest()[end] == '\\' ? 2U : 1U};
      }
      copy(end + 1);
    }
  }

  void read_item() {
    read_comments();
    if (at_ == pattern_.size()) {
      return;
    }
    const char c = pattern_[at_];
    if (c == '(') {
      read_group();
    } else if (c == '|') {
      copy(1);
      put_count();
    } else {
      bool is_long = false;
      if (c == '[') {
        read_class();
      } else if (c == '\\') {
        is_long = rest().starts_with("\\X");  // any number of marks
        refuse_in_lookbehind(is_long);
        read_escape();
      } else if (c == ')') {
        is_long = close_group();
      } else {
        copy(1);
      }
      read_repeats(is_long);
    }
  }

  // Reads repeats after an item that is not a group, or a group that has its own count.
  void read_repeats(bool is_long) {
    std::size_t rounds = 1;
    read_comments();
    for (std::size_t n = repeat_size(); n > 0; n = repeat_size()) {
      const std::string_view repeat = rest().substr(0, n);
      refuse_in_lookbehind(repeat == "*" || repeat == "+" || repeat.ends_with(",}"));
      rounds = std::min(rounds * largest_number(repeat), kMostRounds);
      copy(n);
      read_comments();
      is_long = true;
    }
    stretch_ += rounds;
    if (is_long) {
      put_count();
    }
  }

  // The length of *, +, ? or {2,3}; 0 for other characters.
  std::size_t repeat_size() const {
    if (at_ == pattern_.size() || std::string_view("*+?{").find(pattern_[at_]) == kNowhere) {
      return 0;
    }
    if (pattern_[at_] != '{') {
      return 1;
    }
    const std::size_t end = rest().find_first_not_of("0123456789,", 1);
    return end == kNowhere || rest()[end] != '}' ? 0 : end + 1;
  }

  static std::size_t largest_number(std::string_view repeat) {
    std::size_t largest = 1;
    std::size_t number = 0;
    for (const char c : repeat) {
      number =
          c < '0' || c > '9'
              ? 0
              : std::min<std::size_t>(10 * number + static_cast<std::size_t>(c - '0'), kMostRounds);
      largest = std::max(largest, number);
    }
    return largest;
  }

  // A look-behind cannot contain counts, and so nothing that needs them.
  void refuse_in_lookbehind(bool is_endless) const {
    if (lookbehind_ && is_endless) {
      refuse("an unbounded pattern in a look-behind");
    }
  }

  // Returns whether it was a look-behind.
  bool close_group() {
    copy(1);
    n_open_ -= n_open_ > 0 ? 1 : 0;
    if (!lookbehind_ || n_open_ > lookbehind_->n_open) {
      return false;
    }
    // A look-behind is tried from each position where it may begin.
    const std::size_t rounds =
        RoundsCount(pattern_.substr(lookbehind_->begin, at_ - lookbehind_->begin)).most();
    stretch_ = std::min(stretch_ + rounds * rounds, kLongestStretch);
    lookbehind_.reset();
    return true;
  }

  void read_group() {
    constexpr std::string_view kOpenings[] = {"(?:", "(?=", "(?!", "(?>", "(?<=", "(?<!"};
    const auto* const opening = std::ranges::find_if(
        kOpenings, [&](std::string_view one) { return rest().starts_with(one); });
    if (opening != std::end(kOpenings)) {
      if (opening->starts_with("(?<") && !lookbehind_) {
        lookbehind_ = Lookbehind{at_, n_open_};
      }
      copy(opening->size());
    } else if (rest().starts_with("(?<")) {
      const std::string_view name = rest().substr(0, rest().find('>'));
      if (!names_.insert(name).second) {
        refuse("several groups of one name");  // a reference is compared with each of them
      }
      copy_through('>');
    } else if (rest().starts_with("(?")) {
      // (?i: or (?i), which does not open a group
      const std::size_t end = rest().find_first_not_of("-imDPSW", 2);
      if (end == kNowhere || (rest()[end] != ':' && rest()[end] != ')')) {
        refuse(rest().substr(0, 3));
      }
      const bool opens = rest()[end] == ':';
      copy(end + 1);
      if (!opens) {
        return;
      }
    } else if (rest().starts_with("(*")) {
      refuse("(*");
    } else {
      copy(1);
    }
    ++n_open_;
    put_count();
  }

  void refuse_control() const {
    // \c[ is one character
    if (at_ + 1 < pattern_.size() && std::string_view("cCM").find(pattern_[at_ + 1]) != kNowhere) {
      refuse(rest().substr(0, 2));
    }
  }

  void read_escape() {
    refuse_control();
    const char c = rest().size() > 1 ? rest()[1] : '\0';
    parts_flags_ |= c == 'X' || c == 'y' || c == 'Y';
    if (c == 'y' || c == 'Y') {
      constexpr std::size_t kOfBoundary = 32;  // reads the characters around it, and their classes
      stretch_ += kOfBoundary;
    }
    if (c == 'g') {
      refuse("\\g");  // may call groups many times
    } else if (c == 'k' || (c >= '1' && c <= '9')) {
      if (c != 'k' && rest().size() > 2 && rest()[2] >= '0' && rest()[2] <= '9') {
        refuse(rest().substr(0, 3));  // a group, or a character and a digit
      }
      refuse_in_lookbehind(true);
      text_ += fmt::format("(?:{}", kCountReference);
      if (c == 'k') {
        copy_through(rest().starts_with("\\k'") ? '\'' : '>');
      } else {
        copy(2);
      }
      text_ += ')';
    } else if (rest().size() > 2 && rest()[2] == '{' &&
               std::string_view("pPxo").find(c) != kNowhere) {
      copy_through('}');
    } else {
      copy(2);
    }
  }

  // A ] at the beginning of a class is a character.
  void open_class() {
    copy(rest().starts_with("[^") ? 2 : 1);
    if (rest().starts_with("]")) {
      copy(1);
    }
  }

  void read_class() {
    // Oniguruma 6.9.8 leaves symbols out of these classes; the version used by tokenizers does not.
    constexpr std::pair<std::string_view, std::string_view> kClasses[] = {
        {"[:punct:]", "\\p{P}\\p{S}"}, {"[:^punct:]", "[^\\p{P}\\p{S}]"}};
    open_class();
    for (int depth = 1; depth > 0 && at_ < pattern_.size();) {
      const auto* const found = std::ranges::find_if(
          kClasses, [&](const auto& one) { return rest().starts_with(one.first); });
      if (found != std::end(kClasses)) {
        text_ += found->second;
        at_ += found->first.size();
      } else if (const std::size_t named = named_class(); named > 0) {
        copy(named);
      } else if (pattern_[at_] == '[') {
        open_class();
        ++depth;
      } else if (pattern_[at_] == '\\') {
        refuse_control();
        copy(2);
      } else {
        depth -= pattern_[at_] == ']' ? 1 : 0;
        copy(1);
      }
    }
  }

  // The length of [:alpha:]; 0 if it is not a named class.
  std::size_t named_class() const {
    const std::size_t end = rest().find(']', 1);
    if (!rest().starts_with("[:") || end == kNowhere || end < 3 || rest()[end - 1] != ':') {
      return 0;
    }
    if (rest().substr(2, end - 3).find_first_not_of("^abcdefghijklmnopqrstuvwxyz") != kNowhere) {
      refuse(rest().substr(0, end + 1));  // a character, or a class of them
    }
    return end + 1;
  }

  static constexpr std::size_t kNowhere = std::string_view::npos;

  static constexpr std::size_t kLongestStretch = std::size_t{1} << 32;

  struct Lookbehind {
    std::size_t begin;
    std::size_t n_open;  // groups around it
  };

  std::string_view pattern_;
  std::string_view where_;
  std::optional<Lookbehind> lookbehind_;
  std::set<std::string_view> names_;  // with their opening
  std::size_t n_open_ = 0;            // open groups
  std::string text_;
  std::size_t at_ = 0;
  std::size_t stretch_ = 0;
  std::size_t longest_stretch_ = 0;
  std::size_t n_counts_ = 0;
  bool parts_flags_ = false;
};

}  // namespace

CountedPattern counted_pattern(std::string_view pattern, std::string_view where) {
  return PatternReader(pattern, where).take();
}

std::size_t most_rounds(std::string_view pattern) {
  return RoundsCount(pattern).most();
}

}  // namespace attnviz
