#include "attnviz/report/heatmap.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "support/naive.h"

namespace attnviz {
namespace {

using Visible = std::function<bool(std::size_t query, std::size_t key)>;

HeatmapPanel panel_of(ConstMatrix values, Visible visible = {}) {
  return {"", values, std::move(visible)};
}

Heatmap labelled(std::size_t n_queries, std::size_t n_keys) {
  Heatmap heatmap;
  heatmap.query_labels.assign(n_queries, "q");
  heatmap.key_labels.assign(n_keys, "k");
  return heatmap;
}

}  // namespace

TEST_CASE("PoolAxis: cuts into at most the given number of cells that cover every entry once") {
  for (std::size_t size = 0; size <= 40; ++size) {
    for (std::size_t most = 1; most <= 45; ++most) {
      CAPTURE(size);
      CAPTURE(most);
      const PoolAxis axis = PoolAxis::at_most(size, most);
      CHECK(axis.cells() <= most);
      CHECK(axis.pooled() == (size > most));
      std::size_t next = 0;
      for (std::size_t cell = 0; cell < axis.cells(); ++cell) {
        CHECK(axis.begin(cell) == next);
        CHECK(axis.end(cell) > axis.begin(cell));
        next = axis.end(cell);
      }
      CHECK(next == size);
    }
  }
}

TEST_CASE("PoolAxis: no room at all is one cell") {
  CHECK(PoolAxis::at_most(7, 0).cells() == 1);
}

TEST_CASE("PoolAxis: a range names its first and last entry, a single one only itself") {
  const PoolAxis axis = PoolAxis::at_most(10, 4);
  CHECK(axis.range(0) == "0–2");
  CHECK(axis.range(2, "-") == "6-8");
  CHECK(axis.range(3) == "9");
  PoolAxis later = axis;
  later.first = 5;
  CHECK(later.range(0) == "5–7");
  CHECK(later.range(3) == "14");
  CHECK(later.name(1) == "8");
  CHECK(later.largest_number() == 14);
}

TEST_CASE("PoolAxis: a learned sink has its own cell, before the others are cut") {
  const PoolAxis axis = PoolAxis::at_most(11, 5, EntryNumbers::after_sink());
  CHECK(axis.block == 3);
  REQUIRE(axis.cells() == 5);
  CHECK(axis.range(0) == "s");
  CHECK(axis.range(1, "-") == "0-2");
  CHECK(axis.range(4) == "9");
  CHECK(axis.begin(1) == 1);
  CHECK(axis.end(4) == 11);
  CHECK(axis.cell_of(0) == 0);
  CHECK(axis.cell_of(4) == 2);
  CHECK(PoolAxis::at_most(3, 5, EntryNumbers::after_sink({4, 7})).range(2) == "7");
}

TEST_CASE("pool: blocks of one copy the matrix and the mask") {
  const Heatmap heatmap = labelled(2, 3);
  const Visible visible = [](std::size_t query, std::size_t key) { return key <= query; };
  const std::vector<float> weights = {1.0f, 0.0f, 0.0f, 0.25f, 0.75f, 0.0f};
  const PooledMatrix pooled =
      pool(heatmap, panel_of(test::matrix_over(weights, 2, 3), visible), {2, 1}, {3, 1});
  CHECK(pooled.rows == 2);
  CHECK(pooled.cols == 3);
  CHECK(pooled.values == weights);
  CHECK(pooled.visible == std::vector<std::uint8_t>{1, 0, 0, 1, 1, 0});
}

TEST_CASE("pool: each cell is the largest visible weight, at sizes that do not divide") {
  const std::size_t n_queries = 7;
  const std::size_t n_keys = 10;
  const Heatmap heatmap = labelled(n_queries, n_keys);
  const Visible visible = [](std::size_t query, std::size_t key) {
    return (query + 2 * key) % 3 != 0;
  };
  const std::vector<float> weights = test::random_values(n_queries * n_keys, 3);  // some negative
  const PoolAxis queries = PoolAxis::at_most(n_queries, 3);
  const PoolAxis keys = PoolAxis::at_most(n_keys, 4);
  const PooledMatrix pooled = pool(
      heatmap, panel_of(test::matrix_over(weights, n_queries, n_keys), visible), queries, keys);
  REQUIRE(pooled.rows == 3);
  REQUIRE(pooled.cols == 4);
  for (std::size_t row = 0; row < pooled.rows; ++row) {
    for (std::size_t col = 0; col < pooled.cols; ++col) {
      CAPTURE(row);
      CAPTURE(col);
      float largest = -2.0f;
      for (std::size_t query = 3 * row; query < std::min(3 * row + 3, n_queries); ++query) {
        for (std::size_t key = 3 * col; key < std::min(3 * col + 3, n_keys); ++key) {
          if (visible(query, key)) {
            largest = std::max(largest, weights[query * n_keys + key]);
          }
        }
      }
      CHECK(pooled.is_visible(row, col) == (largest > -2.0f));
      CHECK(pooled.value(row, col) == (largest > -2.0f ? largest : 0.0f));
    }
  }
}

TEST_CASE("pool: a block without visible cells is masked, regardless of the hidden numbers") {
  const Heatmap heatmap = labelled(4, 4);
  const Visible visible = [](std::size_t query, std::size_t key) { return key <= query; };
  const std::vector<float> weights(16, 9.0f);
  const PooledMatrix pooled = pool(heatmap, panel_of(test::matrix_over(weights, 4, 4), visible),
                                   PoolAxis{4, 2}, PoolAxis{4, 2});
  CHECK(pooled.visible == std::vector<std::uint8_t>{1, 0, 1, 1});
  CHECK(pooled.value(0, 1) == 0.0f);
}

TEST_CASE("pool: a visible NaN shows, a masked one does not") {
  const Heatmap heatmap = labelled(2, 4);
  const Visible visible = [](std::size_t, std::size_t key) { return key != 3; };
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> weights = {kNan, 0.5f, 0.25f, kNan, 0.75f, 1.0f, 0.125f, kNan};
  const PooledMatrix pooled = pool(heatmap, panel_of(test::matrix_over(weights, 2, 4), visible),
                                   PoolAxis{2, 2}, PoolAxis{4, 2});
  CHECK(std::isnan(pooled.value(0, 0)));
  CHECK(pooled.value(0, 1) == 0.25f);
}

TEST_CASE("pool: the mean of the visible weights") {
  Heatmap heatmap = labelled(2, 4);
  heatmap.pool = PoolKind::kMean;
  const std::vector<float> weights = {1.0f, 9.0f, 9.0f, 9.0f, 0.25f, 0.25f, 0.5f, 9.0f};
  const PooledMatrix pooled =
      pool(heatmap,
           panel_of(test::matrix_over(weights, 2, 4),
                    [](std::size_t query, std::size_t key) { return key <= 2 * query; }),
           PoolAxis{2, 2}, PoolAxis{4, 2});
  CHECK(pooled.value(0, 0) == 0.5f);  // of 1, 0.25 and 0.25
  CHECK(pooled.value(0, 1) == 0.5f);  // of one weight
}

TEST_CASE("pool: with a row-max scale cells are shown as shares of their row's largest weight") {
  Heatmap heatmap = labelled(3, 2);
  heatmap.scale.kind = ScaleKind::kRowMax;
  const std::vector<float> weights = {0.5f, 9.0f, 0.25f, 0.125f, 0.0f, 0.0f};
  const HeatmapPanel panel =
      panel_of(test::matrix_over(weights, 3, 2),
               [](std::size_t query, std::size_t key) { return key <= query; });
  const PooledMatrix cells = pool(heatmap, panel, {3, 1}, {2, 1});
  CHECK(cells.value(0, 0) == 0.5f);
  CHECK(cells.shown(0, 0) == 1.0f);  // 9 is masked
  CHECK(cells.shown(1, 0) == 1.0f);
  CHECK(cells.value(1, 1) == 0.125f);
  CHECK(cells.shown(1, 1) == 0.5f);
  CHECK(cells.shown(2, 0) == 0.0f);
  heatmap.pool = PoolKind::kMean;
  const PooledMatrix pooled = pool(heatmap, panel, {3, 3}, {2, 2});
  CHECK(pooled.value(0, 0) == 0.175f);  // (0.5 + 0.25 + 0.125 + 0 + 0) / 5
  CHECK(pooled.shown(0, 0) == 0.5f);    // (1 + 1 + 0.5 + 0 + 0) / 5
}

TEST_CASE("pool: coarse thumbnails show the mean as a share of the largest for the same queries") {
  Heatmap heatmap = labelled(16, 16);
  heatmap.are_thumbnails = true;
  std::vector<float> weights(256, 0.0f);
  for (std::size_t query = 0; query < 16; ++query) {
    weights[query * 16] = 0.75f;                  // in the left cells
    weights[query * 16 + 8 + query / 8] = 0.25f;  // in the right ones
  }
  const HeatmapPanel panel = panel_of(test::matrix_over(weights, 16, 16));
  const PooledMatrix coarse = pool(heatmap, panel, {16, 8}, {16, 8});
  for (std::size_t row = 0; row < 2; ++row) {
    CHECK(coarse.value(row, 0) == 0.09375f);  // 8 * 0.75 / 64
    CHECK(coarse.shown(row, 0) == 1.0f);
    CHECK(coarse.shown(row, 1) == doctest::Approx(1.0 / 3.0));
  }
  heatmap.queries_are_columns = true;
  const PooledMatrix turned = pool(heatmap, panel, {16, 8}, {16, 8});
  CHECK(turned.shown(0, 1) == 1.0f);
  CHECK(turned.shown(1, 1) == 1.0f);

  const auto is_weight = [&](const Heatmap& other) {
    return pool(other, panel, {16, 8}, {16, 8}).shown(0, 0) == 0.75f;
  };
  Heatmap plain = heatmap;
  plain.are_thumbnails = false;
  CHECK(is_weight(plain));
  Heatmap asked = heatmap;
  asked.pool = PoolKind::kMax;
  CHECK(is_weight(asked));
  Heatmap stretched = heatmap;
  stretched.scale.high = 0.5f;  // --range 0:0.5 applies to weights
  CHECK(is_weight(stretched));
  CHECK(pool(heatmap, panel, {16, 7}, {16, 7}).shown(0, 0) == 0.75f);
}

TEST_CASE("pool: views with a stride are read row by row") {
  const std::vector<float> weights = {0.5f, 9.0f, 0.25f, 9.0f};
  const ConstMatrix column{weights.data(), 2, 1, 2};
  const PooledMatrix pooled =
      pool(labelled(2, 1), panel_of(column), PoolAxis{2, 1}, PoolAxis{1, 1});
  CHECK(pooled.values == std::vector<float>{0.5f, 0.25f});
}

}  // namespace attnviz
