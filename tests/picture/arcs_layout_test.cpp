#include "attnviz/picture/layout/layouts.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/picture/figure_file.h"
#include "attnviz/picture/fonts/glyphs.h"
#include "picture/decoded_png.h"
#include "support/naive.h"

namespace attnviz {
namespace {

// Each token looks at itself and at the one before.
ArcsFigure sample_arcs(std::size_t n_tokens, std::size_t n_groups, std::size_t n_panels = 1) {
  ArcsFigure figure;
  figure.query_labels = figure.key_labels = std::vector<std::string>(n_tokens, "token");
  figure.title = "attention";
  figure.value_name = "attention weight";
  figure.notes = {"mask causal"};
  figure.least = kLeastStrength;
  ArcsPanel panel;
  for (std::size_t group = 0; group < n_groups; ++group) {
    panel.groups.push_back({"L0H" + std::to_string(group), group, {}});
    for (std::size_t i = 0; i < n_tokens; ++i) {
      panel.groups.back().edges.push_back({i, i - std::min<std::size_t>(i, 1), 0.25f, 0.25f});
    }
    for (std::size_t i = 0; i < n_tokens; ++i) {
      panel.groups.back().edges.push_back({i, i, 0.75f, 0.75f});
    }
  }
  for (std::size_t i = 0; i < n_panels; ++i) {
    figure.panels.push_back(panel);
    figure.panels.back().title = n_panels > 1 ? "panel " + std::to_string(i) : "";
  }
  return figure;
}

template <class Item>
std::vector<Item> items_of(const Scene& scene) {
  std::vector<Item> items;
  for (const SceneItem& item : scene.items) {
    if (const auto* one = std::get_if<Item>(&item)) {
      items.push_back(*one);
    }
  }
  return items;
}

std::size_t count_role(const Scene& scene, TextRole role) {
  const std::vector<TextRun> texts = items_of<TextRun>(scene);
  return static_cast<std::size_t>(std::ranges::count(texts, role, &TextRun::role));
}

bool is_bent_or_long(const Strokes& strokes) {
  return strokes.curves.size() > 1;
}

}  // namespace

TEST_CASE(
    "arcs_scene: lines join the rows of queries on the left with those of keys on the right") {
  const Scene scene = arcs_scene(sample_arcs(3, 1));
  std::vector<Strokes> lines = items_of<Strokes>(scene);
  std::erase_if(lines, [](const Strokes& strokes) { return !is_bent_or_long(strokes); });
  REQUIRE(lines.size() == 2);  // weaker lines first
  CHECK(lines[0].opacity < lines[1].opacity);
  CHECK(lines[0].width < lines[1].width);
  CHECK(lines[0].color == group_color(0).light);
  const std::vector<Curve>& weak = lines[0].curves;
  const std::vector<Curve>& strong = lines[1].curves;
  REQUIRE(weak.size() == 3);
  const double pitch = strong[1].from.y - strong[0].from.y;
  CHECK(pitch == 24.0);
  CHECK(weak[1].from.y == strong[1].from.y);
  CHECK(weak[1].to.y == strong[0].to.y);
  CHECK(weak[1].bend > 0.0);
  CHECK(strong[1].bend == 0.0);
  CHECK(strong[2].from.y == strong[2].to.y);
  CHECK(strong[0].to.x - strong[0].from.x == 220.0);
  // Labels end before the lines or begin after them, vertically centred in their rows.
  for (const TextRun& text : items_of<TextRun>(scene)) {
    const int middle = text.y + line_height(text.column_width) / 2;
    if (text.role == TextRole::kQueryLabel) {
      CHECK(text.x + static_cast<int>(text.columns) * text.column_width < strong[0].from.x);
      CHECK(std::ranges::any_of(
          strong, [middle](const Curve& curve) { return std::abs(curve.from.y - middle) <= 1.0; }));
    } else if (text.role == TextRole::kKeyLabel) {
      CHECK(text.x > strong[0].to.x);
    }
  }
  CHECK(count_role(scene, TextRole::kQueryLabel) == 3);
  CHECK(count_role(scene, TextRole::kKeyLabel) == 3);
}

TEST_CASE("arcs_scene: lines of a tenth of the scale are visible, also with many heads") {
  const auto opacity_of = [](std::size_t n_groups, float strength) {
    ArcsFigure figure = sample_arcs(3, n_groups);
    for (ArcsGroup& group : figure.panels[0].groups) {
      group.edges = {{1, 0, strength, strength}};
    }
    const std::vector<Strokes> strokes = items_of<Strokes>(arcs_scene(figure));
    const auto line = std::ranges::find_if(
        strokes, [](const Strokes& one) { return one.curves.front().bend > 0.0; });
    REQUIRE(line != strokes.end());
    return line->opacity;
  };
  for (const std::size_t n_groups : {1UL, 4UL, 12UL}) {
    CAPTURE(n_groups);
    CHECK(opacity_of(n_groups, 0.1f) >= (n_groups == 1 ? 0.4 : 0.2));
    CHECK(opacity_of(n_groups, 0.1f) < 0.5);
    CHECK(opacity_of(n_groups, kLeastStrength) < opacity_of(n_groups, 0.1f) / 1.9);
    CHECK(opacity_of(n_groups, 1.0f) == 1.0);
  }
  // The samples of the legend are drawn as lines are.
  const std::vector<Strokes> strokes = items_of<Strokes>(arcs_scene(sample_arcs(3, 1)));
  CHECK(std::ranges::count(strokes, opacity_of(1, 0.1f), &Strokes::opacity) == 1);
}

TEST_CASE("arcs_scene: if weights exceed the end of the scale, its sample in the legend says so") {
  ArcsFigure figure = sample_arcs(3, 1);
  figure.scale.high = 0.5f;
  const auto has = [&figure](const std::string& label) {
    return std::ranges::any_of(items_of<TextRun>(arcs_scene(figure)),
                               [&label](const TextRun& text) { return text.text == label; });
  };
  CHECK(has("0.5"));
  figure.has_stronger = true;
  CHECK(has("≥ 0.5"));
  CHECK_FALSE(has("0.5"));
}

TEST_CASE("arcs_scene: at any size nothing is cut off and texts do not touch") {
  for (const std::size_t n_tokens : {1UL, 3UL, 40UL, 300UL, 2500UL}) {
    for (const std::size_t n_groups : {1UL, 12UL}) {
      for (const std::size_t n_panels : {1UL, 3UL}) {
        CAPTURE(n_tokens);
        CAPTURE(n_groups);
        CAPTURE(n_panels);
        const Scene scene = arcs_scene(sample_arcs(n_tokens, n_groups, n_panels));
        CHECK(scene.height < 4500);
        CHECK(scene.width <= 4096);
        const std::vector<TextRun> texts = items_of<TextRun>(scene);
        struct Box {
          int left, top, right, bottom;
        };
        std::vector<Box> boxes;
        for (const TextRun& text : texts) {
          const int wide = static_cast<int>(text.columns) * text.column_width;
          boxes.push_back({text.x, text.y, text.x + wide, text.y + line_height(text.column_width)});
          CHECK(boxes.back().left >= 0);
          CHECK(boxes.back().top >= 0);
          CHECK(boxes.back().right <= scene.width);
          CHECK(boxes.back().bottom <= scene.height);
        }
        std::size_t n_touching = 0;
        for (std::size_t i = 0; i < boxes.size(); ++i) {
          for (std::size_t j = 0; j < i; ++j) {
            const Box& a = boxes[i];
            const Box& b = boxes[j];
            n_touching +=
                a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom ? 1
                                                                                             : 0;
          }
        }
        CHECK(n_touching == 0);
        for (const Strokes& strokes : items_of<Strokes>(scene)) {
          for (const Curve& curve : strokes.curves) {
            CHECK((curve.from.x >= 0 && curve.to.x <= scene.width && curve.from.y >= 0 &&
                   curve.from.y <= scene.height && curve.to.y >= 0 && curve.to.y <= scene.height));
          }
        }
      }
    }
  }
}

TEST_CASE("arcs_scene: similar groups have separate lanes, panels are side by side") {
  const Scene scene = arcs_scene(sample_arcs(3, 2, 2));
  std::vector<Strokes> lines = items_of<Strokes>(scene);
  std::erase_if(lines, [](const Strokes& strokes) { return !is_bent_or_long(strokes); });
  REQUIRE(lines.size() == 8);  // two strengths of two groups in two panels
  CHECK(lines[1].color == group_color(1).light);
  CHECK(lines[1].curves[0].from.y - lines[0].curves[0].from.y == 3.0);
  CHECK(lines[4].curves[0].from.y == lines[0].curves[0].from.y);
  CHECK(lines[4].curves[0].from.x > lines[0].curves[0].to.x);
  CHECK(count_role(scene, TextRole::kPanelTitle) == 2);
}

TEST_CASE("arcs_scene: names do not change the direction of the text around them") {
  ArcsFigure figure = sample_arcs(3, 2, 2);
  for (ArcsPanel& panel : figure.panels) {
    panel.title = "T\u202E1";
    panel.groups.front().name = "abc\u202Edef";
  }
  std::string all;
  for (const TextRun& text : items_of<TextRun>(arcs_scene(figure))) {
    all += text.text + "\n";
  }
  CHECK(all.find("\u202E") == std::string::npos);
  CHECK(all.find("abc\\u{202E}def") != std::string::npos);
  CHECK(all.find("T\\u{202E}1") != std::string::npos);
}

TEST_CASE("arcs_scene: rows have the requested distance, or are thinned; sizes are limited") {
  FigureStyle style;
  style.cell = 5;
  style.dpi = 192;
  const Scene scene = arcs_scene(sample_arcs(40, 1), style);
  const std::vector<Strokes> lines = items_of<Strokes>(scene);
  const auto many = std::ranges::find_if(lines, is_bent_or_long);
  REQUIRE(many != lines.end());
  CHECK(many->curves[1].from.y - many->curves[0].from.y == 10.0);
  CHECK(scene.dpi == 192);
  CHECK(count_role(scene, TextRole::kQueryLabel) < 40);
  CHECK(count_role(scene, TextRole::kIndex) == 2 * count_role(scene, TextRole::kQueryLabel));
  style.cell = 1000;
  style.dpi = 1200;
  CHECK_THROWS_AS(arcs_scene(sample_arcs(40, 1), style), Error);
}

TEST_CASE("arcs_scene: labels of tokens outside the focus are paler") {
  ArcsFigure figure = sample_arcs(3, 1);
  figure.focus = Focus{1, false};
  Scene scene = arcs_scene(figure);
  CHECK(count_role(scene, TextRole::kQueryLabel) == 1);
  CHECK(count_role(scene, TextRole::kKeyLabel) == 3);
  figure.focus = Focus{1, true};
  scene = arcs_scene(figure);
  CHECK(count_role(scene, TextRole::kQueryLabel) == 3);
  CHECK(count_role(scene, TextRole::kKeyLabel) == 1);
}

TEST_CASE("arcs_scene: at a given width lines fill it, panels are stacked, text keeps its size") {
  FigureStyle style;
  const auto lines_in = [&style](const Scene& scene) {
    CHECK(scene.width == style.width_pixels());
    std::vector<Strokes> lines = items_of<Strokes>(scene);
    std::erase_if(lines, [](const Strokes& strokes) { return !is_bent_or_long(strokes); });
    for (const TextRun& text : items_of<TextRun>(scene)) {
      CHECK(text.column_width == (text.role == TextRole::kTitle ? 9 : 7));
      CHECK(text.x + static_cast<int>(text.columns) * text.column_width <= scene.width);
    }
    return lines;
  };
  style.width = Length{1000.0, LengthUnit::kPixels};
  const std::vector<Strokes> wide = lines_in(arcs_scene(sample_arcs(6, 1, 2), style));
  style.width = Length{400.0, LengthUnit::kPixels};
  const std::vector<Strokes> narrow = lines_in(arcs_scene(sample_arcs(6, 1, 2), style));
  REQUIRE(wide.size() == 4);  // two strengths in each panel
  REQUIRE(narrow.size() == 4);
  CHECK(wide[2].curves[0].from.x > wide[0].curves[0].to.x);
  CHECK(narrow[2].curves[0].from.x == narrow[0].curves[0].from.x);
  CHECK(narrow[2].curves[0].from.y > narrow[0].curves[0].from.y + 100.0);
  const auto length_of_lines = [&](double width) {
    style.width = Length{width, LengthUnit::kPixels};
    const Curve curve = lines_in(arcs_scene(sample_arcs(6, 1), style)).at(0).curves.at(0);
    return curve.to.x - curve.from.x;
  };
  CHECK(length_of_lines(900.0) == length_of_lines(400.0) + 500.0);
  style.width = Length{100.0, LengthUnit::kPixels};
  CHECK_THROWS_WITH_AS(arcs_scene(sample_arcs(6, 1), style),
                       doctest::Contains("100px is too narrow"), Error);
}

TEST_CASE("arcs_scene: a number of pixels that overflows is too large") {
  ArcsFigure figure = sample_arcs(1, 1);  // keys for which pixels would wrap around
  figure.key_labels.resize(180'000, "x");
  FigureStyle style;
  style.cell = 1000;
  style.dpi = 1200;
  CHECK_THROWS_WITH_AS(arcs_scene(figure, style), doctest::Contains("2250 million, "), Error);
}

TEST_CASE("render_figure: arcs in both themes, the same bytes each time") {
  const ArcsFigure figure = sample_arcs(5, 3);
  for (const FigureTheme theme : {FigureTheme::kLight, FigureTheme::kDark}) {
    FigureStyle style;
    style.theme = theme;
    const std::string bytes = render_figure(figure, style);
    CHECK(bytes == render_figure(figure, style));
    const test::DecodedPng image = test::decode_png(bytes);
    CHECK(image.at(2, 2) == theme_colors(theme).background);
  }
}

}  // namespace attnviz
