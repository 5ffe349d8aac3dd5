#include "attnviz/kernels/row_kernels.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "attnviz/core/tensor.h"
#include "kernels/simd_targets.h"
#include "support/naive.h"

namespace attnviz {
namespace {

using kernels::KeyRange;
using test::for_each_target;

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
    for (std::size_t n = 1; n <= 130; n += n < 66 ? 1 : 8) {
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
        test::PoisonedMatrix weights(n, kernels::KeyPanels::rounded_up(n));
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

TEST_CASE("scores, weights and mixtures: a row is bit-identical regardless of the rows around it") {
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
    MatrixBuffer all(kTokens, kernels::KeyPanels::rounded_up(kTokens));
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
        MatrixBuffer some(rows, kernels::KeyPanels::rounded_up(end_key - first_key));
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

TEST_CASE("mix_values: more keys than are processed at once agree with the reference") {
  constexpr std::size_t kKeys = 1100;
  constexpr std::size_t kValue = 70;
  const std::vector<float> w = test::random_values(7 * kKeys, 3);
  const std::vector<float> v = test::random_values(kKeys * kValue, 4);
  const ConstMatrix value = test::matrix_over(v, kKeys, kValue);
  // Ranges that begin and end in different chunks, one of them empty.
  const std::vector<KeyRange> ranges = {{0, 1100}, {600, 1100}, {0, 3},    {500, 500},
                                        {0, 900},  {1, 1099},   {130, 131}};
  std::vector<float> weights(w.size(), 0.0f);
  std::vector<double> pattern(w.size(), 0.0);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    for (std::size_t j = ranges[i].first; j < ranges[i].end; ++j) {
      weights[i * kKeys + j] = w[i * kKeys + j];
      pattern[i * kKeys + j] = static_cast<double>(w[i * kKeys + j]);
    }
  }
  for_each_target([&] {
    test::PoisonedMatrix context(ranges.size(), kValue);
    kernels::mix_values(test::matrix_over(weights, ranges.size(), kKeys), value, ranges, 0,
                        context.view());
    CHECK(test::largest_difference(context.view(), mixed(pattern, value)) < 1e-4);
    CHECK(context.padding_is_untouched());
  });
}

TEST_CASE("attention_scores: queries that see nothing are skipped") {
  const std::vector<float> q = test::random_values(14 * 6, 3);
  const std::vector<float> k = test::random_values(50 * 6, 4);
  const ConstMatrix query = test::matrix_over(q, 14, 6);
  std::vector<KeyRange> ranges(14, KeyRange{0, 0});
  ranges[3] = {17, 20};
  ranges[13] = {40, 50};
  for_each_target([&] {
    kernels::KeyPanels keys(50, 6);
    keys.pack(test::matrix_over(k, 50, 6), 0);
    test::PoisonedMatrix scores(14, 64);
    kernels::attention_scores(query, keys, ranges, 0, scores.view());
    for (const std::size_t row : {std::size_t{3}, std::size_t{13}}) {
      for (std::size_t j = ranges[row].first; j < ranges[row].end; ++j) {
        double sum = 0.0;
        for (std::size_t c = 0; c < 6; ++c) {
          sum += static_cast<double>(query(row, c)) * static_cast<double>(k[j * 6 + c]);
        }
        CHECK(std::abs(static_cast<double>(scores.view()(row, j)) - sum) < 1e-6);
      }
    }
    CHECK(scores.padding_is_untouched());
    REQUIRE(kernels::softmax_rows(scores.view(), ranges, 0, 1.0f) == 14);
    for (std::size_t row = 0; row < 14; ++row) {
      const auto weights = scores.view().row(row);
      const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
      CHECK(std::abs(sum - (ranges[row].size() == 0 ? 0.0 : 1.0)) < 1e-6);
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

}  // namespace attnviz
