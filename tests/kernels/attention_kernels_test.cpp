#include "attnviz/kernels/attention_kernels.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "attnviz/core/tensor.h"
#include "attnviz/kernels/simd.h"
#include "support/naive.h"

namespace attnviz {
namespace {

using kernels::KeyRange;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Shorter than, equal to and just past every vector width.
constexpr std::size_t kTokenCounts[] = {1, 2, 7, 17, 40, 129};

void for_each_target(const auto& check) {
  for (const std::string& target : kernels::simd_targets()) {
    const kernels::ScopedSimdTarget forced(target);
    CAPTURE(target);
    check();
  }
}

std::size_t whole_panels(std::size_t n_keys) {
  return (n_keys + 15) / 16 * 16;
}

// pattern · value in double precision.
std::vector<double> mixed(const std::vector<double>& pattern, ConstMatrix value) {
  const std::size_t n_queries = pattern.size() / value.rows;
  std::vector<double> context(n_queries * value.cols, 0.0);
  for (std::size_t i = 0; i < n_queries; ++i) {
    for (std::size_t j = 0; j < value.rows; ++j) {
      for (std::size_t c = 0; c < value.cols; ++c) {
        context[i * value.cols + c] +=
            pattern[i * value.rows + j] * static_cast<double>(value(j, c));
      }
    }
  }
  return context;
}

}  // namespace

TEST_CASE("scores, weights and mixtures: every SIMD target agrees with the reference") {
  // Every size up to some past two widest tiles, with the odd tails of rows, keys and dimensions.
  for_each_target([] {
    for (std::size_t n = 1; n <= 130; n += n < 40 ? 1 : 9) {
      const std::size_t d_head = 1 + n * 7 % 70;
      const std::size_t d_value = 1 + n * 5 % 90;
      CAPTURE(n);
      CAPTURE(d_head);
      CAPTURE(d_value);
      const std::vector<float> q = test::random_values(n * (d_head + 2), 1);
      const std::vector<float> k = test::random_values(n * (d_head + 1), 2);
      const std::vector<float> v = test::random_values(n * (d_value + 1), 3);
      const ConstMatrix query{q.data(), n, d_head, d_head + 2};
      const ConstMatrix key{k.data(), n, d_head, d_head + 1};
      const ConstMatrix value{v.data(), n, d_value, d_value + 1};
      kernels::KeyPanels keys(n, d_head);
      keys.pack(key, 0);
      const float factor = 1.0f / std::sqrt(static_cast<float>(d_head));
      for (const Mask mask : {Mask{MaskKind::kNone, 0}, Mask{MaskKind::kCausal, 0},
                              Mask{MaskKind::kWindow, 5}, Mask{MaskKind::kBlock, 20}}) {
        CAPTURE(mask.name());
        std::vector<KeyRange> ranges;
        for (std::size_t i = 0; i < n; ++i) {
          ranges.push_back({mask.first_key(i), mask.end_key(i, n)});
        }
        test::PoisonedMatrix weights(n, whole_panels(n));
        test::PoisonedMatrix context(n, d_value);
        kernels::attention_scores(query, keys, ranges, 0, weights.view());
        REQUIRE(kernels::softmax_rows(weights.view(), ranges, 0, factor) == n);
        kernels::mix_values(weights.view(), value, ranges, 0, context.view());

        const std::vector<double> pattern =
            test::naive_pattern(query, key, static_cast<double>(factor), mask);
        CHECK(test::largest_difference(weights.view().col_block(0, n), pattern) < 1e-6);
        CHECK(test::largest_difference(context.view(), mixed(pattern, value)) < 2e-6);
        CHECK(weights.padding_is_untouched());
        CHECK(context.padding_is_untouched());
        for (std::size_t i = 0; i < n; ++i) {
          for (std::size_t j = 0; j < weights.view().cols; ++j) {
            const bool is_seen = ranges[i].first <= j && j < ranges[i].end;
            REQUIRE((is_seen || weights.view()(i, j) == 0.0f));
          }
        }
      }
    }
  });
}

TEST_CASE("scores, weights and mixtures: a row has the same bits whatever stands beside it") {
  constexpr std::size_t kTokens = 150;
  constexpr std::size_t kHead = 9;
  constexpr std::size_t kValue = 21;
  const std::vector<float> q = test::random_values(kTokens * kHead, 3);
  const std::vector<float> k = test::random_values(kTokens * kHead, 4);
  const std::vector<float> v = test::random_values(kTokens * kValue, 5);
  const ConstMatrix query = test::matrix_over(q, kTokens, kHead);
  const ConstMatrix value = test::matrix_over(v, kTokens, kValue);
  const Mask mask{MaskKind::kWindow, 70};
  std::vector<KeyRange> ranges;
  for (std::size_t i = 0; i < kTokens; ++i) {
    ranges.push_back({mask.first_key(i), mask.end_key(i, kTokens)});
  }
  for_each_target([&] {
    kernels::KeyPanels keys(kTokens, kHead);
    keys.pack(test::matrix_over(k, kTokens, kHead), 0);
    MatrixBuffer all(kTokens, whole_panels(kTokens));
    MatrixBuffer all_contexts(kTokens, kValue);
    const auto attend = [&](std::size_t first, std::size_t first_key, Matrix rows, Matrix context) {
      const std::span<const KeyRange> mine = std::span(ranges).subspan(first, rows.rows);
      kernels::attention_scores(query.row_block(first, rows.rows), keys, mine, first_key, rows);
      REQUIRE(kernels::softmax_rows(rows, mine, first_key, 0.5f) == rows.rows);
      kernels::mix_values(rows, value, mine, first_key, context);
    };
    attend(0, 0, all.view(), all_contexts.view());
    for (const std::size_t first : {0u, 1u, 13u, 69u, 100u, 149u}) {
      for (const std::size_t count : {1u, 2u, 7u, 20u, 50u}) {
        const std::size_t rows = std::min<std::size_t>(count, kTokens - first);
        const std::size_t first_key = ranges[first].first / 16 * 16;
        const std::size_t end_key = ranges[first + rows - 1].end;
        MatrixBuffer some(rows, whole_panels(end_key - first_key));
        MatrixBuffer contexts(rows, kValue);
        attend(first, first_key, some.view(), contexts.view());
        const std::size_t cols = end_key - first_key;
        CHECK(test::same_bits(some.view().col_block(0, cols),
                              all.view().row_block(first, rows).col_block(first_key, cols)));
        CHECK(test::same_bits(contexts.view(), all_contexts.view().row_block(first, rows)));
      }
    }
  });
}

TEST_CASE("queries that see nothing get zeros") {
  for_each_target([] {
    const std::vector<float> v = test::random_values(40 * 5, 3);
    test::PoisonedMatrix weights(3, 48);
    test::PoisonedMatrix context(3, 5);
    const std::vector<KeyRange> none(3, KeyRange{20, 20});
    REQUIRE(kernels::softmax_rows(weights.view(), none, 0, 1.0f) == 3);
    kernels::mix_values(weights.view(), test::matrix_over(v, 40, 5), none, 0, context.view());
    CHECK(test::largest_difference(weights.view(), std::vector<double>(3 * 48, 0.0)) == 0.0);
    CHECK(test::largest_difference(context.view(), std::vector<double>(3 * 5, 0.0)) == 0.0);
  });
}

TEST_CASE("softmax_rows: the first row with a score that is not finite is told") {
  for_each_target([] {
    for (const float bad : {kNan, kInfinity, -kInfinity}) {
      for (const std::size_t where : {0u, 1u, 17u, 29u}) {
        MatrixBuffer rows(4, 32);
        rows.view()(2, where) = bad;
        const std::vector<KeyRange> ranges(4, KeyRange{0, 30});
        CHECK(kernels::softmax_rows(rows.view(), ranges, 0, 1.0f) == 2);
      }
      MatrixBuffer beyond(1, 32);
      beyond.view()(0, 30) = bad;
      const KeyRange range{0, 30};
      CHECK(kernels::softmax_rows(beyond.view(), {&range, 1}, 0, 1.0f) == 1);
      CHECK(beyond.view()(0, 30) == 0.0f);
    }
    MatrixBuffer large(1, 16);
    large.view()(0, 3) = 1e30f;
    const KeyRange range{0, 16};
    CHECK(kernels::softmax_rows(large.view(), {&range, 1}, 0, 1e10f) == 0);
  });
}

TEST_CASE("softmax: the published example over the square root of 128 comes out") {
  for_each_target([] {
    const float scale = 1.0f / std::sqrt(128.0f);
    float x[] = {2.1f * scale, 8.7f * scale, 3.2f * scale};
    REQUIRE(kernels::softmax(x, 3, 1.0f));
    CHECK(std::abs(x[0] - 0.2567944021) < 1e-7);
    CHECK(std::abs(x[1] - 0.4601897330) < 1e-7);
    CHECK(std::abs(x[2] - 0.2830158648) < 1e-7);
  });
}

TEST_CASE("softmax: huge scores neither overflow nor vanish") {
  for_each_target([] {
    std::vector<float> x(37, -1e4f);
    x[5] = 1e4f;
    REQUIRE(kernels::softmax(x.data(), x.size(), 1.0f));
    for (std::size_t i = 0; i < x.size(); ++i) {
      REQUIRE(x[i] == (i == 5 ? 1.0f : 0.0f));
    }
    std::vector<float> equal(32, std::numeric_limits<float>::max());
    REQUIRE(kernels::softmax(equal.data(), equal.size(), 1.0f));
    CHECK(std::all_of(equal.begin(), equal.end(), [](float w) { return w == 1.0f / 32.0f; }));
    std::vector<float> tiny(32, std::numeric_limits<float>::lowest());
    REQUIRE(kernels::softmax(tiny.data(), tiny.size(), 1.0f));
    CHECK(std::all_of(tiny.begin(), tiny.end(), [](float w) { return w == 1.0f / 32.0f; }));
  });
}

TEST_CASE("softmax: one score is all the weight, and no score is nothing") {
  for_each_target([] {
    float one[] = {-3.5f, test::PoisonedMatrix::kPoison};
    REQUIRE(kernels::softmax(one, 1, 1.0f));
    CHECK(one[0] == 1.0f);
    CHECK(one[1] == test::PoisonedMatrix::kPoison);
    CHECK(kernels::softmax(one, 0, 1.0f));
    CHECK(one[0] == 1.0f);
  });
}

TEST_CASE("softmax: minus infinity becomes exactly 0, a row of it becomes zeros") {
  for_each_target([] {
    for (const std::size_t n : kTokenCounts) {
      CAPTURE(n);
      std::vector<float> hidden(n, -kInfinity);
      REQUIRE(kernels::softmax(hidden.data(), n, 1.0f));
      REQUIRE(std::all_of(hidden.begin(), hidden.end(), [](float w) { return w == 0.0f; }));

      std::vector<float> every_third = test::random_values(n, 5);
      for (std::size_t i = 0; i < n; ++i) {
        every_third[i] = i % 3 == 0 ? every_third[i] : -kInfinity;
      }
      REQUIRE(kernels::softmax(every_third.data(), n, 1.0f));
      for (std::size_t i = 0; i < n; ++i) {
        REQUIRE((every_third[i] > 0.0f) == (i % 3 == 0));
      }
    }
  });
}

TEST_CASE("softmax: NaN and plus infinity are refused wherever they stand") {
  for_each_target([] {
    for (const std::size_t n : kTokenCounts) {
      for (std::size_t bad = 0; bad < n; ++bad) {
        for (const float value : {kNan, -kNan, kInfinity}) {
          std::vector<float> x = test::random_values(n, 6);
          x[bad] = value;
          const std::vector<float> before = x;
          REQUIRE(!kernels::softmax(x.data(), n, 1.0f));
          REQUIRE(test::same_bits(test::matrix_over(x, 1, n), test::matrix_over(before, 1, n)));
        }
      }
    }
  });
}

TEST_CASE("softmax: a hundred thousand keys still sum to 1") {
  for_each_target([] {
    std::vector<float> x = test::random_values(100'003, 7);
    REQUIRE(kernels::softmax(x.data(), x.size(), 1.0f));
    const double sum = std::accumulate(x.begin(), x.end(), 0.0);
    CHECK(std::abs(sum - 1.0) < 1e-6);
  });
}

TEST_CASE("all_finite: finds NaN and either infinity wherever they stand") {
  for_each_target([] {
    for (const std::size_t n : kTokenCounts) {
      std::vector<float> x(n, std::numeric_limits<float>::lowest());
      REQUIRE(kernels::all_finite(x));
      for (std::size_t bad = 0; bad < n; ++bad) {
        for (const float value : {kNan, kInfinity, -kInfinity}) {
          const float before = x[bad];
          x[bad] = value;
          REQUIRE(!kernels::all_finite(x));
          x[bad] = before;
        }
      }
    }
    CHECK(kernels::all_finite({}));
  });
}

}  // namespace attnviz
