// Requests for the analysis of attention, as plain values: for options, which know nothing of how
// it is computed.
#pragma once

#include <array>

#include "attnviz/core/choices.h"

namespace attnviz {

/// heads   the heads of each layer: one pattern a layer.
/// layers  each head index over all layers: one pattern a head.
/// all     every chosen head: one pattern.
enum class AverageOver { kHeads, kLayers, kAll };

inline constexpr std::array kAverages = {Choice{"heads", AverageOver::kHeads},
                                         Choice{"layers", AverageOver::kLayers},
                                         Choice{"all", AverageOver::kAll}};

/// How a layer's heads are combined in a rollout.
enum class RolloutOver { kMean, kMax };

inline constexpr std::array kRolloutOvers = {Choice{"mean", RolloutOver::kMean},
                                             Choice{"max", RolloutOver::kMax}};

struct RolloutRequest {
  RolloutOver over = RolloutOver::kMean;
  float residual = 0.5f;  // share of the residual stream, in [0, 1)
  bool weighted = false;  // uses A[q][k] · ‖f(x_k)‖, what each token would pass on, instead of A
};

/// What a cell shows of the weights under it. kAuto: the largest, unless the picture decides
/// otherwise (see Heatmap::are_thumbnails).
enum class PoolKind { kAuto, kMax, kMean };

inline constexpr std::array kPools = {Choice{"auto", PoolKind::kAuto},
                                      Choice{"max", PoolKind::kMax},
                                      Choice{"mean", PoolKind::kMean}};

/// Parts of a model that are ablated, one at a time.
enum class AblatedPart {
  kHeads,
  kMlps,    // none if the model has none
  kLayers,  // all heads of a layer
};

}  // namespace attnviz
