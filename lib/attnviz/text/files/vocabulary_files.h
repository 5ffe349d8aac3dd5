// Tokenizers in the files of before tokenizer.json: GPT-2's and BERT's.
#pragma once

#include <string_view>

#include "attnviz/core/mapped_file.h"
#include "attnviz/text/tokenizers/split_patterns.h"
#include "attnviz/text/tokenizers/tokenizer_parts.h"

namespace attnviz {

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
