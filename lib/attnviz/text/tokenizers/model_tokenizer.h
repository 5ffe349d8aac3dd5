// The tokenizer of a trained model: from text to the ids that the model was trained on, and back.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/core/unread.h"
#include "attnviz/text/chat.h"
#include "attnviz/text/tokenizer.h"

namespace attnviz {

struct TokenizerParts;

/// Ids of tokens with a special meaning, if the tokenizer has them.
struct SpecialIds {
  std::optional<TokenId> bos;  // begins a text
  std::optional<TokenId> eos;  // ends a text
  std::optional<TokenId> pad;
  std::optional<TokenId> unk;  // for text that the vocabulary lacks
  std::optional<TokenId> sep;
  std::optional<TokenId> cls;
  std::optional<TokenId> mask;
};

class ModelTokenizer : public Tokenizer {
 public:
  explicit ModelTokenizer(TokenizerParts parts);
  ~ModelTokenizer() override;

  /// "byte-level BPE", "SentencePiece BPE", "BPE", "Unigram", "WordPiece" or "WordLevel".
  std::string_view name() const noexcept override;

  /// As below, with default options.
  TokenizedText tokenize(std::string_view text) const override;

  /// Tokens keep their range in the source through normalisation. Ranges ascend from token to
  /// token. They overlap where one character became several tokens that are not its bytes, and have
  /// gaps where a tokenizer drops text (WordPiece drops white space). Added tokens have an empty
  /// range. With a pair, the source is both texts with a line feed between them.
  ///
  /// Accepts any bytes: except for byte-level tokenizers, invalid ones count as U+FFFD. Without a
  /// BOS token, `bos` = false removes CLS instead. Throws Error{kUsage} if `bos` asks for a token
  /// that does not exist, or for none although another special token begins a text, and for a text
  /// of 4 GiB; Error{kUnsupported} if normalizers make the text longer than AlignedBuilder allows.
  TokenizedText tokenize(std::string_view text, const TokenizeOptions& options) const override;

  /// The text that the ids decode to; special tokens appear by their names.
  TokenizedText from_ids(std::span<const TokenId> ids) const override;

  /// The largest id plus 1, including added tokens. A model may have more embeddings.
  std::size_t vocabulary_size() const noexcept;
  /// The text of a token: raw bytes with the leading space, or a special token's name. Empty for an
  /// id without a piece.
  std::string piece(TokenId id) const;
  /// The id of a piece, written as in the tokenizer's file ("Ġthe", "▁the", "##ing", "<s>").
  std::optional<TokenId> id_of(std::string_view piece) const;
  bool is_special(TokenId id) const;
  const SpecialIds& special_ids() const noexcept;
  const std::vector<IgnoredKey>& ignored_keys() const noexcept;
  /// Keys of its file that attnviz does not know.
  const std::vector<std::string>& unknown_keys() const noexcept;

  const ChatTemplate* chat_template() const noexcept override;
  void check_chat_template() const override;
  /// Replaces the template of the tokenizer's own files.
  void set_chat_template(ChatTemplate chat) { chat_ = std::move(chat); }
  /// Why the template is missing although its file exists.
  void set_chat_error(Error error) { chat_error_ = std::move(error); }

 private:
  struct State;
  std::unique_ptr<const State> state_;
  std::optional<ChatTemplate> chat_;
  std::optional<Error> chat_error_;
};

}  // namespace attnviz
