// tokenizer.model, SentencePiece's file: a protocol buffer of pieces, scores and settings.
#pragma once

#include <cstddef>
#include <string_view>

#include "attnviz/core/mapped_file.h"
#include "attnviz/text/tokenizers/tokenizer_parts.h"

namespace attnviz {

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

}  // namespace attnviz
