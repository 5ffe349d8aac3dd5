// Regular expressions over UTF-8, as tokenizer files write them.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "attnviz/text/tokenizers/aligned_text.h"

namespace attnviz {

/// A pattern in PCRE2's syntax, with Unicode classes.
class Regex {
 public:
  /// Throws Error{kUnsupported} that quotes the pattern, says what PCRE2 does not understand, and
  /// where. `where` stands in front of the message.
  Regex(std::string_view pattern, std::string_view where);

  /// All matches that are not empty, in order, without overlap. Bytes that are no UTF-8 match
  /// nothing, and a match ends before them. No match begins at a character from which finding one
  /// takes too many steps: 1,000,000 or 8 a byte of `text`, whichever is more, and half as many
  /// after each such character. After many of them, those behind it are passed, too.
  std::vector<ByteRange> find_all(std::string_view text) const;

 private:
  friend class RegexSearch;
  struct Code;
  std::shared_ptr<const Code> code_;
};

/// The same in many texts, the words of one, which together take no more steps than it would.
class RegexSearch {
 public:
  /// Of texts that have `n_bytes` in all.
  RegexSearch(const Regex& regex, std::size_t n_bytes);
  RegexSearch(const RegexSearch&) = delete;
  RegexSearch& operator=(const RegexSearch&) = delete;
  ~RegexSearch();

  std::vector<ByteRange> find_all(std::string_view text);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace attnviz
