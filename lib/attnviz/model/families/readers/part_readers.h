// Readers of the parts that only some families have: relative positions and cross-attention (T5,
// Marian); AltUp and LAuReL (Gemma 3n); heads that read latents; experts; and states instead of
// attention, or beside it.
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

/// Reads a decoder layer's cross-attention: as many heads, of the same width, as in self-attention.
/// Throws as WeightReader does.
CrossAttention read_cross(const Traits& traits, const LayerNaming& named, const LayerTraits& shape,
                          WeightReader& weights);

/// Reads the bias of the layer that follows those in `before`: a table of its own, or the first
/// layer's. Throws as WeightReader does.
std::shared_ptr<const DistanceBias> read_distance_bias(const Traits& traits,
                                                       const LayerNaming& named,
                                                       std::size_t n_heads,
                                                       std::span<const LayerWeights> before,
                                                       WeightReader& weights);

/// The bucket, in 0 … n_buckets - 1, of a key that is `distance` tokens away from its query: near
/// keys have a bucket each, farther ones share buckets whose widths grow logarithmically, and all
/// from `most_distance` on share the last. Precondition: 2 <= n_buckets. Source: Raffel et al.
/// 2020, section 2.1, and their published code.
std::size_t distance_bucket(std::size_t distance, std::size_t n_buckets,
                            std::size_t most_distance) noexcept;

/// The bias from a table [n_buckets, n_heads]. `both_ways`: half of the buckets are for keys after
/// their query; otherwise these keys count as distance 0. Precondition: at least 2 buckets, or 4
/// both ways.
DistanceBias distance_bias(ConstMatrix table, std::size_t most_distance, bool both_ways);

/// Finds the table of embeddings that both stacks share, which files have under one or all of its
/// names: without "shared.weight", a stack's table or, `with_unembedding`, lm_head is used. Throws
/// Error{kUnsupported} when a stack's table has other numbers.
void share_embeddings(WeightReader& weights, bool with_unembedding);

/// Throws Error{kMalformed}, with `where` in front, unless the number of buckets is even, at least
/// 4, and less than twice the longest distance; and Error{kUnsupported} for distances longer than
/// any text.
void check_buckets(std::string_view where, const DistanceBuckets& buckets);

/// Reads the projections through which a model's streams enter and leave. Throws what `weights`
/// throws, as the next two do.
AltUp read_altup(const Traits& traits, WeightReader& weights);

/// Reads what one layer does with the streams.
AltUpLayer read_altup_layer(const Traits& traits, const LayerNaming& named, WeightReader& weights);

/// Reads a layer's learned augmented residual.
Laurel read_laurel(const Traits& traits, const LayerNaming& named, WeightReader& weights);

/// Reads the latents and heads of one layer. Throws as read_transformer() does. Precondition: the
/// traits have latents.
void read_latent_heads(const Traits& traits, const LayerNaming& named, const LayerTraits& shape,
                       WeightReader& weights, LayerWeights& layer);

/// Whether a layer has experts.
bool has_experts(const Traits& traits, std::size_t layer);

/// Reads the experts of a layer whose tensors are `named`. Throws Error{kMalformed} where tensors
/// and traits contradict each other, and for a router that uses more experts or groups than exist.
Experts read_experts(const Traits& traits, const LayerNaming& named, WeightReader& weights);

/// Reads the states of a layer whose tensors are `named`. Throws Error{kMalformed} where tensors
/// and traits contradict each other, and for shapes that do not divide into whole heads.
Recurrence read_states(const Traits& traits, const LayerNaming& named, WeightReader& weights);

/// The names in a config's list of layer types, each one of `known`; nullopt without the list.
/// Throws Error{kMalformed} for another number of names than layers, Error{kUnsupported} for other
/// names.
std::optional<std::vector<std::string>> listed_layers(
    const HfConfig& config, std::string_view key, std::size_t n_layers,
    std::initializer_list<std::string_view> known);

/// Reads a config's "time_step_limit": [least, most]. Throws Error{kMalformed} for anything else.
void read_step_limit(const HfConfig& config, Recurrence& shape);

}  // namespace attnviz
