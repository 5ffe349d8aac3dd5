// Regular expressions over UTF-8, as in tokenizer files: Oniguruma's.
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

/// A pattern with Oniguruma's syntax and meaning, as in Hugging Face's tokenizers. Safe to share
/// between threads.
class Regex {
 public:
  /// `where` is a prefix of messages. Throws Error{kUnsupported} for a pattern that Oniguruma does
  /// not understand, that is longer than 16 KiB, nested deeper than 250 groups or repeats more than
  /// 65,536 times at one position by its bounded repeats, or that uses features which tokenizers do
  /// not need: callouts, calls of groups (\g), conditions, absence (`(?~`), ignored white space
  /// (`(?x`), control characters (\c), more than nine groups for references by number, and
  /// unbounded repeats in a look-behind.
  Regex(std::string_view pattern, std::string_view where);

  /// All matches, in order and without overlap; an empty match only if it does not directly follow
  /// another. Invalid bytes do not match, and a match ends before them. Throws Error{kUnsupported}
  /// if this takes more steps than StageSteps allows for the text.
  std::vector<ByteRange> find_all(std::string_view text) const;

 private:
  friend class RegexSearch;

  std::shared_ptr<const CompiledRegex> compiled_;
  std::string name_;  // for messages
};

/// The same search in many texts, such as the words of a text.
class RegexSearch {
 public:
  /// For texts of `n_bytes` in total, with the steps shared by all stages, or with its own. `regex`
  /// and `shared` must outlive it.
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

// Patterns for Oniguruma that report how far a match goes.

/// Inserted into every pattern where a match may have gone on for long: Oniguruma counts only how
/// often it goes back, but atomic groups, look-around and references can go forward without limit.
inline constexpr std::string_view kCountCallout = "(*s)";
inline constexpr std::string_view kCountReference = "(*r)";

/// A pattern as it is compiled: with counts after each repeat and at the beginning of each group
/// and alternative, and with symbols in classes of punctuation. Nothing is inserted before a
/// repeat, which would repeat it, nor into a look-behind, which Oniguruma 6.9.8 would confuse with
/// another one.
struct CountedPattern {
  std::string text;
  std::size_t stretch = 0;   // maximum of characters and rounds between two counts
  bool parts_flags = false;  // uses grapheme boundaries (\X, \y and \Y)
};

/// `where` is a prefix of messages. Throws Error{kUnsupported} for syntax that would hide where
/// groups and repeats are, and for more than 1024 counts, all of which are reset for each try of a
/// match.
CountedPattern counted_pattern(std::string_view pattern, std::string_view where);

/// The maximum number of rounds of a pattern's bounded repeats at one position of a text, limited
/// to kMostRounds + 1: items in sequence add up, and a repeat multiplies what it repeats; * and +
/// are left to the counts. Never too low: text that only looks like a repeat or a group increases
/// it.
std::size_t most_rounds(std::string_view pattern);
inline constexpr std::size_t kMostRounds = std::size_t{1} << 16;

}  // namespace attnviz
