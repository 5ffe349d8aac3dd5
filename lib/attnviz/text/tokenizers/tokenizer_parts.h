// All stages of a tokenizer, as described by a file. The stage that cuts a word into pieces of the
// vocabulary. The last stage, which puts special tokens around a text or a pair. Tokens outside the
// model's vocabulary, which are found in a text before it is cut.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/unread.h"
#include "attnviz/text/tokenized_text.h"
#include "attnviz/text/tokenizers/aligned_text.h"
#include "attnviz/text/tokenizers/model_tokenizer.h"
#include "attnviz/text/tokenizers/pre_tokenizers.h"
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
  /// The id for words or characters that the vocabulary lacks.
  virtual std::optional<TokenId> unknown() const noexcept = 0;
  /// Whether `mark` never follows another character within a piece: then a word may be cut before
  /// each run of marks without changing its pieces.
  virtual bool keeps_apart(std::string_view mark) const = 0;
  /// Appends the pieces of `word`, in order. Accepts any bytes. Throws Error{kMalformed} if they
  /// need the unknown piece that a file names and its vocabulary lacks.
  virtual void tokenize(std::string_view word, std::vector<ModelToken>& tokens) const = 0;
};

/// Throws Error{kMalformed} for a text that needs the missing unknown piece.
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

/// `outer`, with the text itself replaced by `inner` everywhere.
PostProcessor composed(const PostProcessor& inner, const PostProcessor& outer);
/// `first` at the beginning of each text, `last` at its end.
PostProcessor surrounding(const std::vector<TokenId>& first, const std::vector<TokenId>& last);
/// As in BERT: `cls A sep`, `cls A sep B sep` with segment 1 from B on.
PostProcessor bert_post_processor(TokenId cls, TokenId sep);
/// As in RoBERTa: `cls A sep`, `cls A sep sep B sep`, all of segment 0.
PostProcessor roberta_post_processor(TokenId cls, TokenId sep);

struct AddedToken {
  TokenId id = 0;
  std::string content;
  // Its form in a normalized text; nullopt: as the normalizer writes it.
  std::optional<std::string> as_normalized = {};
  bool single_word = false;  // not inside a word
  bool lstrip = false;       // takes the white space before it
  bool rstrip = false;       // … after it
  bool normalized = false;   // searched for in the normalized text, not in the source
  bool special = false;
};

/// Finds tokens, the longest if several begin at one position. Not copyable: it points into its own
/// tokens.
class AddedTokenFinder {
 public:
  AddedTokenFinder() = default;
  /// Throws Error{kUnsupported} for a token longer than PrefixIndex::kLongestPiece.
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
  // Settings that a tokenizer_config.json may contradict.
  std::optional<BertNormalization> bert_normalization;
  std::optional<bool> adds_prefix_space;  // of a single byte-level pre-tokenizer
  std::optional<bool> prepends_space;     // ▁ before a text; only set by a tokenizer.json
  bool takes_any_byte = false;            // invalid bytes are tokens, not U+FFFD
  std::vector<IgnoredKey> ignored_keys;
  std::vector<std::string> unknown_keys;  // keys of its file
  std::string where;                      // prefix of errors in the stages: a file and ": "
};

/// The id of a special or ordinary token by its name.
std::optional<TokenId> find_token(const TokenizerParts& parts, std::string_view name);

// Token models: how a word is cut into pieces.

struct WordPieceOptions {
  std::string unknown = "[UNK]";
  std::string begin;               // of pieces that begin a word
  std::string prefix = "##";       // of pieces that do not begin a word
  std::size_t longest_word = 100;  // characters; longer ones are unknown
};

/// Repeatedly takes the longest piece that fits (up to 256 bytes), from the left; a word that
/// cannot be cut this way is one unknown token. If the unknown piece is missing, these words throw
/// Error{kMalformed} `where: unk_token: …`. Source: Devlin et al. 2019; Wu et al. 2016.
std::unique_ptr<TokenModel> make_word_piece(Vocabulary vocabulary, const WordPieceOptions& options,
                                            std::string_view where);

/// A word is a piece or unknown; unknown words are dropped if `unknown` is not a piece.
std::unique_ptr<TokenModel> make_word_level(Vocabulary vocabulary, const std::string& unknown);

struct UnigramOptions {
  std::optional<TokenId> unknown;
  bool byte_fallback = false;              // unknown characters become <0x00> … <0xFF>
  std::optional<double> least_score = {};  // default: that of all pieces
  bool sums_floats = false;                // compares sums as rounded by SentencePiece
};

/// `scores` are log-probabilities by id, NaN for pieces that only stand for themselves (special
/// ones). Adjacent unknown characters become one token, which scores 10 below the lowest score.
/// Source: Kudo 2018, section 3.2; Viterbi's algorithm.
std::unique_ptr<TokenModel> make_unigram(Vocabulary vocabulary, std::vector<double> scores,
                                         const UnigramOptions& options);

struct BpeOptions {
  std::optional<std::string> unknown;  // the piece's name
  std::string prefix;                  // of pieces that do not begin a word ("##")
  std::string suffix;                  // of pieces that end one ("</w>")
  bool fuse_unknown = false;           // adjacent unknown characters are one token
  bool byte_fallback = false;          // unknown characters become <0x00> … <0xFF>
  bool ignore_merges = false;          // a word of the vocabulary is one token
  std::string_view kind = "BPE";
};

struct Merge {
  std::string_view left;
  std::string_view right;
};

/// Merges in order of rank; their results must be in the vocabulary. Throws Error{kMalformed}
/// `where: merges[3]: …` otherwise. The unknown piece may be missing: then a text that needs it
/// throws. Source: Sennrich et al. 2016, algorithm 1.
std::unique_ptr<TokenModel> make_bpe(Vocabulary vocabulary, std::span<const Merge> merges,
                                     const BpeOptions& options, std::string_view where);

/// The same with SentencePiece's merges: any two pieces that form a third, the one with the highest
/// score first. `scores` are by id; NaN for pieces that merges do not make.
std::unique_ptr<TokenModel> make_scored_bpe(Vocabulary vocabulary, std::span<const float> scores,
                                            const BpeOptions& options);

}  // namespace attnviz
