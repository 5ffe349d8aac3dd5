// Regular expressions over UTF-8, as tokenizer files write them. What matches a pattern: one of two
// libraries, behind one door.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/text/tokenizers/aligned_text.h"

namespace attnviz {

class RegexCode;
class RegexMatcher;
class RegexSteps;

/// A pattern in Oniguruma's syntax and with its meaning, as Hugging Face's tokenizers read it.
class Regex {
 public:
  /// Throws Error{kUnsupported} that quotes the pattern and says what Oniguruma does not
  /// understand. `where` stands in front of the message.
  Regex(std::string_view pattern, std::string_view where);
  /// Of one library by name, so that the two can be compared.
  explicit Regex(std::shared_ptr<const RegexCode> code) : Regex(std::move(code), "") {}

  /// All matches, in order, without overlap; one that is empty only where it does not follow
  /// another at once. Bytes that are no UTF-8 match nothing, and a match ends before them. Throws
  /// Error{kUnsupported} when finding them takes more steps than StageSteps has for such a text.
  std::vector<ByteRange> find_all(std::string_view text) const;

 private:
  friend class RegexSearch;
  Regex(std::shared_ptr<const RegexCode> code, std::string name);

  std::shared_ptr<const RegexCode> code_;
  std::string name_;  // in messages
};

/// The same in many texts, the words of one.
class RegexSearch {
 public:
  /// Of texts that have `n_bytes` in all, with the steps of all stages, or with steps of its own.
  /// `regex` and `shared` must outlive it.
  RegexSearch(const Regex& regex, std::size_t n_bytes, StageSteps* shared = nullptr);
  RegexSearch(const RegexSearch&) = delete;
  RegexSearch& operator=(const RegexSearch&) = delete;
  ~RegexSearch();

  std::vector<ByteRange> find_all(std::string_view text);

 private:
  [[noreturn]] void fail_too_long(std::string_view text) const;
  void find(std::string_view text, std::size_t offset, std::vector<ByteRange>& matches);

  const Regex& regex_;
  StageSteps own_steps_;
  StageSteps& all_steps_;
  std::uint64_t n_given_;
  std::unique_ptr<RegexSteps> steps_;
  std::unique_ptr<RegexMatcher> matcher_;
};

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
