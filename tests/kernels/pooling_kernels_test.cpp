#include "attnviz/kernels/row_kernels.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "kernels/simd_targets.h"
#include "support/naive.h"

namespace attnviz {
namespace {

using test::for_each_target;

constexpr std::size_t kSizes[] = {1, 2, 15, 16, 17, 31, 48, 100, 129, 130, 600};
constexpr std::size_t kKeysPerCell[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 20, 32, 33, 100, 1000};

// Positive, of very different magnitudes, in rows with a gap between them.
struct Weights {
  Weights(std::size_t n_rows, std::size_t n)
      : values(test::random_values(n_rows * (n + 3), 7)), view{values.data(), n_rows, n, n + 3} {
    for (float& value : values) {
      value = std::min(1.0f, std::exp(6.0f * value) / 400.0f);
    }
  }
  std::vector<float> values;
  ConstMatrix view;
};

template <class Cell>
std::vector<Cell> cells_for(std::size_t n_keys, std::size_t keys_per_cell) {
  std::vector<Cell> cells((n_keys + keys_per_cell - 1) / keys_per_cell);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    cells[i] = static_cast<Cell>(i % 3) * static_cast<Cell>(0.0078125);
  }
  return cells;
}

// check(rows, first key, keys per cell) for many values of each.
void for_each_shape(const auto& check) {
  for (const std::size_t n : kSizes) {
    const Weights weights(3, n);
    for (const std::size_t keys_per_cell : kKeysPerCell) {
      for (const std::size_t first_key : {0u, 1u, 16u, 50u}) {
        for (const std::size_t n_rows : {1u, 3u}) {
          CAPTURE(n);
          CAPTURE(keys_per_cell);
          CAPTURE(first_key);
          CAPTURE(n_rows);
          check(weights.view.row_block(0, n_rows), first_key, keys_per_cell);
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("pool_largest: every SIMD target finds the largest of each cell") {
  for_each_target([] {
    for_each_shape([](ConstMatrix rows, std::size_t first_key, std::size_t keys_per_cell) {
      std::vector<float> cells = cells_for<float>(first_key + rows.cols, keys_per_cell);
      std::vector<float> expected = cells;
      for (std::size_t row = 0; row < rows.rows; ++row) {
        for (std::size_t i = 0; i < rows.cols; ++i) {
          float& cell = expected[(first_key + i) / keys_per_cell];
          cell = std::max(cell, rows(row, i));
        }
      }
      kernels::pool_largest(rows, first_key, keys_per_cell, cells);
      REQUIRE(cells == expected);
    });
  });
}

TEST_CASE("pool_largest: more columns than are processed at once, and numbers below 0") {
  constexpr std::size_t kKeys = 9001;
  const std::vector<float> values = test::random_values(2 * kKeys, 5);
  for_each_target([&] {
    for (const std::size_t keys_per_cell : {std::size_t{3}, std::size_t{33}, kKeys}) {
      CAPTURE(keys_per_cell);
      std::vector<float> cells((kKeys + keys_per_cell - 1) / keys_per_cell, -2.0f);
      std::vector<float> expected = cells;
      for (std::size_t i = 0; i < 2 * kKeys; ++i) {
        float& cell = expected[i % kKeys / keys_per_cell];
        cell = std::max(cell, values[i] - 0.9f);
      }
      std::vector<float> lower = values;
      for (float& value : lower) {
        value -= 0.9f;
      }
      kernels::pool_largest(test::matrix_over(lower, 2, kKeys), 0, keys_per_cell, cells);
      REQUIRE(cells == expected);
    }
  });
}

TEST_CASE("pool_sums: every SIMD target agrees with the double-precision reference") {
  for_each_target([] {
    for_each_shape([](ConstMatrix rows, std::size_t first_key, std::size_t keys_per_cell) {
      std::vector<double> cells = cells_for<double>(first_key + rows.cols, keys_per_cell);
      std::vector<double> expected = cells;
      for (std::size_t row = 0; row < rows.rows; ++row) {
        for (std::size_t i = 0; i < rows.cols; ++i) {
          expected[(first_key + i) / keys_per_cell] += static_cast<double>(rows(row, i));
        }
      }
      kernels::pool_sums(rows, first_key, keys_per_cell, cells);
      for (std::size_t i = 0; i < cells.size(); ++i) {
        REQUIRE(std::abs(cells[i] - expected[i]) < 1e-6 * expected[i] + 1e-10);
      }
    });
  });
}

TEST_CASE("pool_sums: a row adds multiples of 2^-36, so that the order of rows does not matter") {
  constexpr std::size_t kRows = 40;
  constexpr std::size_t kKeys = 300;
  const Weights weights(kRows, kKeys);
  for_each_target([&] {
    for (const std::size_t keys_per_cell : {1u, 3u, 16u, 33u}) {
      CAPTURE(keys_per_cell);
      const std::size_t n_cells = (kKeys + keys_per_cell - 1) / keys_per_cell;
      std::vector<double> forward(n_cells, 0.0);
      std::vector<double> backward(n_cells, 0.0);
      kernels::pool_sums(weights.view, 0, keys_per_cell, forward);
      for (std::size_t row = kRows; row-- > 0;) {
        std::vector<double> alone(n_cells, 0.0);
        kernels::pool_sums(weights.view.row_block(row, 1), 0, keys_per_cell, alone);
        for (std::size_t cell = 0; cell < n_cells; ++cell) {
          const double steps = std::ldexp(alone[cell], 36);
          REQUIRE(steps == std::floor(steps));
          backward[cell] += alone[cell];
        }
      }
      CHECK(forward == backward);
    }
  });
}

TEST_CASE("pool_sums: zeros around a row change no bit") {
  constexpr std::size_t kKeys = 700;
  constexpr std::size_t kFirst = 37;
  constexpr std::size_t kEnd = 655;
  Weights weights(1, kKeys);
  std::fill_n(weights.values.begin(), kFirst, 0.0f);
  std::fill(weights.values.begin() + kEnd, weights.values.end(), 0.0f);
  for_each_target([&] {
    for (const std::size_t keys_per_cell : kKeysPerCell) {
      CAPTURE(keys_per_cell);
      std::vector<double> whole((kKeys + keys_per_cell - 1) / keys_per_cell, 0.0);
      std::vector<double> part = whole;
      kernels::pool_sums(weights.view, 0, keys_per_cell, whole);
      kernels::pool_sums(weights.view.col_block(kFirst, kEnd - kFirst), kFirst, keys_per_cell,
                         part);
      CHECK(whole == part);
    }
  });
}

TEST_CASE("pooling: no rows and no keys change nothing") {
  for_each_target([] {
    float largest[] = {0.5f};
    double sums[] = {0.5};
    for (const ConstMatrix nothing : {ConstMatrix{nullptr, 0, 4, 4}, ConstMatrix{largest, 1, 0, 0},
                                      ConstMatrix{largest, 2, 0, 0}}) {
      kernels::pool_largest(nothing, 0, 2, largest);
      kernels::pool_sums(nothing, 0, 2, sums);
    }
    CHECK(largest[0] == 0.5f);
    CHECK(sums[0] == 0.5);
  });
}

}  // namespace attnviz
