// Attention computed by any tool, read as documents: our JSON, nested lists, NumPy arrays.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/formats/json_tree.h"
#include "attnviz/report/attention_document.h"
#include "attnviz/report/report_requests.h"

namespace attnviz {

/// What of a file is wanted.
struct AskedPatterns {
  std::optional<PatternKind> kind = {};    // what its numbers are, whatever it says
  std::optional<AttentionPart> part = {};  // of an encoder-decoder; absent: as it says, else cross
};

/// What one file, or one line of it, says. Weights lie in the document's storage.
struct ReadDocument {
  AttentionDocument document;
  bool drawn_before = false;             // the file says how it was drawn
  std::optional<PatternKind> kind = {};  // what the file says that its numbers are
};

/// One document, or several when the file is JSON lines of `attnviz.attention/1`. Besides that
/// format: a nested JSON list or an .npy array of [q][k], [head][q][k] or [layer][head][q][k].
/// Where nobody names the tokens they are called by their indices.
///
/// Of scores, whether the file or the argument says so, null and -Infinity are masked ones: minus
/// infinity.
///
/// `name` stands in front of every message. Throws Error{kMalformed}, Error{kUnsupported}, and
/// Error{kUsage} when tokens were given in another number than the file has, or a part is asked for
/// and there is none.
std::vector<ReadDocument> read_attention(std::string_view bytes, std::string_view name,
                                         const GivenTokens& tokens,
                                         const AskedPatterns& asked = {});

// What JSON documents of attention say besides the run: patterns and what stands beside each token.
// Readers throw Error{kMalformed} saying where something else stands than expected.

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
