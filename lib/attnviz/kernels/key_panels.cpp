// Packing of keys, compiled once per SIMD target.

#include "attnviz/kernels/key_panels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attnviz/kernels/key_panels.cpp"
#include <hwy/foreach_target.h>  // re-includes this file, once per target

#include <hwy/highway.h>  // this comes after foreach_target.h

HWY_BEFORE_NAMESPACE();
namespace attnviz::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// For vectors of a known number of blocks of four lanes.
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE
// Four dimensions of the keys 0, 4, 8, … in the blocks of one vector.
template <class D>
HWY_INLINE hn::Vec<D> every_fourth_key(D d, const float* from, std::size_t stride) {
  if constexpr (hn::MaxLanes(D()) == 4) {
    return hn::LoadU(d, from);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, every_fourth_key(half, from + hn::Lanes(half) * stride, stride),
                       every_fourth_key(half, from, stride));
  }
}

// The dimensions k to k + 3 of as many keys as a vector has lanes.
template <class D>
HWY_INLINE void pack_four_dimensions(D d, const float* keys, std::size_t stride, float* to) {
  const hn::RepartitionToWide<D> pairs;
  const auto key0 = every_fourth_key(d, keys, stride);
  const auto key1 = every_fourth_key(d, keys + stride, stride);
  const auto key2 = every_fourth_key(d, keys + 2 * stride, stride);
  const auto key3 = every_fourth_key(d, keys + 3 * stride, stride);
  const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, key0, key1));
  const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, key0, key1));
  const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, key2, key3));
  const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, key2, key3));
  constexpr std::size_t kStep = KeyPanels::kKeys;
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23)), d, to + kStep);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23)), d, to + 2 * kStep);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23)), d, to + 3 * kStep);
}

// The first dimensions of a whole panel, four at a time; how many that were.
std::size_t pack_whole_panel(ConstMatrix keys, float* panel) {
  const hn::CappedTag<float, KeyPanels::kKeys> d;
  std::size_t k = 0;
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

// `keys` has one panel's keys, or fewer.
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
