// The attention JSON format `attnviz.attention/1`, written as a stream.
#pragma once

#include <string>

#include "attnviz/attention/engine.h"
#include "attnviz/attention/pattern_store.h"
#include "attnviz/core/byte_sink.h"
#include "attnviz/model/model.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz {

/// Writes one document on one line, ending in '\n'. Numbers are the shortest decimals that read
/// back to the same float. Invalid UTF-8 in the text or in a token is written as `\xFF`. Heads that
/// are no rectangle of layers × heads are written as `selected`.
void write_attention_json(const Model& model, const TokenizedText& text,
                          const AttentionRequest& request, const PatternStore& patterns,
                          const ByteSink& sink);

}  // namespace attnviz
