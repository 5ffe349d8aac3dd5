// From text to tokens: words, characters or bytes.
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
  std::optional<bool> bos;               // with or without BOS; default: as the tokenizer does
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

  /// Cuts `text`; tokens are in source order. Accepts any bytes: each invalid UTF-8 byte becomes a
  /// token (words, chars). The result may be empty.
  virtual TokenizedText tokenize(std::string_view text) const = 0;

  /// The same with options of models' tokenizers. Throws Error{kUsage} for options that this
  /// tokenizer does not support.
  virtual TokenizedText tokenize(std::string_view text, const TokenizeOptions& options) const;

  /// The text with these ids: pieces joined by spaces (words) or by nothing. Throws Error{kUsage}
  /// for an id outside the vocabulary, or if the tokenizer does not have one.
  virtual TokenizedText from_ids(std::span<const TokenId> ids) const = 0;

  /// The template that makes messages a text for the tokenizer's model; may be null.
  virtual const ChatTemplate* chat_template() const noexcept { return nullptr; }
  /// Throws the Error that prevented a chat template from being read; otherwise does nothing.
  virtual void check_chat_template() const {}
};

/// The names that make_tokenizer accepts.
std::span<const std::string> tokenizer_names();

/// words   Unicode words (UAX 29 word boundaries), punctuation marks on their own, white space left
///         out.
/// chars   grapheme clusters (UAX 29), including white space.
/// bytes   single bytes; without a vocabulary the id is the byte.
///
/// The id of a piece in `vocabulary` is its index; other pieces get the next ids, in order of first
/// appearance in the text. Throws Error{kUsage} for another name, with a did-you-mean.
std::unique_ptr<Tokenizer> make_tokenizer(std::string_view name,
                                          std::span<const std::string> vocabulary = {});

}  // namespace attnviz
