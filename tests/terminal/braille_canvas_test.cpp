#include "attnviz/terminal/page/page.h"

#include <doctest/doctest.h>

#include <string>

namespace attnviz {
namespace {

std::string plain_rows(const BrailleCanvas& canvas, std::size_t n_rows) {
  Page page;
  for (std::size_t row = 0; row < n_rows; ++row) {
    page.add(canvas.row(row));
  }
  return to_plain(page);
}

}  // namespace

TEST_CASE("BrailleCanvas: lines are dots, two by four in a cell") {
  BrailleCanvas canvas(3, 2);
  CHECK(canvas.dots_across() == 6);
  canvas.line({0, 2}, {5, 2}, 1, false, {});
  CHECK(plain_rows(canvas, 2) == "⠤⠤⠤\n\n");
  canvas.line({0, 5}, {5, 5}, 1, true, {});
  CHECK(plain_rows(canvas, 2) == "⠤⠤⠤\n⠶⠶⠶\n");
}

TEST_CASE("BrailleCanvas: every n-th dot, and dots outside are left out") {
  BrailleCanvas canvas(4, 1);
  canvas.line({0, 2}, {7, 2}, 3, false, {});  // 0, 3, 6
  CHECK(plain_rows(canvas, 1) == "⠄⠠ ⠄\n");
  BrailleCanvas low(1, 1);
  low.line({0, 3}, {9, 9}, 1, true, {});
  CHECK(plain_rows(low, 1) == "⡀\n");
}

TEST_CASE("BrailleCanvas: steep lines have a dot in every row, and are widened to the right") {
  BrailleCanvas canvas(1, 1);
  canvas.line({0, 0}, {0, 3}, 1, false, {});
  CHECK(plain_rows(canvas, 1) == "⡇\n");
  canvas.line({0, 0}, {0, 3}, 1, true, {});
  CHECK(plain_rows(canvas, 1) == "⣿\n");
}

TEST_CASE("BrailleCanvas: a cell has the style of the last line") {
  BrailleCanvas canvas(2, 1);
  canvas.line({0, 2}, {3, 2}, 1, false, kDim);
  canvas.line({2, 0}, {2, 3}, 1, false, kBold);
  const Line line = canvas.row(0);
  REQUIRE(line.spans.size() == 2);
  CHECK(line.spans[0].style == kDim);
  CHECK(line.spans[1].style == kBold);
}

}  // namespace attnviz
