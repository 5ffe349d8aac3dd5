// Rotation of pairs, compiled once per SIMD target.

#include "attnviz/kernels/rope.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attnviz/kernels/rope.cpp"
#include <hwy/foreach_target.h>  // re-includes this file, once per target

#include <hwy/highway.h>  // this comes after foreach_target.h

HWY_BEFORE_NAMESPACE();
namespace attnviz::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Both products are rounded, so that a pair's bits are the same on every target, and in a vector as
// outside.
void turn(float& first, float& second, float cosine, float sine) {
  const float x = first;
  const float y = second;
  first = x * cosine - y * sine;
  second = x * sine + y * cosine;
}

template <class V>
HWY_INLINE void turn_vectors(V& first, V& second, V cosine, V sine) {
  const V x = first;
  const V y = second;
  first = hn::Sub(hn::Mul(x, cosine), hn::Mul(y, sine));
  second = hn::Add(hn::Mul(x, sine), hn::Mul(y, cosine));
}

void turn_halves(const float* cosines, const float* sines, std::size_t n_pairs, float* x) {
  const hn::CappedTag<float, 16> d;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= n_pairs; i += hn::Lanes(d)) {
    auto first = hn::LoadU(d, x + i);
    auto second = hn::LoadU(d, x + n_pairs + i);
    turn_vectors(first, second, hn::LoadU(d, cosines + i), hn::LoadU(d, sines + i));
    hn::StoreU(first, d, x + i);
    hn::StoreU(second, d, x + n_pairs + i);
  }
  for (; i < n_pairs; ++i) {
    turn(x[i], x[n_pairs + i], cosines[i], sines[i]);
  }
}

void turn_neighbours(const float* cosines, const float* sines, std::size_t n_pairs, float* x) {
  const hn::CappedTag<float, 16> d;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= n_pairs; i += hn::Lanes(d)) {
    hn::Vec<decltype(d)> first;
    hn::Vec<decltype(d)> second;
    hn::LoadInterleaved2(d, x + 2 * i, first, second);
    turn_vectors(first, second, hn::LoadU(d, cosines + i), hn::LoadU(d, sines + i));
    hn::StoreInterleaved2(first, second, d, x + 2 * i);
  }
  for (; i < n_pairs; ++i) {
    turn(x[2 * i], x[2 * i + 1], cosines[i], sines[i]);
  }
}

void rope_rotate(ConstMatrix table, RopePairing pairing, Matrix x) {
  const std::size_t n_pairs = table.cols / 2;
  const auto turn_row = pairing == RopePairing::kHalves ? turn_halves : turn_neighbours;
  for (std::size_t r = 0; r < x.rows; ++r) {
    turn_row(table.row_data(r), table.row_data(r) + n_pairs, n_pairs, x.row_data(r));
  }
}

}  // namespace attnviz::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnviz::kernels {
HWY_EXPORT(rope_rotate);

void rope_table(std::size_t first_position, std::span<const double> frequencies, double factor,
                Matrix table) noexcept {
  const std::size_t n_pairs = frequencies.size();
  for (std::size_t r = 0; r < table.rows; ++r) {
    for (std::size_t i = 0; i < n_pairs; ++i) {
      const double angle = static_cast<double>(first_position + r) * frequencies[i];
      table(r, i) = static_cast<float>(std::cos(angle) * factor);
      table(r, n_pairs + i) = static_cast<float>(std::sin(angle) * factor);
    }
  }
}

void rope_rotate(ConstMatrix table, RopePairing pairing, Matrix x) noexcept {
  HWY_DYNAMIC_DISPATCH(rope_rotate)(table, pairing, x);
}

void rope(Matrix x, std::size_t first_position, float base) noexcept {
  const std::size_t half = x.cols / 2;
  for (std::size_t i = 0; i < half; ++i) {
    // Angles are doubles: at position 100,000 a float angle is off by a hundredth of a radian.
    const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(x.cols);
    const double frequency = std::pow(static_cast<double>(base), exponent);
    for (std::size_t r = 0; r < x.rows; ++r) {
      const double angle = static_cast<double>(first_position + r) * frequency;
      const auto cosine = static_cast<float>(std::cos(angle));
      const auto sine = static_cast<float>(std::sin(angle));
      const float first = x(r, i);
      const float second = x(r, i + half);
      x(r, i) = first * cosine - second * sine;
      x(r, i + half) = first * sine + second * cosine;
    }
  }
}

}  // namespace attnviz::kernels
#endif  // HWY_ONCE
