// Text to tokens: words, characters or bytes.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "attnviz/text/tokenized_text.h"

namespace attnviz {

struct ChatTemplate;

struct TokenizeOptions {
  bool add_special_tokens = true;        // as the model's own tokenizer does
  std::optional<bool> bos;               // with or without BOS, whatever the tokenizer does
  bool parse_special = false;            // "<s>" in the text is the token of that name
  std::optional<std::string_view> pair;  // a second text, for models that take two
};

///
/// Example:
///     const auto tokenizer = attnviz::make_tokenizer("words");
///     if (tokenizer->tokenize("The cat sat.").size() != 4) return 1;
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// "words", "chars" or "bytes".
  virtual std::string_view name() const noexcept = 0;

  /// Cuts `text`; tokens are in source order. Takes any bytes: invalid UTF-8 becomes one token a
  /// byte (words, chars). May be empty.
  virtual TokenizedText tokenize(std::string_view text) const = 0;

  /// The same with options of models' tokenizers. Throws Error{kUsage} for those that this one does
  /// not have.
  virtual TokenizedText tokenize(std::string_view text, const TokenizeOptions& options) const;

  /// The text whose ids are given: pieces joined by spaces (words) or by nothing.
  /// Throws Error{kUsage} for an id outside the vocabulary, or when there is none.
  virtual TokenizedText from_ids(std::span<const TokenId> ids) const = 0;

  /// How messages become a text of the model that this belongs to; null where nothing says so.
  virtual const ChatTemplate* chat_template() const noexcept { return nullptr; }
  /// Throws the Error that kept a chat template from being read; else does nothing.
  virtual void check_chat_template() const {}
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
