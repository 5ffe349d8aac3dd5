// Scores and softmax for a block of queries of one head.
#pragma once

#include <cstddef>
#include <span>

#include "attnviz/core/tensor.h"

namespace attnviz::kernels {

/// scores(i, j) = scale · (query_i · key_j). query [n_rows, d_head], scores [n_rows, n_keys];
/// blocks of queries and ranges of keys are views.
///
/// key_transposed is [d_head, n_keys]: with keys side by side, one vector holds the scores of
/// neighbouring keys, and no sum across lanes is needed. No overlap with scores. The bits of a
/// score do not depend on its neighbours.
void attention_scores(ConstMatrix query, ConstMatrix key_transposed, float scale,
                      Matrix scores) noexcept;

/// x[i] = exp(x[i] - max x) / sum over j of exp(x[j] - max x), in place; -infinity becomes exactly
/// 0, and a row of nothing but -infinity becomes zeros. Returns false, leaving x as it was, when a
/// score is NaN or +infinity.
bool softmax(float* x, std::size_t n) noexcept;

/// No value is NaN or infinite.
bool all_finite(std::span<const float> values) noexcept;

}  // namespace attnviz::kernels
