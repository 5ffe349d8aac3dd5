#include "attnviz/picture/layout/figure_sheet.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <variant>
#include <vector>

#include "attnviz/color/colormap.h"
#include "attnviz/core/error.h"
#include "attnviz/picture/fonts/glyphs.h"
#include "attnviz/picture/raster/scene_painter.h"
#include "support/naive.h"

namespace attnviz {

TEST_CASE("figure sheet: cells have numbers if each has room for one") {
  const CellRow few(10, 800, 16, 7);
  CHECK(few.has_numbers);
  CHECK(few.n_cells == 16);
  CHECK(few.width() <= 800);
  const CellRow more(10, 800, 64, 7);
  CHECK(!more.has_numbers);
  CHECK(more.n_cells == 64);
  CHECK(more.width() <= 800);
  CHECK(more.width() > 600);
}

TEST_CASE("figure sheet: more values than pixels are thinned evenly, starting with the first") {
  const CellRow row(0, 300, 4096, 7);
  CHECK(row.n_cells == 300);
  CHECK(row.width() <= 300);
  CHECK(row.value_of(0) == 0);
  CHECK(row.value_of(299) < 4096);
  CHECK(row.value_of(299) >= 4096 - 2 * 4096 / 300);
  for (std::size_t cell = 1; cell < 300; ++cell) {
    CHECK(row.value_of(cell) > row.value_of(cell - 1));
  }
}

TEST_CASE("figure sheet: the colour of a cell is that of its value") {
  FigureSheet sheet(200, FigureStyle{});
  const std::vector<float> values = {-2.0f, 0.0f, 1.0f};
  const NumberGroup numbers(values);
  const CellRow row(10, 60, 3, 9);  // without numbers
  REQUIRE(!row.has_numbers);
  sheet.cells(row, 5, 18, values, 2.0f, numbers);
  const Colormap colors("blue-red");
  const Scene scene = std::move(sheet).scene(40);
  CHECK(scene.width == 200);
  CHECK(scene.height == 40);
  REQUIRE(scene.items.size() == 1);
  const auto& image = std::get<CellImage>(scene.items[0]);
  REQUIRE(image.colors->cols == 3);
  CHECK(image.colors->at(0, 0) == colors(0.0f));
  CHECK(image.colors->at(0, 1) == colors(0.5f));
  CHECK(image.colors->at(0, 2) == colors(0.75f));
  const Canvas picture = paint(scene, FontSet::embedded());
  CHECK(picture.at(row.x + 2, 10) == colors(0.0f));
  CHECK(picture.at(row.x + 2 * row.cell_width + 2, 10) == colors(0.75f));
}

TEST_CASE("figure sheet: numbers are centred in their cells, and light on dark ones") {
  FigureSheet sheet(300, FigureStyle{});
  const std::vector<float> values = {-2.0f, 0.0f};
  const CellRow row(10, 200, 2, 5);
  REQUIRE(row.has_numbers);
  sheet.cells(row, 5, 18, values, 2.0f, NumberGroup(values));
  const Scene scene = std::move(sheet).scene(40);
  REQUIRE(scene.items.size() == 3);
  const auto& image = std::get<CellImage>(scene.items[0]);
  for (const std::size_t cell : {0u, 1u}) {
    const auto& number = std::get<TextRun>(scene.items[1 + cell]);
    const PixelRect box = image.cell(0, cell);
    const double wide = static_cast<double>(number.columns) * number.column_width;
    CHECK(number.x + wide / 2 == doctest::Approx(box.x + box.width / 2.0).epsilon(0.02));
    CHECK((luminance(number.color) > 0.5) == (cell == 0));
  }
}

TEST_CASE("figure sheet: texts are cut to their room, and aligned at their end if requested") {
  FigureSheet sheet(300, FigureStyle{});
  CHECK(sheet.text("internationalisation", 10, 10, 70, {}) <= 70);
  sheet.text_to("1.25", 200, 10, {});
  const int lines = sheet.paragraph("one two three four five six seven", 10, 40, 100, {});
  CHECK(lines >= 2 * line_height(FigureSheet::kText));
  const Scene scene = std::move(sheet).scene(60);
  REQUIRE(scene.items.size() > 2);
  CHECK(std::get<TextRun>(scene.items[1]).x == 200 - 4 * FigureSheet::kText);
}

TEST_CASE("figure sheet: a sheet that is too high is refused") {
  CHECK_THROWS_WITH_AS(FigureSheet(100, FigureStyle{}).scene(20000),
                       "picture: 20000 pixels high, at most 16384: choose fewer heads or steps",
                       Error);
}

TEST_CASE(
    "figure sheet: the largest absolute value ignores numbers that are not finite, and is never "
    "0") {
  const std::vector<float> values = {1.0f, -3.0f, -std::numeric_limits<float>::infinity()};
  CHECK(largest_size(test::matrix_over(values, 1, 3)) == 3.0f);
  CHECK(largest_size(test::matrix_over({0.0f}, 1, 1)) > 0.0f);
}

}  // namespace attnviz
