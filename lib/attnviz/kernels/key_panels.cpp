// Packing of keys, compiled once per SIMD target.

#include "attnviz/kernels/products.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attnviz/kernels/key_panels.cpp"
#include <hwy/foreach_target.h>  // re-includes this file, once per target

#include <hwy/highway.h>  // this and every -inl.h come after foreach_target.h

#include "attnviz/kernels/weight_columns-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnviz::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// For vectors with a known number of blocks of four lanes.
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE
// Packs dimensions k to k + 3 of as many keys as a vector has lanes.
template <class D>
HWY_INLINE void pack_four_dimensions(D d, const float* keys, std::size_t stride, float* to) {
  const auto* const from = reinterpret_cast<const std::uint8_t*>(keys);
  const std::size_t step = stride * sizeof(float);
  hn::Vec<D> columns[4];
  HWY_UNROLL(4)
  for (std::size_t c = 0; c < 4; ++c) {
    columns[c] = every_fourth_column(d, from + c * step, step);
  }
  interleave_four(d, columns, 0, [&](std::size_t dimension, auto row) HWY_ATTR {
    hn::StoreU(row, d, to + dimension * KeyPanels::kKeys);
  });
}

#if HWY_TARGET <= HWY_AVX3
// Packs dimensions k to k + 15 of sixteen keys: whole cache lines are loaded, and half of the
// shuffles cross blocks of four lanes.
void pack_sixteen_dimensions(const float* keys, std::size_t stride, float* to) {
  const hn::Full512<float> d;
  hn::Vec<decltype(d)> columns[4][4];  // of four keys each, four dimensions apart in its blocks
  HWY_UNROLL(4)
  for (std::size_t group = 0; group < 4; ++group) {
    hn::Vec<decltype(d)> rows[4];
    HWY_UNROLL(4)
    for (std::size_t key = 0; key < 4; ++key) {
      rows[key] = hn::LoadU(d, keys + (4 * group + key) * stride);
    }
    interleave_four(d, rows, 0, [&](std::size_t dimension, auto column) HWY_ATTR {
      columns[dimension][group] = column;
    });
  }
  constexpr int kEven = 0x88;  // blocks 0 and 2 of either
  constexpr int kOdd = 0xdd;
  HWY_UNROLL(4)
  for (std::size_t dimension = 0; dimension < 4; ++dimension) {
    const auto& of = columns[dimension];
    const __m512 even01 = _mm512_shuffle_f32x4(of[0].raw, of[1].raw, kEven);
    const __m512 even23 = _mm512_shuffle_f32x4(of[2].raw, of[3].raw, kEven);
    const __m512 odd01 = _mm512_shuffle_f32x4(of[0].raw, of[1].raw, kOdd);
    const __m512 odd23 = _mm512_shuffle_f32x4(of[2].raw, of[3].raw, kOdd);
    const __m512 blocks[4] = {
        _mm512_shuffle_f32x4(even01, even23, kEven), _mm512_shuffle_f32x4(odd01, odd23, kEven),
        _mm512_shuffle_f32x4(even01, even23, kOdd), _mm512_shuffle_f32x4(odd01, odd23, kOdd)};
    HWY_UNROLL(4)
    for (std::size_t block = 0; block < 4; ++block) {
      _mm512_storeu_ps(to + (4 * block + dimension) * KeyPanels::kKeys, blocks[block]);
    }
  }
}
#endif

// Packs the first dimensions of a whole panel, four or sixteen at a time. Returns how many.
std::size_t pack_whole_panel(ConstMatrix keys, float* panel) {
  const hn::CappedTag<float, KeyPanels::kKeys> d;
  std::size_t k = 0;
#if HWY_TARGET <= HWY_AVX3
  for (; k + 16 <= keys.cols; k += 16) {
    pack_sixteen_dimensions(keys.data + k, keys.stride, panel + k * KeyPanels::kKeys);
  }
#endif
  for (; k + 4 <= keys.cols; k += 4) {
    for (std::size_t key = 0; key < KeyPanels::kKeys; key += hn::Lanes(d)) {
      pack_four_dimensions(d, keys.row_data(key) + k, keys.stride,
                           panel + k * KeyPanels::kKeys + key);
    }
  }
  return k;
}
#else
std::size_t pack_whole_panel(ConstMatrix /*keys*/, float* /*panel*/) {
  return 0;
}
#endif

// `keys` contains one panel's keys, or fewer.
void pack_panel(ConstMatrix keys, float* panel) {
  constexpr std::size_t kKeys = KeyPanels::kKeys;
  const bool is_whole = keys.rows == kKeys;
  for (std::size_t k = is_whole ? pack_whole_panel(keys, panel) : 0; k < keys.cols; ++k) {
    for (std::size_t key = 0; key < keys.rows; ++key) {
      panel[k * kKeys + key] = keys(key, k);
    }
    for (std::size_t key = keys.rows; key < kKeys; ++key) {
      panel[k * kKeys + key] = 0.0f;
    }
  }
}

}  // namespace attnviz::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnviz::kernels {
HWY_EXPORT(pack_panel);

void KeyPanels::pack(ConstMatrix keys, std::size_t first) noexcept {
  if (first % kKeys != 0) {
    for (std::size_t row = 0; row < keys.rows; ++row) {
      const std::size_t key = first + row;
      float* column = panels_ + key / kKeys * kKeys * d_head_ + key % kKeys;
      for (std::size_t k = 0; k < keys.cols; ++k) {
        column[k * kKeys] = keys(row, k);
      }
    }
    return;
  }
  const auto pack_one = HWY_DYNAMIC_DISPATCH(pack_panel);
  for (std::size_t row = 0; row < keys.rows; row += kKeys) {
    pack_one(keys.row_block(row, HWY_MIN(kKeys, keys.rows - row)),
             panels_ + (first + row) * d_head_);
  }
}

}  // namespace attnviz::kernels
#endif  // HWY_ONCE
