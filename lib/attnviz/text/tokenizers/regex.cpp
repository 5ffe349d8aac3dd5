#include "attnviz/text/tokenizers/regex.h"

#include <algorithm>
#include <optional>

#include "attnviz/core/utf8.h"
#include "attnviz/text/tokenizers/regex_engine.h"
#include "attnviz/text/tokenizers/split_patterns.h"

namespace attnviz {

Regex::Regex(std::string_view pattern, std::string_view where)
    : code_(is_split_pattern(pattern) ? compile_pcre2(pattern)
                                      : compile_oniguruma(pattern, where)) {}

std::vector<ByteRange> Regex::find_all(std::string_view text) const {
  return RegexSearch(*this, text.size()).find_all(text);
}

// A run of white space takes a few steps for each of its characters, hence more for longer texts.
RegexSearch::RegexSearch(const Regex& regex, std::size_t n_bytes)
    : matcher_(regex.code_->matcher()) {
  constexpr std::size_t kLeast = 1'000'000;
  constexpr std::size_t kStepsPerByte = 8;
  limit_ = static_cast<std::uint32_t>(
      std::clamp<std::size_t>(kStepsPerByte * n_bytes, kLeast, UINT32_MAX));
  matcher_->set_limit(limit_);
}

RegexSearch::~RegexSearch() = default;

// For a match in `text_size` bytes that took too long: says how many characters to pass. Each time
// there are half as many steps. But what counts as one step may read the whole text: when failures
// may have read kMostRead bytes, the next ones pass more and more characters, so that there are
// few.
std::size_t RegexSearch::fail(std::size_t text_size) {
  constexpr std::uint32_t kLeast = 64;
  constexpr std::size_t kMostRead = std::size_t{1} << 26;
  limit_ = std::max(limit_ / 2, kLeast);
  matcher_->set_limit(limit_);
  n_read_ += text_size;
  n_passed_ = std::min(n_read_ <= kMostRead ? 1 : 2 * n_passed_, kMostRead);
  return n_passed_;
}

// Matches in valid UTF-8 that begins at `offset` of the whole text.
void RegexSearch::find(std::string_view text, std::size_t offset, std::vector<ByteRange>& matches) {
  using Found = RegexMatcher::Found;
  // No library tells at which character a match took too long. To pass that one, and no other,
  // characters are tried one by one until it is found again.
  bool one_by_one = false;
  std::optional<std::size_t> last_end;
  for (std::size_t i = 0; i <= text.size();) {
    ByteRange range;
    const Found found = matcher_->match(text, i, one_by_one, range);
    std::size_t n_passed = 1;
    if (found == Found::kMatch) {
      // \K may make a match begin anywhere.
      const bool is_new = range.begin >= i && (range.size() > 0 || range.begin != last_end);
      if (is_new && range.begin <= range.end) {
        matches.push_back({offset + range.begin, offset + range.end});
        last_end = i = range.end;
        continue;
      }
      i = std::max(i, range.end);
    } else if (!one_by_one) {
      if (found == Found::kNothing) {
        return;
      }
      one_by_one = true;
      continue;
    } else if (found == Found::kTooLong) {
      one_by_one = false;
      n_passed = fail(text.size());
    }
    if (i == text.size()) {
      return;
    }
    for (; n_passed > 0 && i < text.size(); --n_passed) {
      i += decode_utf8(text, i).length;
    }
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
