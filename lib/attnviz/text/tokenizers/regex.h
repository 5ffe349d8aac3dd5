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

}  // namespace attnviz
