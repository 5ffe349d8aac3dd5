// Scores, softmax and mixtures of values for a block of queries of one head.
#pragma once

#include <cstddef>
#include <span>

#include "attnviz/core/tensor.h"
#include "attnviz/kernels/key_panels.h"

namespace attnviz::kernels {

/// Keys [first, end).
struct KeyRange {
  std::size_t first = 0;
  std::size_t end = 0;

  std::size_t size() const noexcept { return end - first; }
  bool operator==(const KeyRange&) const = default;
};

/// scores(i, j) = query_i · key_(first_key + j) for the keys j of ranges[i], and perhaps for others
/// near them; the rest of `scores` stays as it is. query [n_rows, d_head], a range a row, scores
/// [n_rows, whole panels]; first_key is a multiple of KeyPanels::kKeys. No overlap.
///
/// Every score is one sum over the dimensions in order: its bits do not depend on what is computed
/// beside it.
void attention_scores(ConstMatrix query, const KeyPanels& keys, std::span<const KeyRange> ranges,
                      std::size_t first_key, Matrix scores) noexcept;

/// In place: x[i] = exp(factor · (x[i] - max x)) / sum over j of exp(factor · (x[j] - max x)),
/// factor > 0; -infinity becomes exactly 0, and a row of nothing but -infinity becomes zeros. What
/// is less than 2^-100 before the division is 0. Returns false, leaving x as it was, when a score
/// is NaN or +infinity, or the largest one times the factor is not finite.
bool softmax(float* x, std::size_t n, float factor) noexcept;

/// The same for each row of `rows`, over the keys of its range; first_key is the one of column 0,
/// and all other columns become 0. A score of -infinity is refused too. Returns the first row that
/// is refused, or rows.rows.
std::size_t softmax_rows(Matrix rows, std::span<const KeyRange> ranges, std::size_t first_key,
                         float factor) noexcept;

/// context_i = sum over the keys j of ranges[i] of weights(i, j) · value_(first_key + j), in order.
/// weights [n_rows, n], value [n_keys, d_value], context [n_rows, d_value]. Weights outside of
/// their row's range, but inside of another's, must be 0 and their values finite.
void mix_values(ConstMatrix weights, ConstMatrix value, std::span<const KeyRange> ranges,
                std::size_t first_key, Matrix context) noexcept;

/// x[i] *= factor.
void scale(std::span<float> x, float factor) noexcept;

/// No value is NaN or infinite.
bool all_finite(std::span<const float> values) noexcept;

}  // namespace attnviz::kernels
