#include "attnviz/text/tokenizers/regex.h"

#include <fmt/core.h>
#include <oniguruma.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <optional>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/text/tokenizers/pre_tokenizers.h"

namespace attnviz {

// A compiled pattern, and how far a match goes between two counts.
struct CompiledRegex {
  CompiledRegex(OnigRegexType* regex, const CountedPattern& counted)
      : code(regex), stretch(counted.stretch), parts_flags(counted.parts_flags) {}
  CompiledRegex(const CompiledRegex&) = delete;
  CompiledRegex& operator=(const CompiledRegex&) = delete;
  ~CompiledRegex() { onig_free(code); }

  OnigRegexType* code;
  std::size_t stretch;
  bool parts_flags;
};

// How far matches have gone, according to the counts in the pattern, and how far they may still go.
class MatchCount {
 public:
  // `stretch` is how far the pattern goes between two counts, and so the weight of each count.
  MatchCount(std::uint64_t n_steps, std::size_t stretch) noexcept
      : n_left_(n_steps), weight_(1 + stretch / kCheapSteps) {}

  void begin() noexcept { begin_ = nullptr; }
  // Returns false if less than `n` is left.
  bool take(std::uint64_t n) noexcept {
    const bool has_enough = n <= n_left_;
    n_left_ -= has_enough ? n : n_left_;
    return has_enough;
  }
  std::uint64_t n_left() const noexcept { return n_left_; }

  // Counts a match that began at `begin` and is now at `at`. Returns false if it went too far.
  bool count(const OnigUChar* begin, const OnigUChar* at, std::size_t n_more) noexcept {
    if (begin != begin_) {
      begin_ = at_ = begin;
    }
    const std::size_t n = weight_ + n_more + static_cast<std::size_t>(std::abs(at - at_));
    at_ = at;
    return take(n);
  }

 private:
  static constexpr std::size_t kCheapSteps = 8;

  std::uint64_t n_left_;
  std::size_t weight_;
  const OnigUChar* begin_ = nullptr;
  const OnigUChar* at_ = nullptr;
};

namespace {

// Patterns of tokenizers have hundreds of bytes; each class of characters takes kilobytes.
constexpr std::size_t kLongestPattern = 1U << 14;
constexpr int kDeepestPattern = 250;
// The cost of a match, regardless of the characters tried: a call and an item in a list.
constexpr std::uint64_t kStepsOfMatch = 96;

// How often one match may go back. A run of white space needs a few times for each character, hence
// more for longer texts.
std::uint32_t most_retries(std::size_t n_bytes) {
  constexpr std::size_t kLeast = 1'000'000;
  constexpr std::size_t kPerByte = 8;
  return static_cast<std::uint32_t>(
      std::clamp<std::size_t>(kPerByte * n_bytes, kLeast, UINT32_MAX));
}

const OnigUChar* bytes_of(const char* text) noexcept {
  return reinterpret_cast<const OnigUChar*>(text);
}

// Whether two regional indicators are separated depends on how many come before them: at each of
// them, Oniguruma goes back over all of those.
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

int count_steps(OnigCalloutArgs* args, void* count, std::size_t n_more) noexcept {
  return static_cast<MatchCount*>(count)->count(onig_get_start_by_callout_args(args),
                                                onig_get_current_by_callout_args(args), n_more)
             ? ONIG_CALLOUT_SUCCESS
             : ONIGERR_RETRY_LIMIT_IN_MATCH_OVER;
}

int count_step(OnigCalloutArgs* args, void* count) {
  return count_steps(args, count, 0);
}

// Counts the longest group, since the reference may mean any of them.
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
  constexpr std::size_t kGroupsAtOnce = 8;  // reading them takes time, too
  return count_steps(
      args, count,
      static_cast<std::size_t>(longest) + static_cast<std::size_t>(n_groups) / kGroupsAtOnce);
}

// The name is between "(*" and ")".
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
                       in_quotes(pattern)));
  }
}

// Counting takes about as long as matching, so patterns that do not need it do without.
CountedPattern counted_where_needed(std::string_view pattern, std::string_view where) {
  if (is_linear_split_pattern(pattern)) {
    return {std::string(pattern)};
  }
  check_size(pattern, where);
  CountedPattern counted = counted_pattern(pattern, where);
  // Long patterns without repeats are counted at their beginning.
  constexpr std::size_t kLongStretch = 256;
  if (counted.stretch > kLongStretch) {
    counted.text.insert(0, kCountCallout);
  }
  return counted;
}

std::shared_ptr<const CompiledRegex> compile(std::string_view pattern, std::string_view where) {
  [[maybe_unused]] static const bool is_ready = [] {
    std::array encodings = {ONIG_ENCODING_UTF8};
    if (onig_initialize(encodings.data(), static_cast<int>(encodings.size())) != ONIG_NORMAL) {
      throw std::bad_alloc();
    }
    onig_set_parse_depth_limit(kDeepestPattern);
    define_callout(kCountCallout, count_step);
    define_callout(kCountReference, count_reference);
    return true;
  }();
  const CountedPattern counted = counted_where_needed(pattern, where);
  OnigRegexType* compiled = nullptr;
  OnigErrorInfo info = {};
  const OnigUChar* const first = bytes_of(counted.text.data());
  const int status = onig_new(&compiled, first, first + counted.text.size(), ONIG_OPTION_NONE,
                              ONIG_ENCODING_UTF8, ONIG_SYNTAX_DEFAULT, &info);
  if (status == ONIGERR_MEMORY) {
    throw std::bad_alloc();
  }
  if (status != ONIG_NORMAL) {
    std::array<OnigUChar, ONIG_MAX_ERROR_MESSAGE_LEN> message{};
    onig_error_code_to_str(message.data(), status, &info);
    throw Error(
        ErrorKind::kUnsupported,
        fmt::format("{}expected a regular expression that Oniguruma understands, found "
                    "{}: {}",
                    where, in_quotes(pattern), reinterpret_cast<const char*>(message.data())));
  }
  return std::make_shared<const CompiledRegex>(compiled, counted);
}

}  // namespace

// One search at a time; the compiled pattern is shared.
class RegexMatcher {
 public:
  enum class Found { kMatch, kNothing, kTooLong };

  RegexMatcher(std::shared_ptr<const CompiledRegex> compiled, std::uint64_t n_steps,
               std::uint32_t n_retries)
      : compiled_(std::move(compiled)),
        n_given_(n_steps),
        count_(n_steps, compiled_->stretch),
        region_(onig_region_new()),
        limits_(onig_new_match_param()) {
    if (region_ == nullptr || limits_ == nullptr) {
      throw std::bad_alloc();
    }
    onig_initialize_match_param(limits_.get());
    onig_set_callout_user_data_of_match_param(limits_.get(), &count_);
    // Positions to go back to, of about 40 bytes each.
    constexpr std::uint32_t kMostStack = 1U << 22;
    onig_set_match_stack_limit_size_of_match_param(limits_.get(), std::min(n_retries, kMostStack));
    onig_set_retry_limit_in_match_of_match_param(limits_.get(), n_retries);
  }

  std::uint64_t n_taken() const noexcept { return n_given_ - count_.n_left(); }

  // Finds the first match in valid UTF-8 that begins at or after `begin`. kTooLong: it took more
  // steps than were left.
  Found match(std::string_view text, std::size_t begin, ByteRange& range) {
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
    if (found == ONIG_MISMATCH) {
      return Found::kNothing;
    }
    if (found < 0 || !count_.take(kStepsOfMatch)) {
      return Found::kTooLong;
    }
    range = {static_cast<std::size_t>(region_->beg[0]), static_cast<std::size_t>(region_->end[0])};
    return Found::kMatch;
  }

 private:
  struct Free {
    void operator()(OnigRegion* region) const noexcept { onig_region_free(region, 1); }
    void operator()(OnigMatchParam* limits) const noexcept { onig_free_match_param(limits); }
  };

  std::shared_ptr<const CompiledRegex> compiled_;
  std::uint64_t n_given_;
  MatchCount count_;
  std::unique_ptr<OnigRegion, Free> region_;
  std::unique_ptr<OnigMatchParam, Free> limits_;
};

Regex::Regex(std::string_view pattern, std::string_view where)
    : compiled_(compile(pattern, where)),
      name_(fmt::format("{}the pattern {}", where, in_quotes(pattern))) {}

std::vector<ByteRange> Regex::find_all(std::string_view text) const {
  return RegexSearch(*this, text.size()).find_all(text);
}

RegexSearch::RegexSearch(const Regex& regex, std::size_t n_bytes, StageSteps* shared)
    : regex_(regex), all_steps_(shared != nullptr ? *shared : own_steps_) {
  own_steps_.allow_for(n_bytes);
  matcher_ =
      std::make_unique<RegexMatcher>(regex.compiled_, all_steps_.n_left(), most_retries(n_bytes));
}

RegexSearch::~RegexSearch() {
  all_steps_.take(matcher_->n_taken());
}

void RegexSearch::fail_too_long(std::string_view text) const {
  throw Error(ErrorKind::kUnsupported, fmt::format("{} takes too many steps in {} of text",
                                                   regex_.name_, counted(text.size(), "byte")));
}

// Finds matches in valid UTF-8 that begins at `offset` of the whole text.
void RegexSearch::find(std::string_view text, std::size_t offset, std::vector<ByteRange>& matches) {
  using Found = RegexMatcher::Found;
  std::optional<std::size_t> last_end;
  for (std::size_t i = 0; i <= text.size();) {
    ByteRange range;
    const Found found = matcher_->match(text, i, range);
    if (found == Found::kTooLong) {
      fail_too_long(text);
    }
    if (found == Found::kNothing) {
      return;
    }
    // With \K, a match may begin anywhere.
    const bool is_new = range.begin >= i && (range.size() > 0 || range.begin != last_end);
    if (is_new && range.begin <= range.end) {
      matches.push_back({offset + range.begin, offset + range.end});
      last_end = i = range.end;
      continue;
    }
    i = std::max(i, range.end);
    if (i == text.size()) {
      return;
    }
    i += decode_utf8(text, i).length;
  }
}

std::vector<ByteRange> RegexSearch::find_all(std::string_view text) {
  std::vector<ByteRange> matches;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = i + valid_utf8_prefix(text.substr(i));
    find(text.substr(i, end - i), i, matches);
    i = end + 1;  // past the invalid byte
  }
  return matches;
}

}  // namespace attnviz
