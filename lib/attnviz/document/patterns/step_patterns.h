// The steps of attention as patterns of a document.
#pragma once

#include "attnviz/attention/request.h"
#include "attnviz/document/attention_document.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// Puts the numbers of `kind` in place of the weights of `document`, which are those of `model` for
/// this input and request, a pattern a head. Throws what inspect_heads() and run() throw.
void show_step(AttentionDocument& document, const Model& model, const ModelInput& input,
               const AttentionRequest& request, PatternKind kind);

/// Bytes that this takes at most beside the document, for so many heads; an estimate.
double step_bytes(const Model& model, std::span<const HeadId> heads, std::size_t n_tokens,
                  PatternKind kind) noexcept;

/// What makes weights of given scores.
struct SoftmaxRequest {
  float temperature = 1.0f;  // > 0
  float divide_by = 1.0f;    // > 0, as √d_head

  bool divides() const noexcept { return temperature != 1.0f || divide_by != 1.0f; }
};

/// Puts softmax(scores / (divide_by · temperature)) in place of the scores of `document`, over the
/// keys that its mask lets each query see and whose scores are not masked. The scores stay beside
/// the weights. A note says which queries see nothing. Throws Error{kMalformed} for scores that are
/// no numbers, and Error{kUsage} where one is too large once it is divided.
void take_softmax(AttentionDocument& document, const SoftmaxRequest& request);

/// Divides the scores of `document` alone. Throws Error{kUsage} where that is too much for a float.
void divide_scores(AttentionDocument& document, const SoftmaxRequest& request);

}  // namespace attnviz
