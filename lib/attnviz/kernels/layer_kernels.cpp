// Normalisation of rows, rotary positions and state updates, compiled once per SIMD target.

#include "attnviz/kernels/row_kernels.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attnviz/kernels/layer_kernels.cpp"
#include <hwy/foreach_target.h>  // re-includes this file, once per target

#include <hwy/highway.h>  // this and every -inl.h come after foreach_target.h

#include "attnviz/kernels/map-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnviz::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::CappedTag<double, 8>;

// Returns the sum of term(x[i]) over a row, in doubles and in an order that depends only on n.
template <class Term>
HWY_INLINE double sum_of(const float* x, std::size_t n, const Term& term) {
  const Doubles d;
  const hn::Rebind<float, Doubles> df;
  const std::size_t lanes = hn::Lanes(d);
  constexpr std::size_t kSums = 4;  // independent sums, so that none waits for the previous one
  hn::Vec<Doubles> sums[kSums] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  std::size_t i = 0;
  for (; i + kSums * lanes <= n; i += kSums * lanes) {
    HWY_UNROLL(4)
    for (std::size_t s = 0; s < kSums; ++s) {
      const auto value = hn::PromoteTo(d, hn::LoadU(df, x + i + s * lanes));
      sums[s] = hn::Add(sums[s], term(value));
    }
  }
  for (; i < n; i += lanes) {
    const std::size_t count = HWY_MIN(lanes, n - i);
    HWY_ALIGN float rest[hn::MaxLanes(df)] = {};
    for (std::size_t lane = 0; lane < count; ++lane) {
      rest[lane] = x[i + lane];
    }
    const auto terms = term(hn::PromoteTo(d, hn::Load(df, rest)));
    sums[0] = hn::Add(sums[0], hn::IfThenElseZero(hn::FirstN(d, count), terms));
  }
  const auto sum = hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]));
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

void layer_norm(ConstMatrix x, const float* weight, const float* bias, double epsilon, Matrix out) {
  const Doubles dd;
  const auto count = static_cast<double>(x.cols);
  for (std::size_t r = 0; r < x.rows; ++r) {
    const float* row = x.row_data(r);
    const double mean = sum_of(row, x.cols, [](auto value) HWY_ATTR { return value; }) / count;
    const auto means = hn::Set(dd, mean);
    const double squares = sum_of(row, x.cols, [&](auto value) HWY_ATTR {
      const auto deviation = hn::Sub(value, means);
      return hn::Mul(deviation, deviation);
    });
    // The mean as a sum of two floats: the rounding error of a large mean would show in small
    // deviations.
    const auto mean_high = static_cast<float>(mean);
    const auto mean_low = static_cast<float>(mean - static_cast<double>(mean_high));
    const auto factor = static_cast<float>(1.0 / std::sqrt(squares / count + epsilon));
    map_numbers(x.cols, out.row_data(r), [&](auto d, auto load) HWY_ATTR {
      const auto deviation =
          hn::Sub(hn::Sub(load(row), hn::Set(d, mean_high)), hn::Set(d, mean_low));
      const auto value = hn::Mul(hn::Mul(deviation, hn::Set(d, factor)), load(weight));
      return bias == nullptr ? value : hn::Add(value, load(bias));
    });
  }
}

double sum_of_squares(const float* x, std::size_t n) {
  return sum_of(x, n, [](auto value) HWY_ATTR { return hn::Mul(value, value); });
}

void rms_norm(ConstMatrix x, const float* weight, float weight_offset, double epsilon, Matrix out) {
  for (std::size_t r = 0; r < x.rows; ++r) {
    const float* row = x.row_data(r);
    const double mean = sum_of_squares(row, x.cols) / static_cast<double>(x.cols);
    const auto factor = static_cast<float>(1.0 / std::sqrt(mean + epsilon));
    map_numbers(x.cols, out.row_data(r), [&](auto d, auto load) HWY_ATTR {
      const auto scale = hn::Add(load(weight), hn::Set(d, weight_offset));
      return hn::Mul(hn::Mul(load(row), hn::Set(d, factor)), scale);
    });
  }
}

// Both products are rounded, so that a pair's bits are the same on every target, inside and outside
// a vector.
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

// Calls `work(d, column)` for vectors of columns, then for the remaining ones, one by one.
template <class Work>
void for_columns(std::size_t n, const Work& work) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t column = 0;
  for (; column + lanes <= n; column += lanes) {
    work(d, column);
  }
  for (; column < n; ++column) {
    work(hn::CappedTag<float, 1>(), column);
  }
}

void read_state(ConstMatrix state, const float* x, float* out) {
  for_columns(state.cols, [&](auto d, std::size_t column) HWY_ATTR {
    auto sum = hn::Zero(d);
    for (std::size_t row = 0; row < state.rows; ++row) {
      sum = hn::MulAdd(hn::Set(d, x[row]), hn::LoadU(d, state.row_data(row) + column), sum);
    }
    hn::StoreU(sum, d, out + column);
  });
}

void write_state(float decay, const float* k, const float* w, const float* q, Matrix state,
                 float* out) {
  for_columns(state.cols, [&](auto d, std::size_t column) HWY_ATTR {
    const auto kept = hn::Set(d, decay);
    const auto written = hn::LoadU(d, w + column);
    auto sum = hn::Zero(d);
    for (std::size_t row = 0; row < state.rows; ++row) {
      float* const at = state.row_data(row) + column;
      const auto next = hn::MulAdd(hn::Set(d, k[row]), written, hn::Mul(kept, hn::LoadU(d, at)));
      hn::StoreU(next, d, at);
      sum = hn::MulAdd(hn::Set(d, q[row]), next, sum);
    }
    hn::StoreU(sum, d, out + column);
  });
}

}  // namespace attnviz::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnviz::kernels {
HWY_EXPORT(layer_norm);
HWY_EXPORT(rms_norm);
HWY_EXPORT(sum_of_squares);

void layer_norm(ConstMatrix x, std::span<const float> weight, std::span<const float> bias,
                double epsilon, Matrix out) noexcept {
  HWY_DYNAMIC_DISPATCH(layer_norm)
  (x, weight.data(), bias.empty() ? nullptr : bias.data(), epsilon, out);
}

void rms_norm(ConstMatrix x, std::span<const float> weight, float weight_offset, double epsilon,
              Matrix out) noexcept {
  HWY_DYNAMIC_DISPATCH(rms_norm)(x, weight.data(), weight_offset, epsilon, out);
}

double sum_of_squares(std::span<const float> x) noexcept {
  return HWY_DYNAMIC_DISPATCH(sum_of_squares)(x.data(), x.size());
}

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

HWY_EXPORT(read_state);
HWY_EXPORT(write_state);

void read_state(ConstMatrix state, std::span<const float> x, std::span<float> out) noexcept {
  HWY_DYNAMIC_DISPATCH(read_state)(state, x.data(), out.data());
}

void write_state(float decay, std::span<const float> k, std::span<const float> w,
                 std::span<const float> q, Matrix state, std::span<float> out) noexcept {
  HWY_DYNAMIC_DISPATCH(write_state)(decay, k.data(), w.data(), q.data(), state, out.data());
}

}  // namespace attnviz::kernels
#endif  // HWY_ONCE
