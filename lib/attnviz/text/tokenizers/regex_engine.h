// What matches a pattern: one of two libraries, behind one door.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "attnviz/text/tokenizers/aligned_text.h"

namespace attnviz {

/// How many steps matches may yet take.
class RegexSteps {
 public:
  /// Of `n_left`, and of a match `n_retries`: how often it may go back.
  RegexSteps(std::uint64_t n_left, std::uint32_t n_retries) noexcept
      : n_left_(n_left), n_retries_(n_retries) {}

  /// False when there are not as many.
  bool take(std::uint64_t n) noexcept {
    const bool has_enough = n <= n_left_;
    n_left_ -= has_enough ? n : n_left_;
    return has_enough;
  }
  std::uint64_t n_left() const noexcept { return n_left_; }
  std::uint32_t n_retries() const noexcept { return n_retries_; }

 private:
  std::uint64_t n_left_;
  std::uint32_t n_retries_;
};

/// One search at a time; the compiled pattern is shared.
class RegexMatcher {
 public:
  enum class Found { kMatch, kNothing, kTooLong };

  RegexMatcher() = default;
  RegexMatcher(const RegexMatcher&) = delete;
  RegexMatcher& operator=(const RegexMatcher&) = delete;
  virtual ~RegexMatcher() = default;

  /// The first match in valid UTF-8 that begins at `begin` or later. Too long: it took more steps
  /// than there were.
  virtual Found match(std::string_view text, std::size_t begin, ByteRange& range) = 0;
};

/// A compiled pattern. Safe to share between threads.
class RegexCode {
 public:
  RegexCode() = default;
  RegexCode(const RegexCode&) = delete;
  RegexCode& operator=(const RegexCode&) = delete;
  virtual ~RegexCode() = default;

  /// `steps` must outlive it.
  virtual std::unique_ptr<RegexMatcher> matcher(RegexSteps& steps) const = 0;
};

/// What a library compiled; `Matcher` is made of it.
template <class Compiled, class Matcher>
class CompiledRegex : public RegexCode {
 public:
  explicit CompiledRegex(std::shared_ptr<Compiled> compiled) : compiled_(std::move(compiled)) {}
  std::unique_ptr<RegexMatcher> matcher(RegexSteps& steps) const override {
    return std::make_unique<Matcher>(compiled_, steps);
  }

 private:
  std::shared_ptr<Compiled> compiled_;
};

/// In Oniguruma's syntax and with its meaning, which are those of tokenizer.json.
/// Throws Error{kUnsupported}, with `where` in front of the message, for a pattern that it does not
/// understand, that is longer than 16 KiB, deeper than 250 groups, goes round more than 65,536
/// times at one place, as bounded repeats make it, or has what no tokenizer's pattern needs:
/// callouts, calls of groups (\g), conditions, absence (`(?~`), white space to be left out
/// (`(?x`), control characters (\c), more than nine groups to refer to by number, what has no
/// end in a look-behind.
std::shared_ptr<const RegexCode> compile_oniguruma(std::string_view pattern,
                                                   std::string_view where);

/// Several times as fast, for patterns that mean the same in PCRE2, but for `\s` and `\S`, which
/// are given Oniguruma's meaning.
std::shared_ptr<const RegexCode> compile_pcre2(std::string_view pattern);

}  // namespace attnviz
