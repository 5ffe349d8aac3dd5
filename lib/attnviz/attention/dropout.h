// Seeded dropout of attention weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "attnviz/attention/pattern_sink.h"

namespace attnviz {

/// Whether a weight is dropped depends on (seed, layer, head, query, key) only, so that threads and
/// the order of work change nothing. Source: Srivastava et al. 2014, in the inverted form.
struct Dropout {
  float rate = 0.0f;  // in [0, 1): the share of weights that become 0
  std::uint64_t seed = 0;

  /// Weights of `query` on keys first_key, first_key + 1, …: dropped ones become exactly 0, the
  /// others are divided by 1 - rate.
  void apply(HeadId head, std::size_t query, std::size_t first_key,
             std::span<float> weights) const noexcept;
};

}  // namespace attnviz
