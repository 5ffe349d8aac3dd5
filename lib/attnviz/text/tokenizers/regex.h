// Regular expressions over UTF-8, as tokenizer files write them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/text/tokenizers/aligned_text.h"

namespace attnviz {

class RegexCode;
class RegexMatcher;

/// A pattern in Oniguruma's syntax and with its meaning, as Hugging Face's tokenizers read it.
class Regex {
 public:
  /// Throws Error{kUnsupported} that quotes the pattern and says what Oniguruma does not
  /// understand. `where` stands in front of the message.
  Regex(std::string_view pattern, std::string_view where);
  /// Of one library by name, so that the two can be compared.
  explicit Regex(std::shared_ptr<const RegexCode> code) : code_(std::move(code)) {}

  /// All matches, in order, without overlap; one that is empty only where it does not follow
  /// another at once. Bytes that are no UTF-8 match nothing, and a match ends before them. No match
  /// begins at a character from which finding one takes too many steps: 1,000,000 or 8 a byte of
  /// `text`, whichever is more, and half as many after each such character or when those before
  /// took a multiple of that. After many of them, those behind it are passed, too.
  std::vector<ByteRange> find_all(std::string_view text) const;

 private:
  friend class RegexSearch;
  std::shared_ptr<const RegexCode> code_;
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
  void find(std::string_view text, std::size_t offset, std::vector<ByteRange>& matches);
  std::size_t fail(std::size_t text_size);

  std::unique_ptr<RegexMatcher> matcher_;
  std::uint32_t limit_;
  std::size_t n_read_ = 0;
  std::size_t n_passed_ = 1;
};

}  // namespace attnviz
