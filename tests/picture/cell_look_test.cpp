// Cells as discs, numbers and masks, as painted items and as pixels.
#include "attnviz/picture/layout/figure_layout.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/picture/figure_file.h"
#include "picture/decoded_png.h"

namespace attnviz {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Two tokens; the first sees only itself.
struct Sample {
  std::vector<float> values{1.0f, 0.5f, 0.25f, 0.0f};
  Heatmap heatmap;

  Sample() {
    heatmap.query_labels = heatmap.key_labels = {"a", "b"};
    heatmap.panels.push_back({"L0H0", {values.data(), 2, 2, 2}});
    heatmap.panels[0].visible = [](std::size_t query, std::size_t key) { return key <= query; };
    heatmap.panels[0].mask = "causal";
  }
};

FigureStyle style_of(CellStyle cells) {
  FigureStyle style;
  style.cells = cells;
  return style;
}

// The discs inside the panel, largest first.
std::vector<Strokes> discs_in(const Scene& scene, const PixelRect& panel) {
  std::vector<Strokes> discs;
  for (const SceneItem& item : scene.items) {
    const auto* const strokes = std::get_if<Strokes>(&item);
    if (strokes != nullptr && strokes->curves.front().from.x < panel.right()) {
      discs.push_back(*strokes);
    }
  }
  std::ranges::sort(discs, std::greater(), &Strokes::width);
  return discs;
}

std::vector<std::string> numbers_in(const Scene& scene) {
  std::vector<std::string> numbers;
  for (const SceneItem& item : scene.items) {
    const auto* const text = std::get_if<TextRun>(&item);
    if (text != nullptr && text->role == TextRole::kCellNumber) {
      numbers.push_back(text->text);
    }
  }
  return numbers;
}

std::size_t n_texts(const Scene& scene, std::string_view wanted) {
  return static_cast<std::size_t>(std::ranges::count_if(scene.items, [&](const SceneItem& item) {
    const auto* const text = std::get_if<TextRun>(&item);
    return text != nullptr && text->text == wanted;
  }));
}

}  // namespace

TEST_CASE("dots: the area of a disc is proportional to the weight; 0 and masked cells have none") {
  const Sample sample;
  const FigureStyle style = style_of(CellStyle::kDots);
  const PixelRect panel = lay_out_figure(sample.heatmap, style).panels[0];
  const auto discs = discs_in(figure_scene(sample.heatmap, style), panel);
  REQUIRE(discs.size() == 2);
  CHECK(discs[1].width == doctest::Approx(discs[0].width * std::sqrt(0.25)));
  CHECK(discs[0].width < panel.width / 2);
  CHECK(discs[0].width > panel.width * 0.4);
}

TEST_CASE("dots: the legend has discs at its numbers, of the same size as in the cells") {
  const Sample sample;
  const FigureStyle style = style_of(CellStyle::kDots);
  const FigureLayout layout = lay_out_figure(sample.heatmap, style);
  const Scene scene = figure_scene(sample.heatmap, style);
  const double largest = discs_in(scene, layout.panels[0]).front().width;
  std::vector<double> widths;
  for (const SceneItem& item : scene.items) {
    const auto* const strokes = std::get_if<Strokes>(&item);
    if (strokes != nullptr && strokes->curves.front().from.x > layout.panels[0].right()) {
      const PixelPoint middle = strokes->curves.front().from;
      CHECK(middle.y - strokes->width / 2.0 >= layout.color_bar.y - 1);
      CHECK(middle.y + strokes->width / 2.0 <= layout.color_bar.bottom() + 1);
      widths.push_back(strokes->width);
    }
  }
  CHECK(widths.size() >= 2);
  CHECK(std::abs(std::ranges::max(widths) - largest) <= 1.0);
}

TEST_CASE("dots: the halves of a scale around zero have equal sizes and different colours") {
  Sample sample;
  sample.values = {-2.0f, 0.0f, 2.0f, kNan};
  sample.heatmap.scale = {Colormap("blue-red"), ScaleKind::kLinear, -2.0f, 2.0f};
  const FigureStyle style = style_of(CellStyle::kDots);
  const PixelRect panel = lay_out_figure(sample.heatmap, style).panels[0];
  const auto discs = discs_in(figure_scene(sample.heatmap, style), panel);
  REQUIRE(discs.size() == 2);
  CHECK(discs[0].width == discs[1].width);
  CHECK(discs[0].color != discs[1].color);
  const bool negative_first = discs[0].curves[0].from.y < discs[1].curves[0].from.y;
  const Rgb negative = (negative_first ? discs[0] : discs[1]).color;
  CHECK(negative.b > negative.r);
}

TEST_CASE("dots: the picture shows them as round pixels") {
  const Sample sample;
  for (const FigureTheme theme : {FigureTheme::kLight, FigureTheme::kDark}) {
    FigureStyle style = style_of(CellStyle::kDots);
    style.theme = theme;
    const PixelRect panel = lay_out_figure(sample.heatmap, style).panels[0];
    const test::DecodedPng image = test::decode_png(render_figure(sample.heatmap, style));
    const int quarter = panel.width / 4;
    CHECK(image.at(panel.x + quarter, panel.y + quarter) == theme_colors(theme).text);
    CHECK(image.at(panel.x + 1, panel.y + 1) == theme_colors(theme).cell);  // the cell's corner
  }
}

TEST_CASE("dots: cells too small for discs are shaded, and so is the legend") {
  constexpr std::size_t kTokens = 40;
  Sample sample;
  sample.values.assign(kTokens * kTokens, 0.5f);
  sample.heatmap.query_labels = sample.heatmap.key_labels = std::vector<std::string>(kTokens, "a");
  sample.heatmap.panels[0].values = {sample.values.data(), kTokens, kTokens, kTokens};
  FigureStyle style = style_of(CellStyle::kDots);
  style.cell = kLeastDisc - 1;
  const Scene scene = figure_scene(sample.heatmap, style);
  CHECK(std::ranges::none_of(
      scene.items, [](const SceneItem& item) { return std::holds_alternative<Strokes>(item); }));
  const CellDesign look(sample.heatmap.scale, style, heatmap_grid(sample.heatmap, style), false);
  const std::vector<Rgb> fills = look.palette();
  CHECK(fills[look.fill(0.0f)] == kLightColors.cell);
  CHECK(fills[look.fill(1.0f)] == kLightColors.text);
  CHECK(fills[look.fill(kNan)] == kNanColor);
  CHECK(fills[CellDesign::kMasked] == kLightColors.masked);
}

TEST_CASE("numbers: each visible weight, no colours and no colour bar; zeros are short") {
  const Sample sample;
  const FigureStyle style = style_of(CellStyle::kNumbers);
  CHECK(numbers_in(figure_scene(sample.heatmap, style)) ==
        std::vector<std::string>{"1.00", "0.25", "0"});
  CHECK(lay_out_figure(sample.heatmap, style).color_bar.empty());
}

TEST_CASE("numbers: shown even for many tokens; cells too small for them are refused") {
  const std::size_t n = 300;
  const std::vector<float> values(n * n, 0.5f);
  Heatmap heatmap;
  heatmap.query_labels = heatmap.key_labels = std::vector<std::string>(n, "a");
  heatmap.panels.push_back({"", {values.data(), n, n, n}});
  FigureStyle style = style_of(CellStyle::kNumbers);
  const FigureLayout layout = lay_out_figure(heatmap, style);
  CHECK(layout.grid.pooled());
  CHECK(layout.value_column_width > 0);
  CHECK(numbers_in(figure_scene(heatmap, style)).size() ==
        layout.grid.queries.n_cells() * layout.grid.keys.n_cells());
  style.cell = 10;
  CHECK_THROWS_WITH_AS(figure_scene(heatmap, style),
                       doctest::Contains("numbers need cells of at least 26 pixels"), Error);
}

TEST_CASE("mask: one panel for all heads that share it, in two colours explained in the legend") {
  Sample sample;
  sample.heatmap.panels.push_back(sample.heatmap.panels[0]);
  sample.heatmap.panels[1].title = "L0H1";
  const FigureStyle style = style_of(CellStyle::kMask);
  const Scene scene = figure_scene(sample.heatmap, style);
  CHECK(n_texts(scene, "mask causal") == 1);
  CHECK(n_texts(scene, "L0H1") == 0);
  CHECK(n_texts(scene, "sees") == 1);
  CHECK(n_texts(scene, "masked") == 1);
  CHECK(figure_grid(sample.heatmap, style).queries.cells() == 2);
  const auto image = std::ranges::find_if(
      scene.items, [](const SceneItem& item) { return std::holds_alternative<CellImage>(item); });
  REQUIRE(image != scene.items.end());
  const CellColors& cells = *std::get<CellImage>(*image).colors;
  CHECK(cells.at(0, 0) == cells.at(1, 1));  // regardless of their weights
  CHECK(cells.at(0, 1) == kLightColors.masked);
}

TEST_CASE("a marked cell is framed at its token's position, also in a pooled picture") {
  const std::size_t n = 12;
  const std::vector<float> values(n * n, 0.5f);
  Heatmap heatmap;
  heatmap.query_labels = heatmap.key_labels = std::vector<std::string>(n, "a");
  heatmap.first_query = heatmap.first_key = 3;
  heatmap.panels.push_back({"", {values.data(), n, n, n}});
  mark_cell(heatmap, 0, 2, 5);
  CHECK(!heatmap.marked);  // query 2 is not in the picture
  mark_cell(heatmap, 0, 10, 5);
  REQUIRE(heatmap.marked);
  CHECK(heatmap.marked->row == 7);
  CHECK(heatmap.marked->column == 2);
  const FigureLayout layout = lay_out_figure(heatmap);
  const test::DecodedPng image = test::decode_png(render_figure(heatmap));
  const int pitch = layout.grid.keys.pitch;
  const PixelRect& panel = layout.panels[0];
  CHECK(image.at(panel.x + 2 * pitch + pitch / 2, panel.y + 7 * pitch - 1) == kLightColors.frame);
  CHECK(image.at(panel.x + 2 * pitch - 1, panel.y + 7 * pitch + pitch / 2) == kLightColors.frame);
  CHECK(image.at(panel.x + 4 * pitch - 1, panel.y + 7 * pitch + pitch / 2) != kLightColors.frame);
}

}  // namespace attnviz
