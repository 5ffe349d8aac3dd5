// Whether heads copy: what they write of the tokens that they look at, by their weights alone.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "attnviz/attention/pattern_sink.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// Σλ / Σ|λ| over the eigenvalues λ of W_E W_V W_O W_U [n_vocab, n_vocab] of each head: 1 where
/// what it looks at becomes more probable, -1 where less. Nothing where all are 0; empty when the
/// model has no such product: no embeddings of ids, no unembedding, or more than sums and the last
/// norm between them (BERT).
///
/// Norms on the way are folded in, up to their scale: the weights of the one that reads, of one
/// behind attention and of the last, and of LayerNorms that the mean is taken out. Biases,
/// positions and soft caps are left out. Throws Error{kMalformed} when a product is not finite.
///
/// Source  Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits", from the
///         [d_value, d_value] matrix W_O W_U W_E W_V, which has the same eigenvalues but for zeros.
std::vector<std::optional<double>> copying_scores(const Model& model,
                                                  const std::vector<HeadId>& heads,
                                                  std::size_t n_threads);

/// The standard deviation of random heads' scores, whose mean is 0: measured for 8, 32 and 64.
inline double random_copying_sd(std::size_t d_value) noexcept {
  return 1.7 / static_cast<double>(d_value);
}

}  // namespace attnviz
