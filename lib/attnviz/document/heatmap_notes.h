// What is said below a picture of attention.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "attnviz/document/attention_document.h"

namespace attnviz {

/// Whether learned sinks get a column. Of weights that nobody kept none is drawn.
bool draws_sinks(const AttentionDocument& document);

/// The lines that each of the documents says, and what they differ in.
std::vector<std::string> shared_notes(std::span<const AttentionDocument> documents);

}  // namespace attnviz
