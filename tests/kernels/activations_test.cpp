#include "attnviz/kernels/row_kernels.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "kernels/simd_targets.h"
#include "support/naive.h"

namespace attnviz {
namespace {

using kernels::Activation;
using test::for_each_target;

constexpr Activation kActivations[] = {Activation::kGelu, Activation::kGeluTanh, Activation::kSilu,
                                       Activation::kRelu, Activation::kTanh};
constexpr Activation kAll[] = {Activation::kGelu,   Activation::kGeluTanh, Activation::kSilu,
                               Activation::kRelu,   Activation::kTanh,     Activation::kReluSquared,
                               Activation::kSigmoid};

double expected(Activation activation, double x) {
  switch (activation) {
    case Activation::kGelu:
      return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
    case Activation::kGeluTanh:
      return 0.5 * x *
             (1.0 + std::tanh(std::sqrt(2.0 / 3.14159265358979324) * (x + 0.044715 * x * x * x)));
    case Activation::kSilu:
      return x / (1.0 + std::exp(-x));
    case Activation::kRelu:
      return std::max(x, 0.0);
    case Activation::kReluSquared:
      return std::max(x, 0.0) * std::max(x, 0.0);
    case Activation::kTanh:
      return std::tanh(x);
    case Activation::kSigmoid:
      return 1.0 / (1.0 + std::exp(-x));
  }
  return 0.0;
}

float activated(Activation activation, float x) {
  kernels::activate(activation, {&x, 1, 1, 1});
  return x;
}

}  // namespace

TEST_CASE("activations: within 2e-6 of double precision from -30 to 30") {
  std::vector<float> x;
  x.reserve(600'002);
  for (int i = -300'000; i <= 300'000; ++i) {
    x.push_back(static_cast<float>(i) * 1e-4f);
  }
  for_each_target([&] {
    for (const Activation activation : kAll) {
      std::vector<float> actual = x;
      kernels::activate(activation, {actual.data(), 1, actual.size(), actual.size()});
      double largest = 0.0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double exact = expected(activation, static_cast<double>(x[i]));
        const double error = std::abs(static_cast<double>(actual[i]) - exact);
        largest = std::max(largest, error / std::max(1.0, std::abs(exact)));
      }
      CAPTURE(static_cast<int>(activation));
      CHECK(largest < 2e-6);
    }
  });
}

TEST_CASE("activations: values near 0 keep their relative precision") {
  for_each_target([] {
    for (const Activation activation : kActivations) {
      for (double x = 1e-30; x < 0.3; x *= 1.7) {
        for (const double sign : {-1.0, 1.0}) {
          const auto value = static_cast<float>(sign * x);
          const double exact = expected(activation, static_cast<double>(value));
          CAPTURE(value);
          REQUIRE(std::abs(static_cast<double>(activated(activation, value)) - exact) <=
                  2e-6 * std::abs(exact));
        }
      }
    }
  });
}

TEST_CASE("activations: a squared relu and a sigmoid at their ends") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for_each_target([&] {
    CHECK(activated(Activation::kReluSquared, -1e30f) == 0.0f);
    CHECK(activated(Activation::kReluSquared, kInfinity) == kInfinity);
    CHECK(activated(Activation::kSigmoid, 0.0f) == 0.5f);
    CHECK(activated(Activation::kSigmoid, kInfinity) == 1.0f);
    CHECK(activated(Activation::kSigmoid, -kInfinity) < 1e-30f);
    CHECK(std::isnan(activated(Activation::kReluSquared, kNan)));
    CHECK(std::isnan(activated(Activation::kSigmoid, kNan)));
  });
}

TEST_CASE("activations: infinities give the limits, NaN stays NaN, and 0 stays 0") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for_each_target([&] {
    for (const Activation activation : kActivations) {
      CAPTURE(static_cast<int>(activation));
      const bool is_tanh = activation == Activation::kTanh;
      CHECK(std::isnan(activated(activation, std::numeric_limits<float>::quiet_NaN())));
      CHECK(activated(activation, 0.0f) == 0.0f);
      CHECK(activated(activation, -0.0f) == 0.0f);
      CHECK(std::abs(activated(activation, -kInfinity) - (is_tanh ? -1.0f : 0.0f)) < 1e-6f);
      CHECK(std::abs(activated(activation, -1e30f) - (is_tanh ? -1.0f : 0.0f)) < 1e-6f);
      if (is_tanh) {
        CHECK(std::abs(activated(activation, kInfinity) - 1.0f) < 1e-6f);
      } else {
        CHECK(activated(activation, kInfinity) == kInfinity);
        CHECK(activated(activation, 1e30f) == 1e30f);
      }
    }
  });
}

TEST_CASE("activations: every size, between poison, with and without a gate") {
  for_each_target([] {
    for (const Activation activation : kActivations) {
      for (std::size_t n = 1; n <= 130; ++n) {
        const std::vector<float> x = test::random_values(3 * n, n);
        const std::vector<float> up = test::random_values(3 * n, n + 1);
        test::PoisonedMatrix plain(3, n);
        test::PoisonedMatrix gated(3, n);
        for (std::size_t i = 0; i < 3 * n; ++i) {
          plain.view()(i / n, i % n) = x[i] * 4.0f;
          gated.view()(i / n, i % n) = x[i] * 4.0f;
        }
        kernels::activate(activation, plain.view());
        kernels::activate_gated(activation, test::matrix_over(up, 3, n), gated.view());
        CAPTURE(n);
        for (std::size_t i = 0; i < 3 * n; ++i) {
          const float alone = activated(activation, x[i] * 4.0f);
          REQUIRE(plain.view()(i / n, i % n) == alone);
          REQUIRE(gated.view()(i / n, i % n) == alone * up[i]);
        }
        REQUIRE(plain.padding_is_untouched());
        REQUIRE(gated.padding_is_untouched());
      }
    }
  });
}

}  // namespace attnviz
