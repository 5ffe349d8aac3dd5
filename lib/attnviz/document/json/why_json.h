// Why a model predicts what it does, as JSON (attnviz.why/1) and CSV.
#pragma once

#include "attnviz/core/byte_sink.h"
#include "attnviz/document/why_document.h"

namespace attnviz {

void write_why_json(const WhyDocument& document, const ByteSink& sink);

/// A row for each head, MLP and other part: what it wrote into the logits, and what is lost without
/// it; or of a split score for each pair of parts. Cells of what was not asked for are empty.
void write_why_csv(const WhyDocument& document, const ByteSink& sink);

}  // namespace attnviz
