// Text to tokens: words, characters or bytes.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "attnviz/text/tokenized_text.h"

namespace attnviz {

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// "words", "chars" or "bytes".
  virtual std::string_view name() const noexcept = 0;

  /// Cuts `text`; tokens are in source order. Takes any bytes: invalid UTF-8 becomes one token a
  /// byte (words, chars). May be empty.
  virtual TokenizedText tokenize(std::string_view text) const = 0;

  /// The text whose ids are given: pieces joined by spaces (words) or by nothing.
  /// Throws Error{kUsage} for an id outside the vocabulary, or when there is none.
  virtual TokenizedText from_ids(std::span<const TokenId> ids) const = 0;
};

/// Names that make_tokenizer takes.
std::span<const std::string> tokenizer_names();

/// words   Unicode words (UAX 29 word boundaries), punctuation marks on their own, no white space.
/// chars   grapheme clusters (UAX 29), white space among them.
/// bytes   single bytes; without a vocabulary the id is the byte.
///
/// A piece in `vocabulary` has its index as id; the others are numbered behind it in order of first
/// appearance in the text. Throws Error{kUsage} for another name, with did-you-mean.
std::unique_ptr<Tokenizer> make_tokenizer(std::string_view name,
                                          std::span<const std::string> vocabulary = {});

}  // namespace attnviz
