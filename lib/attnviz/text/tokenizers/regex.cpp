#include "attnviz/text/tokenizers/regex.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/text/tokenizers/split_patterns.h"

namespace attnviz {

namespace {

// Of one match. A run of white space takes a few for each of its characters, hence more for longer
// texts.
std::uint32_t most_retries(std::size_t n_bytes) {
  constexpr std::size_t kLeast = 1'000'000;
  constexpr std::size_t kPerByte = 8;
  return static_cast<std::uint32_t>(
      std::clamp<std::size_t>(kPerByte * n_bytes, kLeast, UINT32_MAX));
}

// What a match takes, however few characters are tried: a call and a place in a list.
constexpr std::uint64_t kStepsOfMatch = 96;

}  // namespace

Regex::Regex(std::shared_ptr<const RegexCode> code, std::string name)
    : code_(std::move(code)), name_(std::move(name)) {}

Regex::Regex(std::string_view pattern, std::string_view where)
    : Regex(is_split_pattern(pattern) ? compile_pcre2(pattern) : compile_oniguruma(pattern, where),
            fmt::format("{}the pattern {}", where, quoted(pattern))) {}

std::vector<ByteRange> Regex::find_all(std::string_view text) const {
  return RegexSearch(*this, text.size()).find_all(text);
}

RegexSearch::RegexSearch(const Regex& regex, std::size_t n_bytes, StageSteps* shared)
    : regex_(regex), all_steps_(shared != nullptr ? *shared : own_steps_) {
  own_steps_.allow_for(n_bytes);
  n_given_ = all_steps_.n_left();
  steps_ = std::make_unique<RegexSteps>(n_given_, most_retries(n_bytes));
  matcher_ = regex.code_->matcher(*steps_);
}

RegexSearch::~RegexSearch() {
  all_steps_.take(n_given_ - steps_->n_left());
}

void RegexSearch::fail_too_long(std::string_view text) const {
  throw Error(ErrorKind::kUnsupported, fmt::format("{} takes too many steps in {} of text",
                                                   regex_.name_, counted(text.size(), "byte")));
}

// Matches in valid UTF-8 that begins at `offset` of the whole text.
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
    if (!steps_->take(kStepsOfMatch)) {
      fail_too_long(text);
    }
    // \K may make a match begin anywhere.
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
    i = end + 1;  // past the byte that is no UTF-8
  }
  return matches;
}

}  // namespace attnviz
