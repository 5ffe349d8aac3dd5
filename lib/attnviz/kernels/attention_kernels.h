// Scores and softmax for a block of queries of one head.
#pragma once

#include <cstddef>

#include "attnviz/core/tensor.h"

namespace attnviz::kernels {

/// scores(i, j) = scale · (query_i · key_j) for keys [first_key, end_key) of each row; columns
/// outside are left alone. query [n_rows, d_head], key [n_keys, d_head], scores [n_rows, n_keys].
void attention_scores(ConstMatrix query, ConstMatrix key, float scale, std::size_t first_key,
                      std::size_t end_key, Matrix scores) noexcept;

/// x[i] = exp(x[i] - max x) / sum over j of exp(x[j] - max x), in place; -infinity becomes exactly
/// 0, and a row of nothing but -infinity becomes zeros. Returns false when a score is NaN or
/// +infinity.
bool softmax(float* x, std::size_t n) noexcept;

}  // namespace attnviz::kernels
