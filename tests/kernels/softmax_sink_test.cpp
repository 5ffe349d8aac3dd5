#include "attnviz/kernels/row_kernels.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "attnviz/core/tensor.h"
#include "attnviz/kernels/products.h"
#include "kernels/simd_targets.h"
#include "support/naive.h"

namespace attnviz {

using kernels::KeyRange;
using test::for_each_target;

// exp(factor · x) / (exp(sink) + Σ exp(factor · x)), in double precision.
TEST_CASE("softmax: a sink is one more term, whose weight goes to no key") {
  constexpr float kFactor = 0.25f;
  for_each_target([] {
    for (const std::size_t n : {1u, 2u, 7u, 17u, 40u, 129u}) {
      for (const float sink : {-90.0f, -2.0f, 0.5f, 3.0f, 20.0f, 95.0f}) {
        CAPTURE(n);
        CAPTURE(sink);
        const std::vector<float> scores = test::random_values(n, 17);
        double sum = std::exp(static_cast<double>(sink) - 100.0);
        for (const float score : scores) {
          sum += std::exp(static_cast<double>(kFactor) * static_cast<double>(score) - 100.0);
        }
        const auto check = [&](std::span<const float> weights, float found) {
          CHECK(std::abs(static_cast<double>(found) -
                         std::exp(static_cast<double>(sink) - 100.0) / sum) < 1e-6);
          double whole = static_cast<double>(found);
          for (std::size_t i = 0; i < n; ++i) {
            const double expected =
                std::exp(static_cast<double>(kFactor) * static_cast<double>(scores[i]) - 100.0) /
                sum;
            REQUIRE(std::abs(static_cast<double>(weights[i]) - expected) < 1e-6);
            whole += static_cast<double>(weights[i]);
          }
          CHECK(whole == doctest::Approx(1.0).epsilon(1e-6));
        };
        std::vector<float> alone = scores;
        float weight = -1.0f;
        REQUIRE(kernels::softmax(alone.data(), n, kFactor, {sink, {&weight, 1}}));
        check(alone, weight);

        // Nine rows: groups and single ones, with padding after them and without.
        constexpr std::size_t kRows = 9;
        for (const std::size_t room : {n, n + 31}) {
          std::vector<float> all(kRows * room, 0.0f);
          for (std::size_t row = 0; row < kRows; ++row) {
            std::ranges::copy(scores, all.begin() + static_cast<std::ptrdiff_t>(row * room));
          }
          const std::vector<KeyRange> ranges(kRows, {0, n});
          std::vector<float> sinks(kRows, -1.0f);
          REQUIRE(kernels::softmax_rows({all.data(), kRows, room, room}, ranges, 0, kFactor, {},
                                        {sink, sinks}) == kRows);
          for (std::size_t row = 0; row < kRows; ++row) {
            check(std::span<const float>(all).subspan(row * room, n), sinks[row]);
          }
        }
      }
    }
  });
}

TEST_CASE("softmax_rows: with a sink, rows of a group equal each row alone") {
  for_each_target([] {
    constexpr std::size_t kRows = 13;
    constexpr std::size_t kColumns = 64;
    MatrixBuffer rows(kRows, kColumns);
    std::ranges::copy(test::random_values(kRows * kColumns, 23), rows.view().data);
    std::vector<KeyRange> ranges;
    for (std::size_t row = 0; row < kRows; ++row) {
      ranges.push_back({0, 20 + 3 * row});
      kernels::scale(rows.view().row(row), 1.0f + static_cast<float>(row));
    }
    MatrixBuffer alone(kRows, kColumns);
    std::ranges::copy_n(rows.view().data, kRows * kColumns, alone.view().data);
    std::vector<float> sinks(kRows, -1.0f);
    REQUIRE(kernels::softmax_rows(rows.view(), ranges, 0, 1.0f, {}, {2.0f, sinks}) ==
            ranges.size());
    for (std::size_t row = 0; row < kRows; ++row) {
      float sink = -1.0f;
      const std::size_t count = ranges[row].end;
      REQUIRE(kernels::softmax(alone.view().row_data(row), count, 1.0f, {2.0f, {&sink, 1}}));
      CHECK(sink == sinks[row]);
      CHECK(test::same_bits(alone.view().row_block(row, 1).col_block(0, count),
                            rows.view().row_block(row, 1).col_block(0, count)));
    }
    CHECK(sinks.front() > sinks.back());
  });
}

TEST_CASE("softmax: a sink far from the scores gets all or no weight, at any temperature") {
  for_each_target([] {
    for (const float temperature : {1e-3f, 1e-8f, 1e-10f, 1e-12f, 1e-30f}) {
      CAPTURE(temperature);
      for (const float sink : {2.7f, 0.3f, -0.7f}) {
        float scores[] = {0.0f, -1.25f, -0.5f};
        float weight = -1.0f;
        REQUIRE(
            kernels::softmax(scores, 3, 1.0f / temperature, {sink / temperature, {&weight, 1}}));
        CHECK(weight == doctest::Approx(sink > 0.0f ? 1.0 : 0.0));
        CHECK(scores[0] == doctest::Approx(sink > 0.0f ? 0.0 : 1.0));
        CHECK(scores[1] == 0.0f);
      }
    }
  });
}

TEST_CASE("softmax: a query that sees nothing gives all its weight to the sink") {
  for_each_target([] {
    std::vector<float> hidden(5, -std::numeric_limits<float>::infinity());
    float weight = 0.0f;
    REQUIRE(kernels::softmax(hidden.data(), hidden.size(), 1.0f, {-3.0f, {&weight, 1}}));
    CHECK(weight == 1.0f);
    CHECK(std::ranges::all_of(hidden, [](float w) { return w == 0.0f; }));
    weight = 0.0f;
    CHECK(kernels::softmax(hidden.data(), 0, 1.0f, {30.0f, {&weight, 1}}));
    CHECK(weight == 1.0f);
    CHECK(kernels::softmax(hidden.data(), 0, 1.0f,
                           {-std::numeric_limits<float>::infinity(), {&weight, 1}}));
    CHECK(weight == 0.0f);
  });
}

}  // namespace attnviz
