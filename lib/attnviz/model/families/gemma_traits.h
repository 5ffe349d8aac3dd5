// The common parts of Gemma 3n and Gemma 4.
#pragma once

#include <cstddef>
#include <vector>

#include "attnviz/model/families/families.h"

namespace attnviz {

/// Queries and keys are normed, and values without weights; scores are not scaled; attention and
/// MLP are followed by norms, too; each token has embeddings of its own for layers, `layer_inputs`
/// numbers wide unless the config sets it. Mask and rotation are left to the family.
Traits unscaled_gemma_traits(const HfConfig& config, const ConfigDefaults& defaults,
                             std::size_t layer_inputs);

/// "num_kv_shared_layers": how many of the last layers take the keys and values of layers before
/// them. Throws Error{kMalformed} unless fewer than `n_layers`.
std::size_t n_sharing_layers(const HfConfig& config, std::size_t n_layers, std::size_t otherwise);

// Gemma 3n: defaults for c of the logits' soft cap and for the number of streams, and the most
// streams allowed.
inline constexpr double kGemma3nLogitCap = 30.0;
inline constexpr std::size_t kGemma3nStreams = 4;
inline constexpr std::size_t kMostGemma3nStreams = 64;

/// The default sparsity of Gemma 3n's MLPs: in the first ten layers, if the model has more than
/// ten.
std::vector<double> gemma3n_sparsities(std::size_t n_layers);

}  // namespace attnviz
