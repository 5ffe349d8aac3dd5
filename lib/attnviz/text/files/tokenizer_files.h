// Tokenizers as described by each kind of file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/mapped_file.h"
#include "attnviz/core/unread.h"
#include "attnviz/formats/gguf_metadata.h"
#include "attnviz/formats/json_tree.h"
#include "attnviz/text/files/tokenizer_settings.h"
#include "attnviz/text/tokenizers/pre_tokenizers.h"
#include "attnviz/text/tokenizers/tokenizer_parts.h"

namespace attnviz {

/// Reads `tokenizer.ggml.…`: pieces, their types and scores, merges and settings. Models:
///
/// llama  SentencePiece's BPE: the piece with the highest score is merged first; text without a
///        piece becomes bytes.
/// gpt2   byte-level BPE by merges; `tokenizer.ggml.pre` names how texts are cut into words.
/// gemma4 SentencePiece's BPE with merges instead of scores, cut at line ends.
/// bert   WordPiece; pieces that begin a word are written with a ▁ in front.
/// t5     SentencePiece's Unigram, with its character map.
///
/// Texts get the same ids as in llama.cpp: they are only normalized as the model itself does, and
/// the id of a special token outside the vocabulary counts as missing. Whether BOS and EOS are
/// added is read from the file; the default is that of the model.
///
/// Throws Error{kMalformed} `file: key: …`, Error{kUnsupported} for other models, for an unknown
/// way of cutting and for a key whose effect is unknown, and Error{kIo} for a file without a
/// tokenizer. Source: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md; llama.cpp's
/// llama-vocab.cpp.
TokenizerParts read_gguf_tokenizer(const GgufMetadata& metadata);

/// The keys that were not read: harmless ones, each with the reason, and keys that llama.cpp does
/// not know either. Throws Error{kUnsupported} for a key that llama.cpp knows and whose value is
/// not 0, false, empty or known to be harmless.
UnreadKeys unread_tokenizer_keys(const GgufMetadata& metadata);

/// `name` is a prefix of every message. With `legacy` (as in transformers), a text after a special
/// token gets a leading space, too. Without `may_add_space`, texts never get one, even if the file
/// says so. BOS and EOS are known by id, but not added.
/// Throws Error{kMalformed} if the file breaks the format, and Error{kUnsupported} for model types
/// other than BPE and Unigram.
/// Source: sentencepiece_model.proto; encoding of protocol buffers.
TokenizerParts read_sentencepiece_model(std::string_view bytes, std::string_view name, bool legacy,
                                        bool may_add_space = true);

/// The same for T5's spiece.model: EOS is added after a text, and `n_extra` tokens that stand for
/// gaps are numbered after the pieces, the last of them <extra_id_0>.
TokenizerParts read_t5_model(std::string_view bytes, std::string_view name, std::size_t n_extra);

/// The same for Marian's source.spm or target.spm, whose pieces have the ids of a vocab.json shared
/// by both. </s> is added after a text. A piece >>…<< in the vocabulary names a language.
TokenizerParts read_marian_model(const NamedBytes& model, const NamedBytes& vocabulary);

/// `name` is a prefix of every message. Throws Error{kMalformed} for malformed values, with their
/// path, and Error{kUnsupported} for unknown stages. Special tokens are recognised by their usual
/// names.
TokenizerParts read_tokenizer_json(std::string_view bytes, std::string_view name);

/// One of "added_tokens", without its id. Throws Error{kMalformed} at a malformed member.
AddedToken read_added_token(const JsonNode& node, TokenId id);

/// Sets the special ids that are still unknown and whose usual names are tokens.
void find_special_ids(TokenizerParts& parts);

/// Byte-level BPE: {"piece": id, …}, and merges as lines `left right` in order of rank, after a
/// line `#version`. Throws Error{kMalformed}.
TokenizerParts read_gpt2_files(const NamedBytes& vocabulary, const NamedBytes& merges,
                               bool add_prefix_space);

/// Sets all stages of a byte-level tokenizer except the model: texts are cut by `pattern`, and
/// bytes are mapped to characters.
void use_byte_level_words(TokenizerParts& parts, const SplitPattern& pattern);

/// Sets BERT's normalization, and words cut at white space and punctuation.
void use_bert_words(TokenizerParts& parts, const BertNormalization& normalization);

/// Makes a tokenizer from GPT-2's files cut and normalize (NFC) as Qwen2 and Qwen3 do.
void use_qwen2_words(TokenizerParts& parts);

/// WordPiece: one piece per line, numbered from 0; `unknown` is the piece for words that the
/// vocabulary lacks. Throws Error{kMalformed}.
TokenizerParts read_bert_vocabulary(const NamedBytes& vocabulary,
                                    const BertNormalization& normalization,
                                    std::string_view unknown = "[UNK]");

// The class of transformers that reads a folder's files: the same form of files may have several.
// Tokens that the settings add to a tokenizer.

/// Files that contain less than a tokenizer.json.
enum class VocabularyForm {
  kByteLevelBpe,   // vocab.json with merges.txt
  kWordPiece,      // vocab.txt
  kSentencePiece,  // tokenizer.model
  kT5,             // spiece.model
};

struct TokenizerClass {
  std::string name;   // "RobertaTokenizer", also for …TokenizerFast; may be empty
  std::string where;  // prefix of messages: "config.json: model_type: "

  /// RoBERTa, BART and similar classes: <s> … </s> around a text, and a <mask> that takes the space
  /// before it.
  bool is_like_roberta() const;
};

/// As in AutoTokenizer: the tokenizer_class of tokenizer_config.json, else that of config.json,
/// else the class of config.json's model_type. Throws Error{kUnsupported}, naming the key, for a
/// class whose ids for these files differ from those that attnviz computes.
TokenizerClass find_tokenizer_class(const std::filesystem::path& folder,
                                    const TokenizerSettings& settings, VocabularyForm form,
                                    OpenFiles& files);

/// For a file with only a vocabulary: tokens with ids replace those that the file's own names
/// suggest; then come tokens with names only, which take their id in the vocabulary or the next
/// free one. `lstrip_of_mask` as in TokenizerSettings::named_tokens().
void add_own_tokens(TokenizerParts& parts, const TokenizerSettings& settings,
                    bool lstrip_of_mask = false);

/// For a tokenizer.json: adds the tokens that it lacks, as transformers' PreTrainedTokenizerFast
/// does; sets the flags of tokens that it has (lstrip and others) to those in added_tokens_decoder.
/// Flags of tokens with names only are ignored: transformers 5 uses those of tokenizer.json
/// (PreTrainedTokenizerBase._from_pretrained()). Throws Error{kUnsupported} if the settings give a
/// token another id than it would get.
void add_missing_tokens(TokenizerParts& parts, const TokenizerSettings& settings);

// SentencePiece's pieces and settings from any kind of file, and the tokenizer that they define.

inline constexpr std::string_view kSentencePieceSpace = "▁";

enum class PieceType : std::uint64_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUserDefined = 4,
  kUnused = 5,
  kByte = 6,
};

struct SentencePiece {
  std::string_view text;
  float score = 0.0f;
  PieceType type = PieceType::kNormal;
};

/// Views into the file.
struct SentencePieces {
  std::vector<SentencePiece> pieces;  // by id; distinct, with finite scores
  bool is_unigram = false;            // otherwise BPE
  bool byte_fallback = false;
  std::string_view charsmap;
  std::string charsmap_where;    // prefix of messages about it
  bool adds_space = true;        // before a text
  bool legacy = true;            // … and after a special token
  bool space_is_suffix = false;  // after a text instead
  bool removes_spaces = true;    // repeated ones, and those at the ends
  bool escapes_spaces = true;
  // User-defined pieces are searched for in the source before all other pieces, as in llama.cpp.
  // Or, as in SentencePiece, they stay unchanged in the normalized text and are found there: in BPE
  // before all other pieces, in Unigram by their scores.
  bool user_defined_in_source = true;
  std::optional<TokenId> unknown;  // otherwise the last piece of that type
  std::optional<TokenId> bos, eos, pad;
};

/// BOS and EOS are known by id, but not added to texts. Throws what vocabulary_of throws, and
/// Error{kMalformed} for an invalid character map.
TokenizerParts make_sentence_piece_tokenizer(const SentencePieces& settings,
                                             std::string_view where);

/// Throws Error{kMalformed} `where: …` for a piece that occurs twice or is too long.
Vocabulary vocabulary_of(std::span<const SentencePiece> pieces, std::string_view where);

/// Adds the pieces that are matched as a whole as added tokens: control, unknown and user-defined
/// pieces. User-defined ones are not special.
void add_special_pieces(std::span<const SentencePiece> pieces, TokenizerParts& parts);

}  // namespace attnviz
