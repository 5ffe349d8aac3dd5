// All stages of a tokenizer, as a file describes them. The stage of a tokenizer that cuts a word
// into pieces of its vocabulary. The last stage of a tokenizer: where special tokens go around a
// text, or around a pair. Tokens that stand beside the vocabulary of the model: found in a text
// before anything is cut.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/unread.h"
#include "attnviz/text/tokenized_text.h"
#include "attnviz/text/tokenizers/aligned_text.h"
#include "attnviz/text/tokenizers/model_tokenizer.h"
#include "attnviz/text/tokenizers/normalizers.h"
#include "attnviz/text/tokenizers/pre_tokenizers.h"
#include "attnviz/text/tokenizers/prefix_index.h"
#include "attnviz/text/tokenizers/token_decoder.h"
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

struct TemplateItem {
  enum class Kind { kSpecial, kFirst, kSecond };

  Kind kind = Kind::kFirst;
  TokenId id = 0;           // of a special token
  std::size_t segment = 0;  // its token type
};

using Template = std::vector<TemplateItem>;

struct PostProcessor {
  Template single = {{TemplateItem::Kind::kFirst, 0, 0}};
  Template pair = {{TemplateItem::Kind::kFirst, 0, 0}, {TemplateItem::Kind::kSecond, 0, 1}};

  bool adds_tokens() const noexcept { return single.size() > 1; }
};

/// `outer` with the text itself in each place replaced by `inner`.
PostProcessor composed(const PostProcessor& inner, const PostProcessor& outer);
/// `first` at the beginning of each text, `last` at its end.
PostProcessor surrounding(const std::vector<TokenId>& first, const std::vector<TokenId>& last);
/// As BERT has them: `cls A sep`, `cls A sep B sep` with segment 1 from B on.
PostProcessor bert_post_processor(TokenId cls, TokenId sep);
/// As RoBERTa has them: `cls A sep`, `cls A sep sep B sep`, all of segment 0.
PostProcessor roberta_post_processor(TokenId cls, TokenId sep);

struct AddedToken {
  TokenId id = 0;
  std::string content;
  // How it stands in a normalized text; nullopt: as it is normalized.
  std::optional<std::string> as_normalized = {};
  bool single_word = false;  // not inside a word
  bool lstrip = false;       // takes the white space before it
  bool rstrip = false;       // … behind it
  bool normalized = false;   // looked for in the normalized text, not in the source
  bool special = false;
};

/// Finds tokens, the longest where several begin. Not copyable: it points into its own tokens.
class AddedTokenFinder {
 public:
  AddedTokenFinder() = default;
  /// Throws Error{kUnsupported} for one that is longer than PrefixIndex::kLongestPiece.
  explicit AddedTokenFinder(std::vector<AddedToken> tokens);
  AddedTokenFinder(const AddedTokenFinder&) = delete;
  AddedTokenFinder& operator=(const AddedTokenFinder&) = delete;
  AddedTokenFinder(AddedTokenFinder&&) = default;
  AddedTokenFinder& operator=(AddedTokenFinder&&) = default;

  struct Part {
    ByteRange range;
    std::optional<TokenId> id;  // nullopt: text between tokens
  };
  /// The whole text as parts, none of them empty.
  std::vector<Part> split(std::string_view text) const;

 private:
  std::vector<AddedToken> tokens_;
  PrefixIndex index_;
};

struct TokenizerParts {
  std::vector<AddedToken> added;
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  std::unique_ptr<TokenModel> model;
  PostProcessor post;
  Decoder decoder;
  SpecialIds special;
  // What a tokenizer_config.json may contradict.
  std::optional<BertNormalization> bert_normalization;
  std::optional<bool> adds_prefix_space;  // of a byte-level pre-tokenizer that is no sequence
  std::optional<bool> prepends_space;     // ▁ in front of a text; absent: not of a tokenizer.json
  bool takes_any_byte = false;            // bytes that are no UTF-8 are tokens, not U+FFFD
  std::vector<PassedOver> passed_over;
  std::vector<std::string> unknown_keys;  // keys of its file
  std::string where;  // stands in front of what is wrong with the stages: a file and ": "
};

/// The id of a special or ordinary token by its name.
std::optional<TokenId> find_token(const TokenizerParts& parts, std::string_view name);

}  // namespace attnviz
