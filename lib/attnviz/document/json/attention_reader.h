// Attention computed by any tool, read as documents: our JSON, nested lists, NumPy arrays.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/document/attention_document.h"

namespace attnviz {

/// Tokens for a file that has none, or in place of its own.
struct GivenTokens {
  std::optional<std::vector<std::string>> queries;
  std::optional<std::vector<std::string>> keys;  // absent: as the queries, when as many
};

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

}  // namespace attnviz
