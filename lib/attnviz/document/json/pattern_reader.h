// What JSON documents of attention say besides the run: patterns and what stands beside each token.
// Readers throw Error{kMalformed} saying where something else stands than expected.
#pragma once

#include <cstddef>
#include <vector>

#include "attnviz/document/attention_document.h"
#include "attnviz/formats/json_tree.h"

namespace attnviz {

/// The members `attention`, with what names its layers and heads, or `selected`: as the document's
/// patterns, and what they are means of. Weights are views into the tree's numbers.
void read_patterns(const JsonNode& object, AttentionDocument& document);

/// [q][k], [head][q][k] or [layer][head][q][k] without names.
void read_nested_list(const JsonNode& root, AttentionDocument& document);

/// One number a turn in each list.
TurnAttention read_turn_attention(const JsonNode& node, std::size_t n_turns);

/// Of each pattern what its queries give to no key: a list a head, in layers unless heads were
/// selected; empty of heads without a sink.
void read_sinks(const JsonNode& node, bool is_selected, AttentionDocument& document);

/// Experts and factors of every token, [layer][token][k].
std::vector<RoutedLayer> read_router(const JsonNode& node, std::size_t n_tokens);

/// The text and the tokens of each word, where both are said.
std::vector<DocumentWords::Source> read_sources(const JsonNode& object,
                                                const AttentionDocument& document);

}  // namespace attnviz
