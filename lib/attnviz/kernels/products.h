// Matrix products: with floats, with quantised weights as dot products of bytes, and with a head's
// packed keys.
#pragma once

#include <cstddef>
#include <span>

#include "attnviz/core/stored_matrix.h"
#include "attnviz/core/tensor.h"

namespace attnviz::kernels {

/// out = x · w + bias; the rows of x are independent of each other.
///
/// x [n, d_in], w [d_in, d_out], out [n, d_out]; bias is empty or [d_out]. Nothing overlaps out. w
/// is F32, F16 or BF16, or quantised and transposed; it is computed with as floats, and only a few
/// thousand of its numbers are converted at a time. The bits of a row do not depend on the other
/// rows, those of a column not on the other columns, and none on whether w is transposed; but with
/// AVX2, quantised weights and a single row are multiplied as integers, as by integer_matmul().
void matmul(ConstMatrix x, const StoredMatrix& w, std::span<const float> bias, Matrix out) noexcept;

/// out += x · w. Shapes as above.
void matmul_add(ConstMatrix x, const StoredMatrix& w, Matrix out) noexcept;

/// out += x, element by element.
void add(ConstMatrix x, Matrix out) noexcept;

// Products with quantised weights as dot products of bytes.

/// Whether the processor has AVX-512 VNNI, and both these products and the unpacking of lanes were
/// compiled for it.
bool has_integer_products() noexcept;

/// out = x · w + bias, where bias may be null; out += x · w if `adds`. Shapes as for matmul().
///
/// Weights stay the small integers that are stored. Activations become 24-bit integers, in units of
/// a power of two for each 16 or 32 that share a scale of w: the largest is rounded at 2^-23 of
/// itself or finer, as a float is, and the others in the same unit. Their products are exact; only
/// each group's sum and the sums over groups are rounded, as floats are. A group with an activation
/// that is not finite gives NaN. The bits of a row or column do not depend on others.
///
/// Preconditions: has_integer_products(), and the SIMD target in use is the best one;
/// is_quantised(w.type).
void integer_matmul(ConstMatrix x, const StoredMatrix& w, const float* bias, bool adds,
                    Matrix out) noexcept;

// The keys of one head: ranges of them, and packed so that scores are computed fastest.

/// Keys [first, end).
struct KeyRange {
  std::size_t first = 0;
  std::size_t end = 0;

  std::size_t size() const noexcept { return end - first; }
  bool operator==(const KeyRange&) const = default;
};

/// Keys in panels of kKeys neighbours: panel p is a matrix [d_head, kKeys] whose column c is key p
/// · kKeys + c, so that one vector holds the same dimension of neighbouring keys and a tile of
/// scores reads memory in order. Columns past the last key are 0.
class KeyPanels {
 public:
  static constexpr std::size_t kKeys = 16;

  KeyPanels() = default;
  KeyPanels(std::size_t n_keys, std::size_t d_head)
      : n_keys_(n_keys), d_head_(d_head), owned_(1, n_floats(n_keys, d_head)) {
    panels_ = owned_.view().data;
  }
  /// Uses memory of the caller: n_floats(n_keys, d_head), aligned to 64 bytes; its contents do not
  /// matter.
  KeyPanels(std::size_t n_keys, std::size_t d_head, float* memory)
      : n_keys_(n_keys), d_head_(d_head), panels_(memory) {}

  static constexpr std::size_t n_floats(std::size_t n_keys, std::size_t d_head) noexcept {
    return rounded_up(n_keys) * d_head;
  }

  /// Rounds n_keys up to whole panels.
  static constexpr std::size_t rounded_up(std::size_t n_keys) noexcept {
    return (n_keys + kKeys - 1) / kKeys * kKeys;
  }

  std::size_t n_keys() const noexcept { return n_keys_; }
  std::size_t d_head() const noexcept { return d_head_; }
  const float* panel(std::size_t index) const noexcept { return panels_ + index * d_head_ * kKeys; }

  /// Packs `keys` [n, d_head], the first of which is key `first`. If `first` is a multiple of
  /// kKeys, whole panels are packed: n is a multiple of kKeys, too, unless these are the last keys.
  /// Otherwise keys are packed one by one, after those already packed. Different panels of the
  /// first form, and different keys of the second, may be packed by different threads at the same
  /// time.
  void pack(ConstMatrix keys, std::size_t first) noexcept;

 private:
  std::size_t n_keys_ = 0;
  std::size_t d_head_ = 0;
  float* panels_ = nullptr;
  MatrixBuffer owned_;
};

}  // namespace attnviz::kernels
