// The inspection JSON format `attnviz.inspection/1`, written as a stream.
#pragma once

#include <span>
#include <string>

#include "attnviz/analysis/inspection.h"
#include "attnviz/core/byte_sink.h"
#include "attnviz/model/model.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz {

/// Writes one document on one line, ending in '\n': for each head its weights, what it computes for
/// all queries (when the inspections hold it), and what it computes for the one. Numbers are the
/// shortest decimals that read back to the same float; masked scores are null. Precondition: at
/// least one inspection, all of one query and one request.
void write_inspection_json(const Model& model, const TokenizedText& text,
                           std::span<const Inspection> inspections, const ByteSink& sink);

/// The same document with nothing but its index of each head, and no matrices, as one line without
/// '\n': for a picture's metadata.
std::string inspection_facts(const Model& model, const TokenizedText& text,
                             std::span<const Inspection> inspections);

}  // namespace attnviz
