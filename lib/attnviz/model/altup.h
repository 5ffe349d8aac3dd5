// Several residual streams, of which each layer computes with one: Gemma 3n.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "attnviz/model/transformer_parts.h"

namespace attnviz {

/// Alternating Updates (Baykal et al. 2023): the embeddings x0 become n_streams streams [n_tokens,
/// d_model], X_0 = x0 and X_i = x0 · enter[i - 1] with the root mean square of x0. What leaves the
/// last layer is the mean of X_0 and the X_i · leave[i - 1] with the root mean square of X_0.
struct AltUp {
  std::vector<Projection> enter;  // [n_streams - 1], each [d_model, d_model]; empty: one stream
  std::vector<Projection> leave;  // as many, of the same shape
  std::size_t active = 0;         // the stream that layers compute with, less than n_streams()

  bool present() const noexcept { return !enter.empty(); }
  std::size_t n_streams() const noexcept { return enter.size() + 1; }
};

/// What a layer does with the streams X. With a the active one and m(x) = tanh(norm(x) / d_model ·
/// router), it predicts Y_j = X_j + Σ_i C_ji X_i, C = m(X_a) · prediction; attention and MLP make z
/// of Y_a; and it corrects X_j = Y_j + (1 + c_j)(z - Y_a), c = m(z) · correction. A LayerInput
/// looks at the corrected X_a ∘ input_scale, and is added to all streams but X_0.
struct AltUpLayer {
  Norm norm;              // [d_model]
  Projection router;      // [d_model, n_streams]
  Projection prediction;  // [n_streams, n_streams²]: of each stream that is predicted all others'
  Projection correction;  // [n_streams, n_streams]
  std::span<const float> input_scale = {};  // [d_model], or empty

  bool present() const noexcept { return !router.weight.empty(); }
};

/// A learned augmented residual (Menghani et al. 2024): with y what attention looks at, the stream
/// behind attention is (x + attention + y + norm(y · left · right)) / √2.
struct Laurel {
  Projection left;   // [d_model, rank]
  Projection right;  // [rank, d_model]
  Norm norm;         // [d_model]

  bool present() const noexcept { return !left.weight.empty(); }
};

}  // namespace attnviz
