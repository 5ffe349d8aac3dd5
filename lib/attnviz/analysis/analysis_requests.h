// What people ask of the analysis of attention, as plain values: for options, which know nothing of
// how it is computed.
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

/// What a layer's heads become in a rollout.
enum class RolloutOver { kMean, kMax };

inline constexpr std::array kRolloutOvers = {Choice{"mean", RolloutOver::kMean},
                                             Choice{"max", RolloutOver::kMax}};

struct RolloutRequest {
  RolloutOver over = RolloutOver::kMean;
  float residual = 0.5f;  // share of the residual stream, in [0, 1)
  bool weighted = false;  // by what each token would pass on: A[q][k] · ‖f(x_k)‖ in place of A
};

/// What a cell shows of the weights under it.
enum class PoolKind { kAuto, kMax, kMean };

inline constexpr std::array kPools = {Choice{"auto", PoolKind::kAuto},
                                      Choice{"max", PoolKind::kMax},
                                      Choice{"mean", PoolKind::kMean}};

/// Parts of a model that are left out, each alone.
enum class AblatedPart {
  kHeads,
  kMlps,    // none in a model without
  kLayers,  // all heads of a layer
};

}  // namespace attnviz
