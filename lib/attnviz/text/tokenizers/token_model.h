// The stage of a tokenizer that cuts a word into pieces of its vocabulary.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "attnviz/text/tokenized_text.h"
#include "attnviz/text/tokenizers/aligned_text.h"
#include "attnviz/text/tokenizers/vocabulary.h"

namespace attnviz {

struct ModelToken {
  TokenId id;
  ByteRange range;  // in the word
};

class TokenModel {
 public:
  virtual ~TokenModel() = default;

  /// "byte-level BPE", "WordPiece", …
  virtual std::string_view kind() const noexcept = 0;
  virtual const Vocabulary& vocabulary() const noexcept = 0;
  /// What stands for words or characters that the vocabulary lacks.
  virtual std::optional<TokenId> unknown() const noexcept = 0;
  /// Whether no piece holds `mark` behind another character: then a word may be cut before each run
  /// of marks without changing what becomes of it.
  virtual bool keeps_apart(std::string_view mark) const = 0;
  /// Appends the pieces of `word`, in order. Takes any bytes. Throws Error{kMalformed} where they
  /// need the piece for unknown ones that a file names and its vocabulary lacks.
  virtual void tokenize(std::string_view word, std::vector<ModelToken>& tokens) const = 0;
};

/// Throws Error{kMalformed} of a text that needs the piece for unknown ones, which is not there.
[[noreturn]] void fail_without_unknown(std::string_view where, std::string_view unknown,
                                       std::string_view text);

}  // namespace attnviz
