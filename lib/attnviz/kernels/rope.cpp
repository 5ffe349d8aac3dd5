#include "attnviz/kernels/rope.h"

#include <cmath>

namespace attnviz::kernels {

namespace {

void turn(float& first, float& second, float cosine, float sine) {
  const float x = first;
  const float y = second;
  first = x * cosine - y * sine;
  second = x * sine + y * cosine;
}

}  // namespace

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
  const std::size_t n_pairs = table.cols / 2;
  for (std::size_t r = 0; r < x.rows; ++r) {
    for (std::size_t i = 0; i < n_pairs; ++i) {
      const bool halves = pairing == RopePairing::kHalves;
      turn(x(r, halves ? i : 2 * i), x(r, halves ? i + n_pairs : 2 * i + 1), table(r, i),
           table(r, n_pairs + i));
    }
  }
}

void rope(Matrix x, std::size_t first_position, float base) noexcept {
  const std::size_t half = x.cols / 2;
  for (std::size_t i = 0; i < half; ++i) {
    // Angles are doubles: at position 100,000 a float angle is off by a hundredth of a radian.
    const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(x.cols);
    const double frequency = std::pow(static_cast<double>(base), exponent);
    for (std::size_t r = 0; r < x.rows; ++r) {
      const double angle = static_cast<double>(first_position + r) * frequency;
      turn(x(r, i), x(r, i + half), static_cast<float>(std::cos(angle)),
           static_cast<float>(std::sin(angle)));
    }
  }
}

}  // namespace attnviz::kernels
