#include "attnviz/kernels/row_kernels.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "kernels/simd_targets.h"
#include "support/naive.h"

namespace attnviz {
namespace {

using test::for_each_target;

std::vector<double> naive_layer_norm(ConstMatrix x, const std::vector<float>& weight,
                                     const std::vector<float>& bias, double epsilon) {
  std::vector<double> out;
  out.reserve(x.rows * x.cols);
  for (std::size_t r = 0; r < x.rows; ++r) {
    double mean = 0.0;
    for (const float value : x.row(r)) {
      mean += static_cast<double>(value);
    }
    mean /= static_cast<double>(x.cols);
    double variance = 0.0;
    for (const float value : x.row(r)) {
      variance += (static_cast<double>(value) - mean) * (static_cast<double>(value) - mean);
    }
    variance /= static_cast<double>(x.cols);
    for (std::size_t c = 0; c < x.cols; ++c) {
      out.push_back((static_cast<double>(x(r, c)) - mean) / std::sqrt(variance + epsilon) *
                        static_cast<double>(weight[c]) +
                    (bias.empty() ? 0.0 : static_cast<double>(bias[c])));
    }
  }
  return out;
}

std::vector<double> naive_rms_norm(ConstMatrix x, const std::vector<float>& weight, double offset,
                                   double epsilon) {
  std::vector<double> out;
  out.reserve(x.rows * x.cols);
  for (std::size_t r = 0; r < x.rows; ++r) {
    double squares = 0.0;
    for (const float value : x.row(r)) {
      squares += static_cast<double>(value) * static_cast<double>(value);
    }
    const double root = std::sqrt(squares / static_cast<double>(x.cols) + epsilon);
    for (std::size_t c = 0; c < x.cols; ++c) {
      out.push_back(static_cast<double>(x(r, c)) / root *
                    (static_cast<double>(weight[c]) + offset));
    }
  }
  return out;
}

std::vector<float> shifted(std::vector<float> values, float scale, float shift) {
  for (float& value : values) {
    value = value * scale + shift;
  }
  return values;
}

}  // namespace

TEST_CASE("norms: numbers computed by hand") {
  const float x[] = {1.0f, 3.0f};  // mean 2, variance 1, mean square 5
  const std::vector<float> weight = {2.0f, 4.0f};
  const std::vector<float> bias = {10.0f, 20.0f};
  float out[2] = {};
  for_each_target([&] {
    kernels::layer_norm({x, 1, 2, 2}, weight, bias, 0.0, {out, 1, 2, 2});
    CHECK(std::abs(out[0] - 8.0f) < 1e-6f);
    CHECK(std::abs(out[1] - 24.0f) < 1e-6f);
    kernels::layer_norm({x, 1, 2, 2}, weight, {}, 3.0, {out, 1, 2, 2});
    CHECK(std::abs(out[0] - -1.0f) < 1e-6f);
    CHECK(std::abs(out[1] - 2.0f) < 1e-6f);
    kernels::rms_norm({x, 1, 2, 2}, weight, 0.0f, 4.0, {out, 1, 2, 2});
    CHECK(std::abs(out[0] - 2.0 / 3.0) < 1e-6);
    CHECK(std::abs(out[1] - 4.0f) < 1e-6f);
    kernels::rms_norm({x, 1, 2, 2}, weight, 1.0f, 4.0, {out, 1, 2, 2});
    CHECK(std::abs(out[0] - 1.0f) < 1e-6f);
    CHECK(std::abs(out[1] - 5.0f) < 1e-6f);
  });
}

TEST_CASE("norms: every size agrees with double precision, between poison values and in place") {
  for_each_target([] {
    for (std::size_t n = 1; n <= 130; ++n) {
      CAPTURE(n);
      const std::vector<float> values = test::random_values(3 * n, n);
      const ConstMatrix x = test::matrix_over(values, 3, n);
      const std::vector<float> weight = test::random_values(n, 200);
      const std::vector<float> bias = test::random_values(n, 300);
      test::PoisonedMatrix out(3, n);
      kernels::layer_norm(x, weight, bias, 1e-5, out.view());
      REQUIRE(test::largest_difference(out.view(), naive_layer_norm(x, weight, bias, 1e-5)) < 1e-6);
      kernels::layer_norm(x, weight, {}, 1e-5, out.view());
      REQUIRE(test::largest_difference(out.view(), naive_layer_norm(x, weight, {}, 1e-5)) < 1e-6);
      kernels::rms_norm(x, weight, 0.0f, 1e-6, out.view());
      REQUIRE(test::largest_difference(out.view(), naive_rms_norm(x, weight, 0.0, 1e-6)) < 1e-6);
      kernels::rms_norm(x, weight, 1.0f, 1e-6, out.view());
      REQUIRE(test::largest_difference(out.view(), naive_rms_norm(x, weight, 1.0, 1e-6)) < 1e-6);
      REQUIRE(out.padding_is_untouched());

      test::PoisonedMatrix in_place(3, n);
      for (std::size_t i = 0; i < 3 * n; ++i) {
        in_place.view()(i / n, i % n) = values[i];
      }
      kernels::rms_norm(in_place.view(), weight, 1.0f, 1e-6, in_place.view());
      REQUIRE(test::same_bits(in_place.view(), out.view()));
    }
  });
}

TEST_CASE("norms: a long row far from 0 keeps its precision") {
  constexpr std::size_t kSize = 4096;
  const std::vector<float> weight(kSize, 1.0f);
  const std::vector<float> bias(kSize, 0.25f);
  for (const float mean : {0.0f, 7.3f, -1000.7f, 123456.7f}) {
    for (const float deviation : {1e-3f, 1.0f, 50.0f}) {
      CAPTURE(mean);
      CAPTURE(deviation);
      const std::vector<float> values = shifted(test::random_values(kSize, 5), deviation, mean);
      const ConstMatrix x = test::matrix_over(values, 1, kSize);
      for_each_target([&] {
        test::PoisonedMatrix out(1, kSize);
        kernels::layer_norm(x, weight, bias, 1e-12, out.view());
        CHECK(test::largest_difference(out.view(), naive_layer_norm(x, weight, bias, 1e-12)) <
              1e-6);
        kernels::rms_norm(x, weight, 0.0f, 1e-12, out.view());
        CHECK(test::largest_difference(out.view(), naive_rms_norm(x, weight, 0.0, 1e-12)) < 1e-6);
      });
    }
  }
}

TEST_CASE("norms: a row of equal numbers becomes the bias") {
  const std::vector<float> x(37, 5.3f);
  const std::vector<float> weight(37, 2.0f);
  const std::vector<float> bias = test::random_values(37, 4);
  for_each_target([&] {
    test::PoisonedMatrix out(1, 37);
    kernels::layer_norm(test::matrix_over(x, 1, 37), weight, bias, 1e-5, out.view());
    for (std::size_t c = 0; c < 37; ++c) {
      CHECK(std::abs(out.view()(0, c) - bias[c]) < 1e-6f);
    }
  });
}

TEST_CASE("sum_of_squares: agrees with a double-precision loop, for any length") {
  for_each_target([] {
    for (const std::size_t n : {0u, 1u, 7u, 16u, 33u, 768u, 1001u}) {
      const std::vector<float> x = shifted(test::random_values(n, 11), 1e15f, 3e14f);
      double expected = 0.0;
      for (const float value : x) {
        expected += static_cast<double>(value) * static_cast<double>(value);
      }
      CHECK(std::abs(kernels::sum_of_squares(x) - expected) <= 1e-14 * expected);
    }
  });
}

}  // namespace attnviz
