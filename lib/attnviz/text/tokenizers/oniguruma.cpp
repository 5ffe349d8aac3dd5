// Patterns as tokenizer.json means them.
#include <fmt/core.h>
#include <oniguruma.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/text/tokenizers/regex_engine.h"

namespace attnviz {

namespace {

// Patterns of tokenizers have hundreds of bytes; each class of characters takes kilobytes.
constexpr std::size_t kLongestPattern = 1U << 14;
constexpr int kDeepestPattern = 250;
// Oniguruma counts how often it goes back, not how often it goes round: no more than this.
constexpr std::size_t kMostRounds = 1U << 16;

const OnigUChar* bytes_of(const char* text) noexcept {
  return reinterpret_cast<const OnigUChar*>(text);
}

struct FreeOniguruma {
  void operator()(OnigRegion* region) const noexcept { onig_region_free(region, 1); }
  void operator()(OnigMatchParam* limits) const noexcept { onig_free_match_param(limits); }
  void operator()(OnigRegexType* compiled) const noexcept { onig_free(compiled); }
};

class OnigurumaMatcher : public RegexMatcher {
 public:
  explicit OnigurumaMatcher(std::shared_ptr<OnigRegexType> compiled)
      : compiled_(std::move(compiled)),
        region_(onig_region_new()),
        limits_(onig_new_match_param()) {
    if (region_ == nullptr || limits_ == nullptr) {
      throw std::bad_alloc();
    }
    onig_initialize_match_param(limits_.get());
  }

  void set_limit(std::uint32_t n_steps) noexcept override {
    // Places to go back to, of some 40 bytes each.
    constexpr std::uint32_t kMostStack = 1U << 22;
    constexpr std::uint32_t kLeastStack = 1U << 10;
    onig_set_match_stack_limit_size_of_match_param(limits_.get(),
                                                   std::clamp(n_steps, kLeastStack, kMostStack));
    onig_set_retry_limit_in_match_of_match_param(limits_.get(), n_steps);
  }

  Found match(std::string_view text, std::size_t begin, bool anchored, ByteRange& range) override {
    const OnigUChar* const first = bytes_of(text.data());
    const OnigUChar* const end = first + text.size();
    const int found = anchored
                          ? onig_match_with_param(compiled_.get(), first, end, first + begin,
                                                  region_.get(), ONIG_OPTION_NONE, limits_.get())
                          : onig_search_with_param(compiled_.get(), first, end, first + begin, end,
                                                   region_.get(), ONIG_OPTION_NONE, limits_.get());
    if (found == ONIGERR_MEMORY) {
      throw std::bad_alloc();
    }
    if (found < 0) {
      return found == ONIG_MISMATCH ? Found::kNothing : Found::kTooLong;
    }
    range = {static_cast<std::size_t>(region_->beg[0]), static_cast<std::size_t>(region_->end[0])};
    return Found::kMatch;
  }

 private:
  std::shared_ptr<OnigRegexType> compiled_;
  std::unique_ptr<OnigRegion, FreeOniguruma> region_;
  std::unique_ptr<OnigMatchParam, FreeOniguruma> limits_;
};

// Oniguruma 6.9.8 leaves symbols out of this class, those that tokenizers are built with do not.
std::string with_symbols(std::string_view pattern) {
  constexpr std::pair<std::string_view, std::string_view> kClasses[] = {
      {"[:punct:]", "\\p{P}\\p{S}"}, {"[:^punct:]", "[^\\p{P}\\p{S}]"}};
  std::string out;
  int depth = 0;  // of classes
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const auto* const found = std::ranges::find_if(kClasses, [&](const auto& one) {
      return depth > 0 && pattern.substr(i).starts_with(one.first);
    });
    if (found != std::end(kClasses)) {
      out += found->second;
      i += found->first.size() - 1;
      continue;
    }
    depth += pattern[i] == '[' ? 1 : pattern[i] == ']' && depth > 0 ? -1 : 0;
    out += pattern[i];
    if (pattern[i] == '\\' && i + 1 < pattern.size()) {
      out += pattern[++i];
    }
  }
  return out;
}

// How often a pattern goes round at one place of a text at most: what stands in a row adds up, a
// bounded repeat multiplies what it repeats; * and + go round as often as the text is long, which
// is counted. Never less: what only looks like a repeat or a group makes it more.
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
    std::size_t last = 0;  // what a repeat would repeat
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
      levels_.back() = {0, inside};  // whatever a comment hid
    }
  }

  // Returns where it ends; what is no {2}, {2,}, {,3} or {2,3} is a character.
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

  // Returns where it ends: of \p{L} and \x{4E00} it is the whole.
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

void check_size(std::string_view pattern, std::string_view where) {
  const auto refuse = [&](std::string_view what) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}expected a regular expression {}", where, what));
  };
  if (pattern.size() > kLongestPattern) {
    refuse(fmt::format("of at most {} bytes, found {}", kLongestPattern, pattern.size()));
  }
  if (pattern.find("\\g") != std::string_view::npos) {
    refuse(fmt::format("without \\g, found {}", quoted(pattern)));  // a call of groups, many times
  }
  if (RoundsCount(pattern).most() > kMostRounds) {
    refuse(fmt::format("whose repeats make at most {} rounds, found {}", kMostRounds,
                       quoted(pattern)));
  }
}

}  // namespace

std::shared_ptr<const RegexCode> compile_oniguruma(std::string_view pattern,
                                                   std::string_view where) {
  static std::once_flag is_ready;
  std::call_once(is_ready, [] {
    std::array encodings = {ONIG_ENCODING_UTF8};
    onig_initialize(encodings.data(), static_cast<int>(encodings.size()));
    onig_set_parse_depth_limit(kDeepestPattern);
  });
  check_size(pattern, where);
  OnigRegexType* compiled = nullptr;
  OnigErrorInfo info = {};
  const std::string meant = with_symbols(pattern);
  const OnigUChar* const first = bytes_of(meant.data());
  const int status = onig_new(&compiled, first, first + meant.size(), ONIG_OPTION_NONE,
                              ONIG_ENCODING_UTF8, ONIG_SYNTAX_DEFAULT, &info);
  if (status == ONIGERR_MEMORY) {
    throw std::bad_alloc();
  }
  if (status != ONIG_NORMAL) {
    std::array<OnigUChar, ONIG_MAX_ERROR_MESSAGE_LEN> message{};
    onig_error_code_to_str(message.data(), status, &info);
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}expected a regular expression that Oniguruma understands, found "
                            "{}: {}",
                            where, quoted(pattern), reinterpret_cast<const char*>(message.data())));
  }
  return std::make_shared<const CompiledRegex<OnigRegexType, OnigurumaMatcher>>(
      std::shared_ptr<OnigRegexType>(compiled, FreeOniguruma()));
}

}  // namespace attnviz
