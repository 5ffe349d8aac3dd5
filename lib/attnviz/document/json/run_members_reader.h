// Reads what a document of attention says of its run beside the weights.
#pragma once

#include <cstddef>
#include <vector>

#include "attnviz/document/attention_document.h"
#include "attnviz/formats/json_tree.h"

namespace attnviz {

// These throw Error{kMalformed} for numbers that do not fit the document's.

/// One number a turn in each list.
TurnAttention read_turn_attention(const JsonNode& node, std::size_t n_turns);

/// Of each pattern what its queries give to no key: a list a head, in layers unless heads were
/// selected; empty of heads without a sink. The document has its patterns and tokens.
void read_sinks(const JsonNode& node, bool is_selected, AttentionDocument& document);

/// Experts and factors of every token, [layer][token][k].
std::vector<RoutedLayer> read_router(const JsonNode& node, std::size_t n_tokens);

}  // namespace attnviz
