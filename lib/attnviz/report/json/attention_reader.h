// Reads attention computed by any tool as documents: our JSON, nested lists, NumPy arrays.
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

/// The requested parts of a file.
struct AskedPatterns {
  std::optional<PatternKind> kind = {};    // overrides the kind of numbers that the file states
  std::optional<AttentionPart> part = {};  // absent: as the file states, else cross
};

/// The content of one file, or of one line. Weights lie in the document's storage.
struct ReadDocument {
  AttentionDocument document;
  bool drawn_before = false;             // the file states how it was drawn
  std::optional<PatternKind> kind = {};  // the kind of numbers that the file states
};

/// Returns one document, or several for JSON lines of `attnviz.attention/1`. Also reads a nested
/// JSON list or an .npy array of [q][k], [head][q][k] or [layer][head][q][k]. Tokens without names
/// are called by their indices.
///
/// In scores, as stated by the file or the argument, null and -Infinity are masked: minus infinity.
///
/// `name` begins every message. Throws Error{kMalformed}, Error{kUnsupported}, and Error{kUsage} if
/// the number of given tokens differs from the file's, or if a part is requested and the file has
/// none.
std::vector<ReadDocument> read_attention(std::string_view bytes, std::string_view name,
                                         const GivenTokens& tokens,
                                         const AskedPatterns& asked = {});

// The contents of JSON documents of attention other than the run: patterns, and data about each
// token. Readers throw Error{kMalformed} with the location of an unexpected value.

/// Reads `attention`, with the names of its layers and heads, or `selected`, as the document's
/// patterns, and the heads that means are made of. Weights are views into the tree's numbers.
void read_patterns(const JsonNode& object, AttentionDocument& document);

/// [q][k], [head][q][k] or [layer][head][q][k] without names.
void read_nested_list(const JsonNode& root, AttentionDocument& document);

/// Reads lists with one number per turn.
TurnAttention read_turn_attention(const JsonNode& node, std::size_t n_turns);

/// Reads the weights that the queries of each pattern put on learned sinks: one list per head,
/// grouped by layers unless heads were selected; empty for heads without a sink.
void read_sinks(const JsonNode& node, bool is_selected, AttentionDocument& document);

/// Reads the experts and factors of every token, [layer][token][k].
std::vector<RoutedLayer> read_router(const JsonNode& node, std::size_t n_tokens);

/// Reads the text range and token ids of each word, if the document has both.
std::vector<DocumentWords::Source> read_sources(const JsonNode& object,
                                                const AttentionDocument& document);

}  // namespace attnviz
