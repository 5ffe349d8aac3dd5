// What T5 and Marian have beside other transformers: relative positions and cross-attention.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

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

}  // namespace attnviz
