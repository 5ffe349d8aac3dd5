#include "attnviz/picture/layout/figure_grid.h"

#include <doctest/doctest.h>

#include <cstddef>

#include "attnviz/core/error.h"

namespace attnviz {
namespace {

struct Case {
  std::size_t n_panels;
  std::size_t rows;
  std::size_t columns;
};

}  // namespace

TEST_CASE("choose_grid: square panels form a landscape figure with few empty positions") {
  for (const Case& c : {Case{1, 1, 1}, Case{2, 1, 2}, Case{4, 2, 2}, Case{6, 2, 3}, Case{8, 2, 4},
                        Case{12, 3, 4}, Case{144, 9, 16}}) {
    CAPTURE(c.n_panels);
    const FigureGrid grid = choose_grid(c.n_panels, 12, 12);
    CHECK(grid.rows == c.rows);
    CHECK(grid.columns == c.columns);
  }
}

TEST_CASE("choose_grid: each layer's heads have their own rows, unless that makes a ribbon") {
  CHECK(choose_grid(144, 6, 6, 12).columns == 12);
  CHECK(choose_grid(14, 6, 6, 7).columns == 7);
  CHECK(choose_grid(128, 6, 6, 64).columns == 16);
  CHECK(choose_grid(4096, 3, 3, 64).columns == 64);
  CHECK(choose_grid(202, 6, 6, 101).columns < 50);
}

TEST_CASE("choose_grid: wide panels are stacked") {
  CHECK(choose_grid(4, 1, 60).columns == 1);
  CHECK(choose_grid(4, 60, 1).rows == 1);
}

TEST_CASE("choose_grid: every panel has a position and no row is empty") {
  for (std::size_t n_panels = 1; n_panels < 200; ++n_panels) {
    CAPTURE(n_panels);
    const FigureGrid grid = choose_grid(n_panels, 20, 20);
    CHECK(grid.rows * grid.columns >= n_panels);
    CHECK((grid.rows - 1) * grid.columns < n_panels);
  }
}

TEST_CASE("check_size: the advice addresses the cause of a figure's size") {
  FigureStyle style;
  CHECK_NOTHROW(check_size(1000, 150'000, style, 149'000));
  CHECK_THROWS_WITH_AS(check_size(1000, 150'001, style),
                       doctest::Contains("150 million: draw fewer heads"), Error);
  CHECK_THROWS_WITH_AS(check_size(1000, 200'000, style, 10'000),
                       doctest::Contains("150 million: draw fewer heads"), Error);
  style.dpi = 192;
  style.cell = 9;
  CHECK_THROWS_WITH_AS(check_size(1000, 200'000, style),
                       "picture: it would have 1000 x 200000 pixels, 200 million, but the limit is "
                       "150 million: choose smaller cells or a lower resolution",
                       Error);
  CHECK_THROWS_WITH_AS(check_size(1000, 200'000, style, 199'000),
                       "picture: it would have 1000 x 200000 pixels, 200 million, but the limit is "
                       "150 million: leave out the notes below it",
                       Error);
  CHECK_THROWS_WITH_AS(check_size(1000, 150'001, style), doctest::Contains("151 million, but"),
                       Error);
}

TEST_CASE("choose_grid: cells are square, large for few tokens, smaller for more") {
  CHECK(choose_grid(1, 3, 3).queries.pitch >= 64);
  CHECK(choose_grid(12, 3, 3).queries.pitch >= 64);
  int previous = 1000;
  for (const std::size_t n : {3u, 12u, 60u, 300u, 1000u}) {
    CAPTURE(n);
    const FigureGrid grid = choose_grid(1, n, n);
    CHECK(grid.queries.pitch == grid.keys.pitch);
    CHECK(grid.queries.pitch < previous);
    CHECK(grid.queries.pitch >= 1);
    CHECK(grid.queries.n_cells() == n);
    previous = grid.queries.pitch;
  }
}

TEST_CASE("choose_grid: one query over many keys is at least 24 pixels high") {
  const FigureGrid grid = choose_grid(1, 1, 5000);
  CHECK(grid.queries.length() >= 24);
  CHECK(grid.keys.n_cells() <= 2000);
}

TEST_CASE("choose_grid: matrices that do not fit are pooled in equal blocks, and stay in bounds") {
  for (const std::size_t n : {2001u, 2500u, 10'000u, 32'768u}) {
    for (const std::size_t n_panels : {1u, 4u, 12u, 144u, 1152u}) {
      CAPTURE(n);
      CAPTURE(n_panels);
      const FigureGrid grid = choose_grid(n_panels, n, n);
      CHECK(grid.keys.tokens.pooled());
      CHECK(grid.keys.n_cells() <= 2000);
      CHECK(grid.queries.n_cells() == grid.keys.n_cells());
      CHECK(grid.keys.n_cells() * grid.keys.tokens.block >= n);
      CHECK(static_cast<int>(grid.columns) * (grid.keys.length() + kPanelMargin) <= 3700);
      CHECK(static_cast<int>(grid.rows) *
                (grid.queries.length() + kPanelMargin + kPanelTitleHeight) <=
            3600);
    }
  }
}

}  // namespace attnviz
