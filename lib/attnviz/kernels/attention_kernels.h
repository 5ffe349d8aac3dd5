// Scores and mixtures of values for a block of queries of one head.
#pragma once

#include <cstddef>
#include <span>

#include "attnviz/core/tensor.h"
#include "attnviz/kernels/key_panels.h"

namespace attnviz::kernels {

/// scores(i, j) = query_i · key_(first_key + j) for the keys j of ranges[i], and perhaps for others
/// near them; the rest of `scores` stays as it is. query [n_rows, d_head], a range a row, scores
/// [n_rows, whole panels]; first_key is a multiple of KeyPanels::kKeys. No overlap.
///
/// Every score is one sum over the dimensions in order: its bits do not depend on what is computed
/// beside it.
void attention_scores(ConstMatrix query, const KeyPanels& keys, std::span<const KeyRange> ranges,
                      std::size_t first_key, Matrix scores) noexcept;

/// context_i = sum over the keys j of ranges[i] of weights(i, j) · value_(first_key + j), in order.
/// weights [n_rows, n], value [n_keys, d_value], context [n_rows, d_value]. Weights outside of
/// their row's range, from the first key of any range to the last, must be 0 and their values
/// finite. The bits of a context, but for the sign of 0, do not depend on what is beside it.
void mix_values(ConstMatrix weights, ConstMatrix value, std::span<const KeyRange> ranges,
                std::size_t first_key, Matrix context) noexcept;

}  // namespace attnviz::kernels
