#include "attnviz/picture/layout/figure_layout.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "attnviz/picture/fonts/glyphs.h"
#include "attnviz/picture/layout/figure_style.h"
#include "support/sample_heatmap.h"
#include "support/sample_overview.h"

namespace attnviz {
namespace {

template <class Item>
std::vector<Item> all(const Scene& scene) {
  std::vector<Item> found;
  for (const SceneItem& item : scene.items) {
    if (const Item* it = std::get_if<Item>(&item)) {
      found.push_back(*it);
    }
  }
  return found;
}

std::set<std::string> strings(const Scene& scene, TextRole role) {
  std::set<std::string> found;
  for (const TextRun& text : all<TextRun>(scene)) {
    if (text.role == role) {
      found.insert(text.text);
    }
  }
  return found;
}

struct Bounds {
  double left, top, right, bottom;
};

struct BoundsOf {
  Bounds operator()(const TextRun& text) const {
    const auto c = text_corners({static_cast<double>(text.x), static_cast<double>(text.y)},
                                text.columns, text.column_width, text.angle);
    return {std::min({c[0].x, c[1].x, c[2].x, c[3].x}), std::min({c[0].y, c[1].y, c[2].y, c[3].y}),
            std::max({c[0].x, c[1].x, c[2].x, c[3].x}), std::max({c[0].y, c[1].y, c[2].y, c[3].y})};
  }
  Bounds operator()(const Strokes& strokes) const {
    const Curve& curve = strokes.curves.front();
    return {curve.from.x, std::min(curve.from.y, curve.to.y) - strokes.width, curve.to.x,
            std::max(curve.from.y, curve.to.y) + strokes.width};
  }
  template <class Item>
  Bounds operator()(const Item& item) const {
    const PixelRect& r = item.rect;
    return {1.0 * r.x, 1.0 * r.y, 1.0 * r.right(), 1.0 * r.bottom()};
  }
};

// Nothing is cut off, cells fill their rectangle, and every item is visible.
void check_scene(const Scene& scene) {
  for (const SceneItem& item : scene.items) {
    const Bounds at = std::visit(BoundsOf{}, item);
    CHECK(at.left >= 0);
    CHECK(at.top >= 0);
    CHECK(at.right <= scene.width);
    CHECK(at.bottom <= scene.height);
    CHECK(at.left < at.right);
    CHECK(at.top < at.bottom);
  }
  for (const CellImage& image : all<CellImage>(scene)) {
    const CellColors& colors = *image.colors;
    REQUIRE(colors.numbers.size() == colors.rows * colors.cols);
    const PixelRect last = image.cell(colors.rows - 1, colors.cols - 1);
    CHECK(last.right() == image.rect.right());
    CHECK(last.bottom() == image.rect.bottom());
    CHECK(*std::max_element(colors.numbers.begin(), colors.numbers.end()) < colors.palette.size());
  }
  for (const TextRun& text : all<TextRun>(scene)) {
    CHECK(text.columns == FontSet::embedded().columns(text.text));
  }
}

}  // namespace

TEST_CASE("figure_scene: each panel has an image of cells in the colours of their values") {
  test::SampleHeatmap sample(12, 4);
  sample.values[1][7 * 12 + 3] = std::numeric_limits<float>::quiet_NaN();
  for (const FigureTheme theme : {FigureTheme::kLight, FigureTheme::kDark}) {
    FigureStyle style;
    style.theme = theme;
    const Scene scene = figure_scene(sample.heatmap, style);
    check_scene(scene);
    CHECK(scene.background == theme_colors(theme).background);
    const std::vector<CellImage> panels = all<CellImage>(scene);
    REQUIRE(panels.size() == 4);
    for (std::size_t panel = 0; panel < 4; ++panel) {
      for (std::size_t query = 0; query < 12; ++query) {
        for (std::size_t key = 0; key < 12; ++key) {
          const float value = sample.heatmap.panels[panel].values(query, key);
          const Rgb expected = key > query ? theme_colors(theme).masked
                                           : Colormap().step_color(Colormap().step(value));
          REQUIRE(panels[panel].colors->at(query, key) == expected);
        }
      }
    }
    CHECK(panels[1].colors->at(7, 3) == kNanColor);
  }
}

TEST_CASE("figure_scene: everything in the layout is drawn, and nothing is cut off") {
  for (const std::size_t n : {1u, 3u, 12u, 60u, 300u}) {
    for (const std::size_t n_panels : {1u, 5u}) {
      CAPTURE(n);
      CAPTURE(n_panels);
      const test::SampleHeatmap sample(n, n_panels, test::Labels::kHard);
      FigureStyle style;
      style.dpi = 144;
      const FigureLayout layout = lay_out_figure(sample.heatmap, style);
      const Scene scene = figure_scene(sample.heatmap, style);
      check_scene(scene);
      CHECK(scene.width == layout.width);
      CHECK(scene.height == layout.height);
      CHECK(scene.dpi == 144);
      std::vector<TextRun> texts = all<TextRun>(scene);
      std::erase_if(texts, [](const TextRun& text) { return text.role == TextRole::kCellNumber; });
      CHECK(texts.size() == layout.texts.size());
    }
  }
}

TEST_CASE("figure_scene: only visible cells have numbers; indices and notes are paler") {
  test::SampleHeatmap sample(3, 1);
  sample.values[0] = {1, 0, 0, 0.25, 0.75, 0, 0.125, 0.5, 0.375};
  const Scene scene = figure_scene(sample.heatmap);
  CHECK(strings(scene, TextRole::kCellNumber) ==
        std::set<std::string>{"1.00", "0.25", "0.75", "0.12", "0.50", "0.38"});
  for (const TextRun& text : all<TextRun>(scene)) {
    if (text.role == TextRole::kNote) {
      CHECK(text.color == kLightColors.note);
    }
    if (text.role == TextRole::kTitle) {
      CHECK(text.color == kLightColors.text);
    }
  }
}

TEST_CASE("figure_scene: exactly the masked cells are hatched, adjacent ones together") {
  for (const int cell : {12, 20}) {
    const test::SampleHeatmap sample(5, 1);
    FigureStyle style;
    style.cell = cell;
    const Scene scene = figure_scene(sample.heatmap, style);
    const CellImage panel = all<CellImage>(scene).front();
    const std::vector<Hatch> hatches = all<Hatch>(scene);
    CHECK(hatches.size() == 4 + 3 + 2 + 1 + 1);  // and the legend's swatch
    CHECK(hatches.front().rect.x == panel.cell(0, 1).x);
  }
  // Cells too small for gaps, in greys like the colour map: a run of masked ones in every row but
  // the last.
  test::SampleHeatmap sample(40, 1);
  sample.heatmap.scale.colormap = Colormap("gray");
  FigureStyle style;
  style.cell = 3;
  const Scene scene = figure_scene(sample.heatmap, style);
  const std::vector<Hatch> hatches = all<Hatch>(scene);
  REQUIRE(hatches.size() == 39 + 1);
  CHECK(hatches[0].rect.width == 39 * 3);
  CHECK(hatches[38].rect.width == 3);
}

TEST_CASE("overview_scene: thumbnails first, then the large head, nothing cut off") {
  const test::SampleOverview sample(4, 8, 12);
  const Scene scene = overview_scene(sample.overview());
  check_scene(scene);
  const std::vector<CellImage> images = all<CellImage>(scene);
  REQUIRE(images.size() == 33);
  CHECK(images[0].rect.width < images[32].rect.width);
  // Frames of four sides each: the chosen thumbnail, its mark, the cell named in the sentence.
  const auto n_frame_sides =
      std::count_if(scene.items.begin(), scene.items.end(), [](const SceneItem& item) {
        const auto* const rectangle = std::get_if<Rectangle>(&item);
        return rectangle != nullptr && rectangle->color == kLightColors.frame;
      });
  CHECK(n_frame_sides == 12);
}

}  // namespace attnviz
