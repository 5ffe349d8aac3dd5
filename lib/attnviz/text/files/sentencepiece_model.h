// tokenizer.model, SentencePiece's file: a protocol buffer of pieces, scores and settings.
#pragma once

#include <string_view>

#include "attnviz/text/tokenizers/tokenizer_parts.h"

namespace attnviz {

/// `name` stands in front of every message. With `legacy` (as transformers calls it) a text behind
/// a special token gets a leading space too. BOS and EOS are known by id, but not added.
/// Throws Error{kMalformed} where the file breaks the format, and Error{kUnsupported} for model
/// types other than BPE and Unigram.
/// Source: sentencepiece_model.proto; encoding of protocol buffers.
TokenizerParts read_sentencepiece_model(std::string_view bytes, std::string_view name, bool legacy);

}  // namespace attnviz
