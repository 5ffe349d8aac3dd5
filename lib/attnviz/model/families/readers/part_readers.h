// What T5 and Marian have beside other transformers: relative positions and cross-attention. AltUp
// and LAuReL of a model's files: Gemma 3n. Reads attention whose heads read latents. The experts of
// a family's layers. Reads the states that a family's layers have instead of attention, or beside
// it.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/tensor.h"
#include "attnviz/model/families/traits.h"

namespace attnviz {

/// What a decoder's layer looks at another text with: as many heads, of the same width, as look at
/// its own text. Throws as WeightReader does.
CrossAttention read_cross(const Traits& traits, const LayerNaming& named, const LayerTraits& shape,
                          WeightReader& weights);

/// Of the layer behind those `before`: a table of its own, or that of the first one. Throws as
/// WeightReader does.
std::shared_ptr<const DistanceBias> read_distance_bias(const Traits& traits,
                                                       const LayerNaming& named,
                                                       std::size_t n_heads,
                                                       std::span<const LayerWeights> before,
                                                       WeightReader& weights);

/// The number of the bucket that a key falls into which is `distance` tokens away from its query,
/// in 0 … n_buckets - 1: near ones have a bucket each, farther ones share some that get wider with
/// the logarithm, and all from `most_distance` on the last one. Precondition: 2 <= n_buckets.
/// Source: Raffel et al. 2020, section 2.1, and their published code.
std::size_t distance_bucket(std::size_t distance, std::size_t n_buckets,
                            std::size_t most_distance) noexcept;

/// Of a table [n_buckets, n_heads]. `both_ways`: half of the buckets are for keys behind their
/// query; else these count as none away. Precondition: at least 2 buckets, or 4 both ways.
DistanceBias distance_bias(ConstMatrix table, std::size_t most_distance, bool both_ways);

/// Finds the table of embeddings that both stacks share, which files have under one or all of its
/// names: without "shared.weight", that of a stack is used or, `with_unembedding`, lm_head. Throws
/// Error{kUnsupported} when the table of a stack has other numbers.
void share_embeddings(WeightReader& weights, bool with_unembedding);

/// Throws Error{kMalformed} behind `where` unless there are enough of them, and Error{kUnsupported}
/// for distances that no text has.
void check_buckets(std::string_view where, const DistanceBuckets& buckets);

/// What a model's streams enter and leave by. Throws what `weights` throw; so do the others.
AltUp read_altup(const Traits& traits, WeightReader& weights);

/// What one layer does with them.
AltUpLayer read_altup_layer(const Traits& traits, const LayerNaming& named, WeightReader& weights);

/// Its learned residual.
Laurel read_laurel(const Traits& traits, const LayerNaming& named, WeightReader& weights);

/// The latents and heads of one layer. Throws as read_transformer() does.
/// Precondition: the traits have latents.
void read_latent_heads(const Traits& traits, const LayerNaming& named, const LayerTraits& shape,
                       WeightReader& weights, LayerWeights& layer);

/// Whether a layer has experts.
bool has_experts(const Traits& traits, std::size_t layer);

/// The experts of a layer whose tensors are `named`. Throws Error{kMalformed} where tensors and
/// traits contradict each other, and for a router that takes more experts or groups than there are.
Experts read_experts(const Traits& traits, const LayerNaming& named, WeightReader& weights);

/// Those of a layer whose tensors are `named`. Throws Error{kMalformed} where tensors and traits
/// contradict each other, and for shapes that make no whole heads.
Recurrence read_states(const Traits& traits, const LayerNaming& named, WeightReader& weights);

/// What a config's list calls each layer, one of `known`; nothing without such a list. Throws
/// Error{kMalformed} for another number of names than layers, Error{kUnsupported} for other names.
std::optional<std::vector<std::string>> listed_layers(
    const HfConfig& config, std::string_view key, std::size_t n_layers,
    std::initializer_list<std::string_view> known);

/// Of a config's "time_step_limit": [least, most]. Throws Error{kMalformed} for anything else.
void read_step_limit(const HfConfig& config, Recurrence& shape);

}  // namespace attnviz
