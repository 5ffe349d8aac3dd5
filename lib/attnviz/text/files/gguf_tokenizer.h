// The tokenizer in a GGUF file's metadata.
#pragma once

#include "attnviz/formats/gguf_metadata.h"
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

}  // namespace attnviz
