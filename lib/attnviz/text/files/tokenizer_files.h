// Tokenizers as each kind of file describes them.
#pragma once

#include <cstddef>
#include <string_view>

#include "attnviz/core/mapped_file.h"
#include "attnviz/core/unread.h"
#include "attnviz/formats/gguf_metadata.h"
#include "attnviz/formats/json_tree.h"
#include "attnviz/text/tokenizers/split_patterns.h"
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

}  // namespace attnviz
