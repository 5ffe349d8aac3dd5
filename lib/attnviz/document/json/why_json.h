// Why a model predicts what it does, as JSON (attnviz.why/1) and CSV.
#pragma once

#include "attnviz/core/byte_sink.h"
#include "attnviz/document/why_document.h"

namespace attnviz {

void write_why_json(const WhyDocument& document, const ByteSink& sink);

/// A row for each part: each head, MLP and the like, with what it wrote into the logits and what is
/// lost without it; each "word" with its tokens, what is lost without it and the attention to it;
/// each point of the lens ("lens_in", "lens_attention", "lens_out") with the target's logprob and
/// rank (0: the most probable). `top` is the most probable token there, or without the part. Or of
/// a split score for each pair of parts. Cells of what a part does not have, or nobody asked for,
/// are empty.
void write_why_csv(const WhyDocument& document, const ByteSink& sink);

}  // namespace attnviz
