// Regular expressions over UTF-8, as tokenizer files write them: Oniguruma's.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/text/tokenizers/aligned_text.h"

namespace attnviz {

struct CompiledRegex;
class RegexMatcher;

/// A pattern in Oniguruma's syntax and with its meaning, as Hugging Face's tokenizers read it. Safe
/// to share between threads.
class Regex {
 public:
  /// Throws Error{kUnsupported}, with `where` in front of the message, for a pattern that Oniguruma
  /// does not understand, that is longer than 16 KiB, deeper than 250 groups, goes round more than
  /// 65,536 times at one place, as bounded repeats make it, or has what no tokenizer's pattern
  /// needs: callouts, calls of groups (\g), conditions, absence (`(?~`), white space to be left out
  /// (`(?x`), control characters (\c), more than nine groups to refer to by number, what has no
  /// end in a look-behind.
  Regex(std::string_view pattern, std::string_view where);

  /// All matches, in order, without overlap; one that is empty only where it does not follow
  /// another at once. Bytes that are no UTF-8 match nothing, and a match ends before them. Throws
  /// Error{kUnsupported} when finding them takes more steps than StageSteps has for such a text.
  std::vector<ByteRange> find_all(std::string_view text) const;

 private:
  friend class RegexSearch;

  std::shared_ptr<const CompiledRegex> compiled_;
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
  std::unique_ptr<RegexMatcher> matcher_;
};

// Patterns for Oniguruma that tell how far a match goes.

/// Stand in every pattern where a match may have gone on for long: Oniguruma counts only how often
/// it goes back, and what is atomic, looks around or refers back goes forward without end.
inline constexpr std::string_view kCountCallout = "(*s)";
inline constexpr std::string_view kCountReference = "(*r)";

/// A pattern as it is compiled: with counts behind each repeat and where each group and alternative
/// begins, and with symbols in classes of punctuation. Nothing that is put in stands before a
/// repeat, which would repeat it, nor in a look-behind, which Oniguruma 6.9.8 then takes for
/// another.
struct CountedPattern {
  std::string text;
  std::size_t stretch = 0;   // characters and rounds between two counts at most
  bool parts_flags = false;  // it asks where characters end that people see (\X, \y and \Y)
};

/// Throws Error{kUnsupported}, with `where` in front of the message, for what would hide where
/// groups and repeats are, and for more than 1024 counts, all of which each try of a match resets.
CountedPattern counted_pattern(std::string_view pattern, std::string_view where);

/// How often a pattern's bounded repeats go round at one place of a text at most, no more than
/// kMostRounds + 1: what stands in a row adds up, a repeat multiplies what it repeats; * and + are
/// left to the counts. Never less: what only looks like a repeat or a group makes it more.
std::size_t most_rounds(std::string_view pattern);
inline constexpr std::size_t kMostRounds = std::size_t{1} << 16;

}  // namespace attnviz
