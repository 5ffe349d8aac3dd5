// Regular expressions over UTF-8, as tokenizer files write them.
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

}  // namespace attnviz
