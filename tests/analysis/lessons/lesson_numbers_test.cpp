// What lessons measure and compare, against theory and plain loops in double.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "attnviz/analysis/lessons/lesson_numbers.h"
#include "attnviz/attention/blocked_product.h"
#include "attnviz/attention/engine.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/model/stored_model.h"
#include "attnviz/text/files/load_tokenizer.h"
#include "support/naive.h"

namespace attnviz {
namespace {

constexpr Mask kCausal = {MaskKind::kCausal};

std::vector<double> rows_of(ConstMatrix matrix) {
  std::vector<double> values;
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    for (const float value : matrix.row(row)) {
      values.push_back(static_cast<double>(value));
    }
  }
  return values;
}

double phi(float x) {
  return x > 0.0f ? static_cast<double>(x) + 1.0 : std::exp(static_cast<double>(x));
}

}  // namespace

TEST_CASE("normal numbers: mean 0, variance 1, the same for the same name") {
  std::vector<float> numbers(100'001);
  fill_normal(RandomBits({7}), numbers);
  double sum = 0.0, squares = 0.0, fourths = 0.0;
  for (const float x : numbers) {
    const auto square = static_cast<double>(x) * static_cast<double>(x);
    sum += static_cast<double>(x);
    squares += square;
    fourths += square * square;
  }
  const auto n = static_cast<double>(numbers.size());
  CHECK(std::abs(sum / n) < 0.02);
  CHECK(squares / n == doctest::Approx(1.0).epsilon(0.02));
  CHECK(fourths / n == doctest::Approx(3.0).epsilon(0.05));  // of a normal distribution
  std::vector<float> again(10);
  fill_normal(RandomBits({7}), again);
  CHECK(std::equal(again.begin(), again.end(), numbers.begin()));
}

TEST_CASE("scaling: products of random vectors have variance d, divided by √d variance 1") {
  const std::array<std::size_t, 4> sizes = {1, 8, 64, 300};
  const std::vector<ScalingPoint> points = measure_scaling(sizes, 42);
  REQUIRE(points.size() == 4);
  for (const ScalingPoint& point : points) {
    CAPTURE(point.d);
    const auto d = static_cast<double>(point.d);
    CHECK(point.variance == doctest::Approx(d).epsilon(0.15));
    CHECK(point.variance_scaled == doctest::Approx(point.variance / d));
  }
  CHECK(points.front().plain.largest == doctest::Approx(points.front().scaled.largest));
  CHECK(points.back().plain.largest > 0.85);
  CHECK(points.back().scaled.largest < 0.25);
  CHECK(points.back().plain.entropy_bits < 0.6);
  CHECK(points.back().scaled.entropy_bits > 4.0);  // of 5
}

TEST_CASE("sharpness: the largest weight and the entropy of a row, computed by hand") {
  const std::vector<float> scores = {0.0f, static_cast<float>(std::log(3.0))};
  const Sharpness sharp = sharpness(scores, 1.0);
  CHECK(sharp.largest == doctest::Approx(0.75));
  CHECK(sharp.entropy_bits == doctest::Approx(-0.75 * std::log2(0.75) - 0.25 * std::log2(0.25)));
  CHECK(sharpness(scores, 2.0).largest == doctest::Approx(0.9));
  const std::vector<float> one = {500.0f};
  CHECK(sharpness(one, 1.0).entropy_bits == 0.0);
}

TEST_CASE("compared attention: softmax weights agree with double loops and with the engine") {
  const Model model = demo_model();
  const TokenizedText text = demo_tokenizer()->tokenize("The cat sat on the mat");
  const InputColumns input(text);
  const std::vector<HeadRows> heads = head_rows(model, input.view(), 1);
  REQUIRE(heads.size() == 4);
  PatternStore store({{1, 2}}, text.size());
  run(model, input.view(), AttentionRequest(), store);
  const MatrixBuffer weights = softmax_weights(heads[2].query.view(), heads[2].key.view(), kCausal);
  CHECK(test::largest_difference(store.pattern({1, 2}), rows_of(weights.view())) < 1e-5);
  CHECK(test::largest_difference(weights.view(),
                                 test::naive_pattern(heads[2].query.view(), heads[2].key.view(),
                                                     1.0 / std::sqrt(32.0), kCausal)) < 1e-6);
}

TEST_CASE("compared attention: the wide head is one head with all columns") {
  const std::size_t n = 5;
  std::vector<HeadRows> heads;
  std::vector<float> wide_query(n * 7), wide_key(n * 7);
  std::size_t column = 0;
  for (const std::size_t d : {3U, 4U}) {
    const auto q = test::random_values(n * d, d);
    const auto k = test::random_values(n * d, d + 10);
    heads.push_back({copy_of(test::matrix_over(q, n, d)), copy_of(test::matrix_over(k, n, d)), {}});
    for (std::size_t row = 0; row < n; ++row) {
      for (std::size_t i = 0; i < d; ++i) {
        wide_query[row * 7 + column + i] = q[row * d + i];
        wide_key[row * 7 + column + i] = k[row * d + i];
      }
    }
    column += d;
  }
  const auto expected =
      test::naive_pattern(test::matrix_over(wide_query, n, 7), test::matrix_over(wide_key, n, 7),
                          1.0 / std::sqrt(7.0), kCausal);
  CHECK(test::largest_difference(wide_head_weights(heads, kCausal).view(), expected) < 1e-6);
}

TEST_CASE("linear attention: weights from a double loop, and contexts without computing weights") {
  constexpr std::size_t kTokens = 9, kWidth = 5, kValues = 3;
  const auto q = test::random_values(kTokens * kWidth, 1);
  const auto k = test::random_values(kTokens * kWidth, 2);
  const auto v = test::random_values(kTokens * kValues, 3);
  const ConstMatrix query = test::matrix_over(q, kTokens, kWidth);
  const ConstMatrix key = test::matrix_over(k, kTokens, kWidth);
  const ConstMatrix value = test::matrix_over(v, kTokens, kValues);
  std::vector<double> weights(kTokens * kTokens), contexts(kTokens * kValues);
  for (std::size_t i = 0; i < kTokens; ++i) {
    double sum = 0.0;
    for (std::size_t j = 0; j <= i; ++j) {
      for (std::size_t c = 0; c < kWidth; ++c) {
        weights[i * kTokens + j] += phi(query(i, c)) * phi(key(j, c));
      }
      sum += weights[i * kTokens + j];
    }
    for (std::size_t j = 0; j <= i; ++j) {
      weights[i * kTokens + j] /= sum;
      for (std::size_t c = 0; c < kValues; ++c) {
        contexts[i * kValues + c] += weights[i * kTokens + j] * static_cast<double>(value(j, c));
      }
    }
  }
  CHECK(test::largest_difference(linear_weights(query, key, kCausal).view(), weights) < 1e-6);
  const MatrixBuffer summed = linear_contexts(query, key, value);
  CHECK(test::largest_difference(summed.view(), contexts) < 1e-6);
  const MatrixBuffer mixing = linear_weights(query, key, kCausal);
  CHECK(largest_departure(mixing.view(), value, summed.view()) < 1e-6);
  MatrixBuffer moved = copy_of(summed.view());
  moved.view()(4, 1) += 0.25f;
  CHECK(largest_departure(mixing.view(), value, moved.view()) == doctest::Approx(0.25));
}

TEST_CASE("linear attention: elu(x) + 1 is above 0, and continuous at 0") {
  CHECK(elu_plus_one(0.0) == 1.0);
  CHECK(elu_plus_one(2.5) == 3.5);
  CHECK(elu_plus_one(-1.0) == doctest::Approx(std::exp(-1.0)));
  CHECK(elu_plus_one(-50.0) > 0.0);
}

TEST_CASE("cost: three plain loops and the engine's blocks give the same contexts") {
  for (const std::size_t n : {1U, 7U, 130U}) {
    CAPTURE(n);
    constexpr std::size_t kWidth = 20, kValues = 12;
    const auto q = test::random_values(n * kWidth, 1);
    const auto k = test::random_values(n * kWidth, 2);
    const auto v = test::random_values(n * kValues, 3);
    const ConstMatrix query = test::matrix_over(q, n, kWidth);
    const ConstMatrix key = test::matrix_over(k, n, kWidth);
    const ConstMatrix value = test::matrix_over(v, n, kValues);
    const auto pattern =
        test::naive_pattern(query, key, 1.0 / std::sqrt(double{kWidth}), Mask{MaskKind::kNone});
    std::vector<double> expected(n * kValues);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t c = 0; c < kValues; ++c) {
          expected[i * kValues + c] += pattern[i * n + j] * static_cast<double>(value(j, c));
        }
      }
    }
    MatrixBuffer weights(n, n), context(n, kValues), blocked(n, kValues);
    attend_naively(query, key, value, weights.view(), context.view());
    CHECK(test::largest_difference(weights.view(), pattern) < 1e-5);
    CHECK(test::largest_difference(context.view(), expected) < 1e-5);
    CHECK(attend_in_blocks(query, key, value, blocked.view()) > 0);
    CHECK(test::largest_difference(blocked.view(), expected) < 1e-5);
  }
}

TEST_CASE("cost: points double, memory of the whole matrix is n², and the time limit is kept") {
  CostRequest request;
  request.first = 16;
  request.last = 64;
  double progress = 0.0;
  request.report = [&progress](double done) {
    CHECK(done >= progress);
    progress = done;
  };
  const std::vector<CostPoint> points = measure_cost(request);
  REQUIRE(points.size() == 3);
  CHECK(points[2].n_tokens == 64);
  CHECK(points[2].naive_bytes == 64 * 64 * 4);
  CHECK(points[0].naive_seconds > 0.0);
  CHECK(points[0].blocked_seconds > 0.0);
  CHECK(progress == 1.0);
  request.report = {};
  request.seconds = 0.0;  // only the first is started
  CHECK(measure_cost(request).size() == 1);
}

TEST_CASE("cache: multiplications counted by hand, as sums over the steps") {
  const PassCosts costs{100.0, 3.0, 20.0};
  double with = 0.0, without = 0.0;
  for (int t = 1; t <= 7; ++t) {
    with += 100.0 + 3.0 * t + 20.0;
    for (int token = 1; token <= t; ++token) {
      without += 100.0 + 3.0 * token;
    }
    without += 20.0;
  }
  const GenerationCosts sums = generation_costs(costs, 7);
  CHECK(sums.with_cache == doctest::Approx(with));
  CHECK(sums.without_cache == doctest::Approx(without));
  CHECK(generation_costs(costs, 1).with_cache == generation_costs(costs, 1).without_cache);
}

TEST_CASE("cache: GPT-2 small multiplies with its 85 million weights, and keeps 36,864 bytes") {
  DescribedModel gpt2;
  gpt2.attention = {12, 12, 12, 768, 64};
  gpt2.n_vocab = 50257;
  gpt2.d_ff = 3072;
  gpt2.tied = true;
  ModelShape shape = model_shape(gpt2);
  shape.layers.front().mlp_biases = 3072 + 768;  // are added, not multiplied
  const PassCosts costs = pass_costs(shape);
  CHECK(costs.token == 12.0 * (4.0 * 768 * 768 + 2.0 * 768 * 3072));
  CHECK(costs.edge == 12.0 * 2.0 * 768);
  CHECK(costs.head == 50257.0 * 768);
  CHECK(kept_bytes(shape, 1, 2) == 12 * 2 * 768 * 2);
}

TEST_CASE("cache: both ways of reading a text are measured, step by step") {
  const Model model = demo_model();
  const std::vector<std::uint32_t> ids = demo_tokenizer()->tokenize("The cat sat").ids();
  AttentionRequest request;
  double progress = 0.0;
  request.report = [&progress](double done) { progress = done; };
  const GenerationTimes times = measure_generation(model, ids, request);
  REQUIRE(times.with_cache.size() == ids.size());
  REQUIRE(times.without_cache.size() == ids.size());
  CHECK(std::is_sorted(times.with_cache.begin(), times.with_cache.end()));
  CHECK(std::is_sorted(times.without_cache.begin(), times.without_cache.end()));
  CHECK(times.with_cache.front() > 0.0);
  CHECK(progress == 1.0);
}

}  // namespace attnviz
