// Softmax of rows of scores.
#pragma once

#include <cstddef>
#include <limits>
#include <span>

#include "attnviz/core/tensor.h"
#include "attnviz/kernels/key_panels.h"

namespace attnviz::kernels {

/// A logit beside those of all keys, whose weight goes to no key: a learned sink (gpt-oss, OpenAI
/// 2025; Miller 2023, "Attention Is Off By One"). Minus infinity: there is none.
struct SoftmaxSink {
  float logit = -std::numeric_limits<float>::infinity();
  std::span<float> weights = {};  // gets the sink's weight of each row; or empty
};

/// In place: x[i] = exp(factor · (x[i] - max x)) / sum over j of exp(factor · (x[j] - max x)),
/// factor in (0, 2e38]; -infinity becomes exactly 0, and a row of nothing but -infinity becomes
/// zeros. A weight below 1.2e-38 (2^-126, about e^-87.3), which floats hold only as subnormal
/// numbers, is 0 as well. Returns false when a score is NaN or +infinity, or the largest one times
/// the factor is not finite; x is of no use then. The sink's logit, which the factor leaves as it
/// is, is one more term of the sum.
bool softmax(float* x, std::size_t n, float factor, const SoftmaxSink& sink = {}) noexcept;

/// The same for each row of `rows`, over the keys of its range; first_key is the one of column 0,
/// and all other columns become 0. A score that is -infinity, or would be when multiplied, is
/// refused too. Returns the first row that is refused, or rows.rows.
///
/// `copy`, unless it is empty, gets the same where it is not 0, and some of the zeros: it becomes
/// the same if it holds zeros before. Its stores go past the caches: before another thread looks,
/// flush_streams(). It is of no use either when a row is refused. With it every range that is not
/// empty begins at first_key, both matrices are of whole panels of keys, and the rows of `copy` are
/// aligned to 64 bytes.
std::size_t softmax_rows(Matrix rows, std::span<const KeyRange> ranges, std::size_t first_key,
                         float factor, Matrix copy = {}, const SoftmaxSink& sink = {}) noexcept;

/// x[i] *= factor.
void scale(std::span<float> x, float factor) noexcept;

/// No value is NaN or infinite.
bool all_finite(ConstMatrix x) noexcept;
inline bool all_finite(std::span<const float> x) noexcept {
  return all_finite(ConstMatrix{x.data(), 1, x.size(), x.size()});
}

}  // namespace attnviz::kernels
