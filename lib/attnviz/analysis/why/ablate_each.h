// What a prediction owes to each head, each layer's attention and each MLP: runs without it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "attnviz/analysis/why/prediction_change.h"
#include "attnviz/attention/interventions.h"
#include "attnviz/attention/request.h"
#include "attnviz/model/model.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz {

enum class AblatedPart {
  kHeads,
  kMlps,    // none in a model without
  kLayers,  // all heads of a layer
};

struct AblationEffect {
  Ablation what;
  PredictionChange change;
};

/// Each part taken out alone, at every position: in the order of `parts`, then by layer, then head.
/// What request.interventions take out stays out in all runs, as they have it (0 or its mean), the
/// run that changes are measured against among them: a part that is out already changes nothing, by
/// exactly 0. Means are those of a run without any, as an Intervener's.
///
/// Below a part nothing changes, so only its layer and those above it run again.
/// request.report is told the share of the parts that are done.
///
/// Throws Error{kUsage} for a target outside of the vocabulary, Error{kUnsupported} for a model
/// that predicts nothing, and what run() throws.
std::vector<AblationEffect> ablate_each(const Model& model, const TokenizedText& text,
                                        const AttentionRequest& request, std::uint32_t target,
                                        std::span<const AblatedPart> parts, bool by_mean);

/// Bytes that it takes at most, beside the model; an estimate.
double ablation_bytes(const Model& model, std::size_t n_tokens);

}  // namespace attnviz
