// Tokens of documents that are no plain words of a text, and pictures without them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "attnviz/document/attention_document.h"
#include "attnviz/document/heatmap.h"

namespace attnviz {

/// What stays of the marks where tokens that the tokenizer added, or the first one, are left out;
/// those of keys that are others are numbered behind the queries. Where sinks are drawn they are
/// what `drop_sink` leaves out.
TokenMarks shown_marks(const AttentionDocument& document, bool draws_sinks);

/// The tokens that the tokenizer added, in quotes, each once, in order; of keys that are others
/// behind those of the queries.
std::vector<std::string> added_tokens(const AttentionDocument& document);
/// How many there are.
std::size_t n_added(const AttentionDocument& document);

/// The panels without them. Throws Error{kUsage} where nothing would be left.
Heatmap without_added(const Heatmap& heatmap, const AttentionDocument& document);

}  // namespace attnviz
