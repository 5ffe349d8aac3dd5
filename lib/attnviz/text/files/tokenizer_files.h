// Tokenizers as each kind of file describes them.
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
/// llama  SentencePiece's BPE: the piece with the highest score is merged first; bytes stand for
///        what is no piece.
/// gpt2   byte-level BPE by merges; `tokenizer.ggml.pre` names how texts are cut into words.
/// gemma4 SentencePiece's BPE by merges in place of scores, cut at line ends.
/// bert   WordPiece; pieces that begin a word are written with a ▁ in front.
/// t5     SentencePiece's Unigram, with its character map.
///
/// Texts become the ids that llama.cpp makes of them: they are not normalized but for what the
/// model itself does, and an id of a special token that is outside of the vocabulary counts as not
/// said. Whether BOS and EOS are added is as the file says, else as usual for the model.
///
/// Throws Error{kMalformed} `file: key: …`, Error{kUnsupported} for other models, for a way of
/// cutting that is not known and for a key of which it is not known what it changes, and Error{kIo}
/// when there is no tokenizer at all. Source:
/// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md; llama.cpp's llama-vocab.cpp.
TokenizerParts read_gguf_tokenizer(const GgufMetadata& metadata);

/// The keys that were not read: harmless ones, each with the reason, and unknown ones, which
/// llama.cpp has no names for. Throws Error{kUnsupported} for one that llama.cpp knows and whose
/// value is not 0, false, empty or known to be harmless.
UnreadKeys unread_tokenizer_keys(const GgufMetadata& metadata);

/// `name` stands in front of every message. With `legacy` (as transformers calls it) a text behind
/// a special token gets a leading space too; without `may_add_space` no text gets one, whatever the
/// file says. BOS and EOS are known by id, but not added.
/// Throws Error{kMalformed} where the file breaks the format, and Error{kUnsupported} for model
/// types other than BPE and Unigram.
/// Source: sentencepiece_model.proto; encoding of protocol buffers.
TokenizerParts read_sentencepiece_model(std::string_view bytes, std::string_view name, bool legacy,
                                        bool may_add_space = true);

/// The same of T5's spiece.model: EOS is added behind a text, and `n_extra` tokens that stand for
/// gaps are numbered behind the pieces, the last of them <extra_id_0>.
TokenizerParts read_t5_model(std::string_view bytes, std::string_view name, std::size_t n_extra);

/// The same of Marian's source.spm or target.spm, whose pieces have the ids of a vocab.json for
/// both;
/// </s> is added behind a text. What begins with >> and ends with << in it names a language.
TokenizerParts read_marian_model(const NamedBytes& model, const NamedBytes& vocabulary);

/// `name` stands in front of every message. Throws Error{kMalformed} for what is not as it should
/// be, with its path, and Error{kUnsupported} for stages that there are not. Ids of special tokens
/// are told by their usual names.
TokenizerParts read_tokenizer_json(std::string_view bytes, std::string_view name);

/// One of "added_tokens" but for its id. Throws Error{kMalformed} at a member that is wrong.
AddedToken read_added_token(const JsonNode& node, TokenId id);

/// Sets those special ids that are not known yet and whose usual names are tokens.
void find_special_ids(TokenizerParts& parts);

/// Byte-level BPE: {"piece": id, …}, and merges as lines `left right` in order of rank, after a
/// line `#version`. Throws Error{kMalformed}.
TokenizerParts read_gpt2_files(const NamedBytes& vocabulary, const NamedBytes& merges,
                               bool add_prefix_space);

/// Texts are cut by `pattern`, bytes are characters: all stages but the model of a byte-level one.
void use_byte_level_words(TokenizerParts& parts, const SplitPattern& pattern);

/// BERT's normalization, and words cut at white space and punctuation.
void use_bert_words(TokenizerParts& parts, const BertNormalization& normalization);

/// Makes a tokenizer of GPT-2's files cut and normalize (NFC) as Qwen2 and Qwen3 do.
void use_qwen2_words(TokenizerParts& parts);

/// WordPiece: a piece a line, numbered from 0; `unknown` is that which stands for what they lack.
/// Throws Error{kMalformed}.
TokenizerParts read_bert_vocabulary(const NamedBytes& vocabulary,
                                    const BertNormalization& normalization,
                                    std::string_view unknown = "[UNK]");

// Which of transformers' tokenizers reads a folder's files: files of one form differ by it. Tokens
// that the settings beside a tokenizer add to it.

/// Files that hold less than a tokenizer.json.
enum class VocabularyForm {
  kByteLevelBpe,   // vocab.json with merges.txt
  kWordPiece,      // vocab.txt
  kSentencePiece,  // tokenizer.model
  kT5,             // spiece.model
};

struct TokenizerClass {
  std::string name;   // "RobertaTokenizer", also for …TokenizerFast; empty when nobody says it
  std::string where;  // in front of messages: "config.json: model_type: "

  /// RoBERTa, BART and their like: <s> … </s> around a text, and a <mask> that takes the space
  /// before it.
  bool is_like_roberta() const;
};

/// As AutoTokenizer does: tokenizer_class of tokenizer_config.json, that of config.json, the class
/// of config.json's model_type. Throws Error{kUnsupported}, naming the key, for a class whose
/// tokenizer makes other ids of such files than those that attnviz knows.
TokenizerClass find_tokenizer_class(const std::filesystem::path& folder,
                                    const TokenizerSettings& settings, VocabularyForm form,
                                    OpenFiles& files);

/// Beside a file of a vocabulary alone: tokens with ids take the place of those that the file's own
/// names suggest; then those that are only named, with their id in the vocabulary or the next one
/// behind it. `lstrip_of_mask` as TokenizerSettings::named_tokens() has it.
void add_own_tokens(TokenizerParts& parts, const TokenizerSettings& settings,
                    bool lstrip_of_mask = false);

/// Beside a tokenizer.json: those that it lacks, as transformers' PreTrainedTokenizerFast adds
/// them; for those that it has, the flags (lstrip and such) that added_tokens_decoder says. Flags
/// of tokens that are only named are of no account: transformers 5 takes tokenizer.json's for them
/// (PreTrainedTokenizerBase._from_pretrained()). Throws Error{kUnsupported} where the settings give
/// one another id than that would have.
void add_missing_tokens(TokenizerParts& parts, const TokenizerSettings& settings);

// SentencePiece's pieces and settings, whatever file they come from, and the tokenizer they make.

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
  std::vector<SentencePiece> pieces;  // by id; different ones, scores that are finite
  bool is_unigram = false;            // else BPE
  bool byte_fallback = false;
  std::string_view charsmap;
  std::string charsmap_where;    // stands in front of messages about it
  bool adds_space = true;        // in front of a text
  bool legacy = true;            // … and of what follows a special token
  bool space_is_suffix = false;  // it stands behind a text instead
  bool removes_spaces = true;    // more than one, and at the ends
  bool escapes_spaces = true;
  // User-defined pieces are found in the source, before all else, as llama.cpp finds them; or in
  // the normalized text, which has them as they are, as SentencePiece does: in BPE before all else,
  // in Unigram by their scores.
  bool user_defined_in_source = true;
  std::optional<TokenId> unknown;  // else the last piece of that type
  std::optional<TokenId> bos, eos, pad;
};

/// BOS and EOS are known by id, but not added to texts. Throws what vocabulary_of throws, and
/// Error{kMalformed} for a faulty character map.
TokenizerParts make_sentence_piece_tokenizer(const SentencePieces& settings,
                                             std::string_view where);

/// Throws Error{kMalformed} `where: …` for a piece that comes twice or is too long.
Vocabulary vocabulary_of(std::span<const SentencePiece> pieces, std::string_view where);

/// Makes added tokens of pieces that are found as a whole: control pieces, unknown ones and
/// user-defined ones, the last of these not special.
void add_special_pieces(std::span<const SentencePiece> pieces, TokenizerParts& parts);

}  // namespace attnviz
