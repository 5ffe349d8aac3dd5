#include "attnviz/picture/layout/figure_labels.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "attnviz/picture/fonts/glyphs.h"

namespace attnviz {
namespace {

std::vector<std::string> words(std::size_t n) {
  return std::vector<std::string>(n, "cat");
}

CellAxis axis_of(std::size_t n_tokens, int pitch, std::size_t block = 1) {
  return {{n_tokens, block}, pitch, 0};
}

// What labels of keys know about those of queries.
AxisLabels queries_of(int column_width) {
  AxisLabels queries;
  queries.column_width = column_width;
  return queries;
}

}  // namespace

TEST_CASE("axis labels: if every token has one, none needs its index") {
  const AxisLabels labels = query_axis_labels(axis_of(12, 30), words(12), {});
  CHECK(labels.step == 1);
  REQUIRE(labels.labels.size() == 12);
  CHECK(labels.labels[3].text == "cat");
  CHECK(labels.labels[3].index.empty());
  CHECK(labels.labels[3].columns == 3);
}

TEST_CASE("axis labels: when thinned, every k-th token has one, k round, with its index") {
  for (const int pitch : {1, 2, 3, 5, 8, 11}) {
    CAPTURE(pitch);
    const AxisLabels labels = query_axis_labels(axis_of(200, pitch), words(200), {});
    CHECK(std::set<std::size_t>{1, 2, 5, 10, 20}.count(labels.step) == 1);
    CHECK(static_cast<int>(labels.step) * pitch >= line_height(labels.column_width));
    REQUIRE(labels.labels.size() == (200 + labels.step - 1) / labels.step);
    if (labels.step > 1) {
      CHECK(labels.labels[1].index == std::to_string(labels.step));
      CHECK(labels.labels[1].columns == 4 + labels.labels[1].index.size());
    }
  }
}

TEST_CASE("axis labels: for the same tokens, labels below match those on the left") {
  for (const int pitch : {1, 2, 3, 4, 5, 6, 7, 8, 11, 15}) {
    CAPTURE(pitch);
    const AxisLabels queries = query_axis_labels(axis_of(400, pitch), words(400), {});
    const AxisLabels keys = key_axis_labels(axis_of(400, pitch), words(400), {}, queries);
    CHECK(keys.step % queries.step == 0);
    CHECK(static_cast<double>(keys.step) * pitch >= line_height(keys.column_width) / kSlope);
  }
}

TEST_CASE("axis labels: labels that are numbers have no index, thinned or not") {
  const AxisLabels labels = key_axis_labels(axis_of(200, 3), words(200), {}, queries_of(9), false);
  CHECK(labels.step > 1);
  CHECK(labels.labels[1].index.empty());
  CHECK(labels.labels[1].columns == 3);
}

TEST_CASE("axis labels: a cell that represents several tokens has the label of its first") {
  const AxisLabels labels =
      query_axis_labels(axis_of(10, 40, 3), {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}, {});
  REQUIRE(labels.labels.size() == 4);
  CHECK(labels.labels[2].text == "6");
  CHECK(labels.labels[2].index == "6");
}

TEST_CASE("axis labels: keys are horizontal while all fit side by side, else slanted") {
  CHECK(key_axis_labels(axis_of(3, 60), words(3), {}, queries_of(9)).angle == TextAngle::kLevel);
  const AxisLabels rising = key_axis_labels(axis_of(3, 20), words(3), {}, queries_of(7));
  CHECK(rising.angle == TextAngle::kRising);
  CHECK(rising.height() > line_height(7));
}

TEST_CASE("axis labels: twice the resolution makes text twice as large") {
  FigureStyle fine;
  fine.dpi = 192;
  const AxisLabels usual = query_axis_labels(axis_of(12, 40), words(12), {});
  const AxisLabels twice = query_axis_labels(axis_of(12, 80), words(12), fine);
  CHECK(twice.column_width == 2 * usual.column_width);
  CHECK(twice.step == usual.step);
}

}  // namespace attnviz
