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
// Oniguruma counts how often it goes back, not how often it goes round: repeats within repeats may
// multiply to no more than this.
constexpr std::size_t kMostRounds = 1U << 16;

const OnigUChar* bytes_of(const char* text) noexcept {
  return reinterpret_cast<const OnigUChar*>(text);
}

struct Free {
  void operator()(OnigRegion* region) const noexcept { onig_region_free(region, 1); }
  void operator()(OnigMatchParam* limits) const noexcept { onig_free_match_param(limits); }
  void operator()(OnigRegexType* compiled) const noexcept { onig_free(compiled); }
};

using Compiled = std::shared_ptr<OnigRegexType>;

class Matcher : public RegexMatcher {
 public:
  explicit Matcher(Compiled compiled)
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
  Compiled compiled_;
  std::unique_ptr<OnigRegion, Free> region_;
  std::unique_ptr<OnigMatchParam, Free> limits_;
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

// The product of the largest bounds of repeats that lie in one another; * and + go round as often
// as the text is long, which is counted.
std::size_t most_rounds(std::string_view pattern) {
  std::vector<std::size_t> inside = {1};  // by the depth of groups
  std::size_t last = 1;                   // of what a repeat would repeat
  std::size_t most = 1;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\') {
      ++i;
      last = 1;
    } else if (c == '(') {
      inside.push_back(1);
    } else if (c == ')' && inside.size() > 1) {
      last = inside.back();
      inside.pop_back();
    } else if (c == '{') {
      std::size_t bound = 0;
      std::size_t largest = 1;
      for (++i; i < pattern.size() && pattern[i] != '}'; ++i) {
        bound = pattern[i] >= '0' && pattern[i] <= '9'
                    ? std::min<std::size_t>(10 * bound + static_cast<std::size_t>(pattern[i] - '0'),
                                            kMostRounds)
                    : 0;
        largest = std::max(largest, bound);
      }
      last = std::min(last * largest, kMostRounds + 1);
    } else {
      last = 1;
    }
    inside.back() = std::max(inside.back(), last);
    most = std::max(most, inside.back());
  }
  return most;
}

void check_size(std::string_view pattern, std::string_view where) {
  const auto refuse = [&](std::string_view what) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}expected a regular expression {}", where, what));
  };
  if (pattern.size() > kLongestPattern) {
    refuse(fmt::format("of at most {} bytes, found {}", kLongestPattern, pattern.size()));
  }
  if (most_rounds(pattern) > kMostRounds) {
    refuse(fmt::format("whose repeats make at most {} rounds, found {}", kMostRounds,
                       quoted(pattern)));
  }
}

class Code : public RegexCode {
 public:
  explicit Code(OnigRegexType* compiled) : compiled_(compiled, Free()) {}
  std::unique_ptr<RegexMatcher> matcher() const override {
    return std::make_unique<Matcher>(compiled_);
  }

 private:
  Compiled compiled_;
};

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
  return std::make_shared<const Code>(compiled);
}

}  // namespace attnviz
