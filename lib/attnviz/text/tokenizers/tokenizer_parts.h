// All stages of a tokenizer, as a file describes them. The stage of a tokenizer that cuts a word
// into pieces of its vocabulary. The last stage of a tokenizer: where special tokens go around a
// text, or around a pair. Tokens that stand beside the vocabulary of the model: found in a text
// before anything is cut.
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
  std::vector<IgnoredKey> ignored_keys;
  std::vector<std::string> unknown_keys;  // keys of its file
  std::string where;  // stands in front of what is wrong with the stages: a file and ": "
};

/// The id of a special or ordinary token by its name.
std::optional<TokenId> find_token(const TokenizerParts& parts, std::string_view name);

// Models of tokens: how a word is cut into pieces.

struct WordPieceOptions {
  std::string unknown = "[UNK]";
  std::string begin;               // of pieces that begin a word
  std::string prefix = "##";       // of pieces that do not begin a word
  std::size_t longest_word = 100;  // characters; longer ones are unknown
};

/// From the left the longest piece that fits (of up to 256 bytes), again and again; a word that
/// cannot be cut so is one unknown token. Its piece may be missing: then such a word throws
/// Error{kMalformed} `where: unk_token: …`. Source: Devlin et al. 2019; Wu et al. 2016.
std::unique_ptr<TokenModel> make_word_piece(Vocabulary vocabulary, const WordPieceOptions& options,
                                            std::string_view where);

/// A word is a piece or unknown; unknown words are left out when there is no piece for them.
std::unique_ptr<TokenModel> make_word_level(Vocabulary vocabulary, const std::string& unknown);

struct UnigramOptions {
  std::optional<TokenId> unknown;
  bool byte_fallback = false;              // unknown characters become <0x00> … <0xFF>
  std::optional<double> least_score = {};  // where it is not that of all pieces
  bool sums_floats = false;  // what two ways sum to is compared as SentencePiece rounds it
};

/// `scores` are log-probabilities by id, NaN for pieces that only stand for themselves (special
/// ones). Unknown characters, joined to one token where they are neighbours, score 10 below the
/// least. Source: Kudo 2018, section 3.2; Viterbi's algorithm.
std::unique_ptr<TokenModel> make_unigram(Vocabulary vocabulary, std::vector<double> scores,
                                         const UnigramOptions& options);

struct BpeOptions {
  std::optional<std::string> unknown;  // the piece's name
  std::string prefix;                  // of pieces that do not begin a word ("##")
  std::string suffix;                  // of pieces that end one ("</w>")
  bool fuse_unknown = false;           // neighbouring unknown characters are one token
  bool byte_fallback = false;          // unknown characters become <0x00> … <0xFF>
  bool ignore_merges = false;          // a word of the vocabulary is one token
  std::string_view kind = "BPE";
};

struct Merge {
  std::string_view left;
  std::string_view right;
};

/// Merges in order of rank; what they make must be in the vocabulary. Throws Error{kMalformed}
/// `where: merges[3]: …` for one that is not. The unknown piece may be missing: then a text that
/// needs it throws. Source: Sennrich et al. 2016, algorithm 1.
std::unique_ptr<TokenModel> make_bpe(Vocabulary vocabulary, std::span<const Merge> merges,
                                     const BpeOptions& options, std::string_view where);

/// The same with merges as SentencePiece has them: any two pieces that make a third, the one with
/// the highest score first. `scores` are by id; NaN for pieces that merges do not make.
std::unique_ptr<TokenModel> make_scored_bpe(Vocabulary vocabulary, std::span<const float> scores,
                                            const BpeOptions& options);

}  // namespace attnviz
