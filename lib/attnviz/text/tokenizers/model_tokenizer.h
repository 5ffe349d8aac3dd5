// The tokenizer of a trained model: text to the ids that the model was trained on, and back.
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

/// Ids of tokens with a meaning of their own, where a tokenizer has them.
struct SpecialIds {
  std::optional<TokenId> bos;  // begins a text
  std::optional<TokenId> eos;  // ends one
  std::optional<TokenId> pad;
  std::optional<TokenId> unk;  // stands for what the vocabulary lacks
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

  /// As below, with options as they are.
  TokenizedText tokenize(std::string_view text) const override;

  /// Tokens keep their range in the source through normalisation. Ranges grow from token to token;
  /// they overlap where one character became several tokens that are not its bytes, and what no
  /// token stands for (white space of WordPiece) lies between them. Added tokens have an empty
  /// range. With a pair, the source is both texts with a line feed between them.
  ///
  /// Takes any bytes: those that are no UTF-8 are U+FFFD to all but byte-level
  /// tokenizers. Where there is no BOS, CLS is left out for it. Throws Error{kUsage} when `bos`
  /// asks for a token that there is not, or for none where another special token begins a text, and
  /// for a text of 4 GiB; Error{kUnsupported} when normalizers make the text larger than
  /// AlignedBuilder takes.
  TokenizedText tokenize(std::string_view text, const TokenizeOptions& options) const override;

  /// The text that the ids decode to; special tokens stand in it with their names.
  TokenizedText from_ids(std::span<const TokenId> ids) const override;

  /// The largest id and 1, added tokens among them. A model may have more embeddings.
  std::size_t vocabulary_size() const noexcept;
  /// What a token says: raw bytes with its leading space, or a special token's name. Empty for an
  /// id without a piece.
  std::string piece(TokenId id) const;
  /// The id of a piece as the tokenizer's file writes it ("Ġthe", "▁the", "##ing", "<s>").
  std::optional<TokenId> id_of(std::string_view piece) const;
  bool is_special(TokenId id) const;
  const SpecialIds& special_ids() const noexcept;
  const std::vector<IgnoredKey>& ignored_keys() const noexcept;
  /// Keys of its file that attnviz does not know.
  const std::vector<std::string>& unknown_keys() const noexcept;

  const ChatTemplate* chat_template() const noexcept override;
  void check_chat_template() const override;
  /// In place of that of the tokenizer's own files.
  void set_chat_template(ChatTemplate chat) { chat_ = std::move(chat); }
  /// Why there is none, although its file is there.
  void set_chat_error(Error error) { chat_error_ = std::move(error); }

 private:
  struct State;
  std::unique_ptr<const State> state_;
  std::optional<ChatTemplate> chat_;
  std::optional<Error> chat_error_;
};

}  // namespace attnviz
