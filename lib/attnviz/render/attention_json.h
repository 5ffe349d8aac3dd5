// The attention JSON format `attnviz.attention/1`, written as a stream.
#pragma once

#include <string>

#include "attnviz/core/byte_sink.h"
#include "attnviz/render/attention_document.h"

namespace attnviz {

/// Writes one document on one line, ending in '\n'. Numbers are the shortest decimals that read
/// back to the same float. Heads that are no rectangle of layers × heads are written as `selected`.
void write_attention_json(const AttentionDocument& document, const ByteSink& sink);

/// The same document without its weights, as one line without '\n': for a picture's metadata.
std::string attention_facts(const AttentionDocument& document);

}  // namespace attnviz
