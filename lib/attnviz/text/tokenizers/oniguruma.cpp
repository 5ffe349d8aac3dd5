// Patterns as tokenizer.json means them.
#include <fmt/core.h>
#include <oniguruma.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/text/tokenizers/counted_pattern.h"
#include "attnviz/text/tokenizers/regex.h"

namespace attnviz {

namespace {

// Patterns of tokenizers have hundreds of bytes; each class of characters takes kilobytes.
constexpr std::size_t kLongestPattern = 1U << 14;
constexpr int kDeepestPattern = 250;

const OnigUChar* bytes_of(const char* text) noexcept {
  return reinterpret_cast<const OnigUChar*>(text);
}

// Whether two regional indicators are parted depends on how many stand before them: Oniguruma goes
// back over all of those, at each of them.
std::uint64_t steps_over_flags(std::string_view text) noexcept {
  constexpr std::string_view kFirstBytes = "\xF0\x9F\x87";
  std::uint64_t steps = 0;
  for (std::size_t i = text.find(kFirstBytes); i < text.size(); i = text.find(kFirstBytes, i)) {
    std::uint64_t n = 0;
    for (; text.substr(i).starts_with(kFirstBytes); i += kFirstBytes.size() + 1) {
      steps += n++;
    }
  }
  return steps;
}

// How far matches went, as the counts in the pattern tell.
class MatchCount {
 public:
  // Of a place that is counted: what stands in the pattern between two of them goes that far.
  MatchCount(RegexSteps& steps, std::size_t stretch) noexcept
      : steps_(steps), weight_(1 + stretch / kCheapSteps) {}

  void begin() noexcept { begin_ = nullptr; }
  bool take(std::uint64_t n) noexcept { return steps_.take(n); }

  // Of a match that began at `begin` and is now at `at`. False when it went too far.
  bool count(const OnigUChar* begin, const OnigUChar* at, std::size_t n_more) noexcept {
    if (begin != begin_) {
      begin_ = at_ = begin;
    }
    const std::size_t n = weight_ + n_more + static_cast<std::size_t>(std::abs(at - at_));
    at_ = at;
    return steps_.take(n);
  }

 private:
  static constexpr std::size_t kCheapSteps = 8;

  RegexSteps& steps_;
  std::size_t weight_;
  const OnigUChar* begin_ = nullptr;
  const OnigUChar* at_ = nullptr;
};

int count_steps(OnigCalloutArgs* args, void* count, std::size_t n_more) noexcept {
  return static_cast<MatchCount*>(count)->count(onig_get_start_by_callout_args(args),
                                                onig_get_current_by_callout_args(args), n_more)
             ? ONIG_CALLOUT_SUCCESS
             : ONIGERR_RETRY_LIMIT_IN_MATCH_OVER;
}

int count_step(OnigCalloutArgs* args, void* count) {
  return count_steps(args, count, 0);
}

// Whichever group is meant, it is no longer than the longest.
int count_reference(OnigCalloutArgs* args, void* count) {
  int longest = 0;
  const int n_groups = onig_number_of_captures(onig_get_regex_by_callout_args(args));
  for (int group = 1; group <= n_groups; ++group) {
    int begin = 0;
    int end = 0;
    if (onig_get_capture_range_in_callout(args, group, &begin, &end) == ONIG_NORMAL) {
      longest = std::max(longest, end - begin);
    }
  }
  constexpr std::size_t kGroupsAtOnce = 8;  // looking at them takes time, too
  return count_steps(
      args, count,
      static_cast<std::size_t>(longest) + static_cast<std::size_t>(n_groups) / kGroupsAtOnce);
}

// Between "(*" and ")".
void define_callout(std::string_view item, OnigCalloutFunc function) {
  std::string name(item.substr(2, item.size() - 3));
  auto* const first = reinterpret_cast<OnigUChar*>(name.data());
  const int status = onig_set_callout_of_name(ONIG_ENCODING_UTF8, ONIG_CALLOUT_TYPE_SINGLE, first,
                                              first + name.size(), ONIG_CALLOUT_IN_PROGRESS,
                                              function, nullptr, 0, nullptr, 0, nullptr);
  if (status == ONIGERR_MEMORY) {
    throw std::bad_alloc();
  }
  if (status < 0) {
    throw Error(ErrorKind::kUnsupported, "expected an Oniguruma that is built with callouts");
  }
}

// What is compiled, and how far it goes between two counts.
struct CountedRegex {
  CountedRegex(OnigRegexType* regex, const CountedPattern& counted)
      : code(regex), stretch(counted.stretch), parts_flags(counted.parts_flags) {}
  CountedRegex(const CountedRegex&) = delete;
  CountedRegex& operator=(const CountedRegex&) = delete;
  ~CountedRegex() { onig_free(code); }

  OnigRegexType* code;
  std::size_t stretch;
  bool parts_flags;
};

struct FreeOniguruma {
  void operator()(OnigRegion* region) const noexcept { onig_region_free(region, 1); }
  void operator()(OnigMatchParam* limits) const noexcept { onig_free_match_param(limits); }
};

class OnigurumaMatcher : public RegexMatcher {
 public:
  OnigurumaMatcher(std::shared_ptr<CountedRegex> compiled, RegexSteps& steps)
      : compiled_(std::move(compiled)),
        count_(steps, compiled_->stretch),
        region_(onig_region_new()),
        limits_(onig_new_match_param()) {
    if (region_ == nullptr || limits_ == nullptr) {
      throw std::bad_alloc();
    }
    onig_initialize_match_param(limits_.get());
    onig_set_callout_user_data_of_match_param(limits_.get(), &count_);
    // Places to go back to, of some 40 bytes each.
    constexpr std::uint32_t kMostStack = 1U << 22;
    onig_set_match_stack_limit_size_of_match_param(limits_.get(),
                                                   std::min(steps.n_retries(), kMostStack));
    onig_set_retry_limit_in_match_of_match_param(limits_.get(), steps.n_retries());
  }

  Found match(std::string_view text, std::size_t begin, ByteRange& range) override {
    const OnigUChar* const first = bytes_of(text.data());
    const OnigUChar* const end = first + text.size();
    count_.begin();
    if (compiled_->parts_flags && begin == 0 && !count_.take(steps_over_flags(text))) {
      return Found::kTooLong;
    }
    const int found = onig_search_with_param(compiled_->code, first, end, first + begin, end,
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
  std::shared_ptr<CountedRegex> compiled_;
  MatchCount count_;
  std::unique_ptr<OnigRegion, FreeOniguruma> region_;
  std::unique_ptr<OnigMatchParam, FreeOniguruma> limits_;
};

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

}  // namespace

std::shared_ptr<const RegexCode> compile_oniguruma(std::string_view pattern,
                                                   std::string_view where) {
  [[maybe_unused]] static const bool is_ready = [] {
    std::array encodings = {ONIG_ENCODING_UTF8};
    if (onig_initialize(encodings.data(), static_cast<int>(encodings.size())) != ONIG_NORMAL) {
      throw std::bad_alloc();
    }
    onig_set_parse_depth_limit(kDeepestPattern);
    define_callout(kCount, count_step);
    define_callout(kCountReference, count_reference);
    return true;
  }();
  check_size(pattern, where);
  OnigRegexType* compiled = nullptr;
  OnigErrorInfo info = {};
  CountedPattern counted = counted_pattern(pattern, where);
  // Long patterns without repeats count where they begin.
  constexpr std::size_t kLongStretch = 256;
  if (counted.stretch > kLongStretch) {
    counted.text.insert(0, kCount);
  }
  const OnigUChar* const first = bytes_of(counted.text.data());
  const int status = onig_new(&compiled, first, first + counted.text.size(), ONIG_OPTION_NONE,
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
  return std::make_shared<const CompiledRegex<CountedRegex, OnigurumaMatcher>>(
      std::make_shared<CountedRegex>(compiled, counted));
}

}  // namespace attnviz
