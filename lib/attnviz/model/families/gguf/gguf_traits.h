// What the readers of GGUF architectures have in common.
#pragma once

#include <functional>

#include "attnviz/formats/gguf_metadata.h"
#include "attnviz/model/families/gguf/gguf_keys.h"
#include "attnviz/model/families/traits.h"

namespace attnviz {

/// Shapes and names. Files of any architecture may have fused matrices and biases of queries, keys
/// and values; further tensors are read only for architectures that have them. Layers at the end
/// that predict tokens further ahead are left out and their tensors passed over. Throws
/// Error{kMalformed} for numbers that are missing or contradict each other, Error{kUnsupported} for
/// experts unless there may be some. Heads of latents are as wide as read_gguf_latents() says.
Traits gguf_traits(const GgufMetadata& metadata, WeightReader& weights,
                   NormKind norm_kind = NormKind::kRms, bool may_have_experts = false,
                   bool has_latents = false);

/// Experts, where "expert_count" says that there are some: how many of them, and where their
/// tensors are, also those of files from before April 2024, which have a tensor for each. What
/// else `experts` are is the architecture's.
void read_gguf_experts(const GgufMetadata& metadata, const WeightReader& weights,
                       ExpertTraits experts, Traits& traits);

/// Granite: Llama with multipliers.
Traits granite_traits(const GgufMetadata& metadata, WeightReader& weights, bool may_have_experts);

/// Rotary positions that are the same in all layers.
void rotate_all(const GgufMetadata& metadata, WeightReader& weights, Traits& traits,
                RopePairing pairing = RopePairing::kHalves, bool has_factors = false);

using IsSliding = std::function<bool(std::size_t layer)>;

/// All but every n-th layer.
IsSliding all_but_every(std::size_t n);

/// What "attention.sliding_window_pattern" lists by layer, or all but every n-th for a number n in
/// it; `otherwise` is that number where the file says nothing.
IsSliding sliding_pattern(const GgufMetadata& metadata, std::size_t otherwise);

/// window:"attention.sliding_window" where `is_sliding` says so. 0: in no layer.
void slide(const GgufMetadata& metadata, std::size_t otherwise, const IsSliding& is_sliding,
           Traits& traits);

/// "attention.scale", "logit_scale" and the like, which are neutral at `neutral` and may be absent.
double scale_of(const GgufMetadata& metadata, std::string_view name, double neutral);

}  // namespace attnviz
