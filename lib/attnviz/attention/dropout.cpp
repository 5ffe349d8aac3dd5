#include "attnviz/attention/dropout.h"

#include "attnviz/core/random_bits.h"

namespace attnviz {

void Dropout::apply(HeadId head, std::size_t query, std::size_t first_key,
                    std::span<float> weights) const noexcept {
  const RandomBits bits{seed, head.layer, head.head, query};
  const float factor = 1.0f / (1.0f - rate);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    // 24 bits become a float in [0, 1) without rounding.
    const float uniform = static_cast<float>(bits[first_key + i] >> 40) * 0x1p-24f;
    weights[i] = uniform < rate ? 0.0f : weights[i] * factor;
  }
}

}  // namespace attnviz
