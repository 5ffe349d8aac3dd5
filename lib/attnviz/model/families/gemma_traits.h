// What Gemma 3n and Gemma 4 have in common.
#pragma once

#include <cstddef>
#include <vector>

#include "attnviz/model/families/families.h"

namespace attnviz {

/// Queries and keys are normed, and values without weights; scores are not scaled; norms stand
/// behind attention and MLP, too; each token has embeddings of its own for layers, of
/// `layer_inputs` numbers where a config does not say. Mask and rotation are left to the family.
Traits unscaled_gemma_traits(const HfConfig& config, const ConfigDefaults& defaults,
                             std::size_t layer_inputs);

/// "num_kv_shared_layers": so many last ones of `n_layers` take the keys and values of those before
/// them. Throws Error{kMalformed} when that is all.
std::size_t n_sharing_layers(const HfConfig& config, std::size_t n_layers, std::size_t otherwise);

// Of Gemma 3n: c of the logits' soft cap and how many streams there are where a file does not say
// so, and how many there may be.
inline constexpr double kGemma3nLogitCap = 30.0;
inline constexpr std::size_t kGemma3nStreams = 4;
inline constexpr std::size_t kMostGemma3nStreams = 64;

/// The sparsity of Gemma 3n's MLPs where a file says nothing of it: the first ten layers', if there
/// are more.
std::vector<double> gemma3n_sparsities(std::size_t n_layers);

}  // namespace attnviz
