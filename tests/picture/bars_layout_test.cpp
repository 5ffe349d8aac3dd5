#include "attnviz/picture/layout/layouts.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/picture/figure_file.h"
#include "attnviz/picture/fonts/glyphs.h"
#include "attnviz/report/attention_heatmap.h"
#include "picture/decoded_png.h"
#include "support/naive.h"
#include "support/sample_heatmap.h"
#include "support/stopwatch.h"

namespace attnviz {
namespace {

template <class Item>
std::vector<Item> bars_items(const Scene& scene) {
  std::vector<Item> items;
  for (const SceneItem& item : scene.items) {
    if (const auto* one = std::get_if<Item>(&item)) {
      items.push_back(*one);
    }
  }
  return items;
}

std::vector<std::string> bars_texts(const Scene& scene, TextRole role) {
  std::vector<std::string> texts;
  for (const TextRun& text : bars_items<TextRun>(scene)) {
    if (text.role == role) {
      texts.push_back(text.text);
    }
  }
  return texts;
}

// The background of a bar and its filled part, in the order of the rows.
struct DrawnBar {
  PixelRect track;
  int filled = 0;
  int start = 0;  // of the filled part, relative to the background's left edge
};

std::vector<DrawnBar> bars_of(const Scene& scene) {
  std::vector<DrawnBar> bars;
  for (const Rectangle& rectangle : bars_items<Rectangle>(scene)) {
    if (rectangle.color == kLightColors.masked) {
      bars.push_back({rectangle.rect});
    } else if (!(rectangle.color == kLightColors.frame) &&
               !(rectangle.color == kLightColors.text)) {  // the line at zero
      CHECK(rectangle.rect.y == bars.back().track.y);
      bars.back().filled = rectangle.rect.width;
      bars.back().start = rectangle.rect.x - bars.back().track.x;
    }
  }
  return bars;
}

PixelRect box_around(const TextRun& text) {
  return {text.x, text.y, static_cast<int>(text.columns) * text.column_width,
          line_height(text.column_width)};
}

// Everything lies on the paper, inside a margin, and no text lies on another or on a bar.
void check_bars(const Scene& scene, const FigureStyle& style) {
  const int margin = style.pixels(10);
  std::vector<PixelRect> boxes;
  for (const TextRun& text : bars_items<TextRun>(scene)) {
    CAPTURE(text.text);
    const PixelRect box = box_around(text);
    CHECK(box.x >= margin);
    CHECK(box.y >= margin);
    CHECK(box.right() <= scene.width - margin);
    CHECK(box.bottom() <= scene.height - margin);
    boxes.push_back(box);
  }
  for (const DrawnBar& bar : bars_of(scene)) {
    CHECK(bar.track.x >= margin);
    CHECK(bar.track.right() <= scene.width - margin);
    CHECK(bar.start >= 0);
    CHECK(bar.start + bar.filled <= bar.track.width);
    boxes.push_back(bar.track);
  }
  std::size_t n_touching = 0;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      const PixelRect& a = boxes[i];
      const PixelRect& b = boxes[k];
      n_touching += a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom();
    }
  }
  CHECK(n_touching == 0);
}

// Weights of four tokens in two heads; the last is masked.
struct FocusOfFour {
  std::vector<float> weights = {0.5f, 0.25f, 0.0f, 0.0f, 1.0f, 0.0f, 0.125f, 0.0f};
  Heatmap heatmap;

  FocusOfFour() {
    heatmap.panels = {{"", test::matrix_over(weights, 2, 4),
                       [](std::size_t, std::size_t token) { return token < 3; }}};
    heatmap.query_labels = {"L0H0", "L2H1"};
    heatmap.key_labels = {"the", "cat", "sat", ""};
    heatmap.first_key = 7;
    heatmap.title = "attention of \"sat\" (token 9)";
    heatmap.notes = {"mask causal"};
  }
  FocusOfFour(const FocusOfFour&) = delete;  // the heatmap views `weights`
  FocusOfFour& operator=(const FocusOfFour&) = delete;
};

const BarsSubject kNinth = {9, 7, false};

}  // namespace

TEST_CASE("bars_scene: bars are as long as the weights, on one scale for all heads") {
  const FocusOfFour sample;
  const Scene scene = bars_scene(sample.heatmap, kNinth);
  const std::vector<DrawnBar> bars = bars_of(scene);
  REQUIRE(bars.size() == 6);  // rows of the three visible tokens, two heads side by side
  const int full = bars[0].track.width;
  const double expected[] = {0.5, 1.0, 0.25, 0.0, 0.0, 0.125};
  for (std::size_t i = 0; i < bars.size(); ++i) {
    CAPTURE(i);
    CHECK(bars[i].track.width == full);
    CHECK(bars[i].start == 0);
    CHECK(std::abs(bars[i].filled - expected[i] * full) <= 0.5);
  }
  CHECK(bars[0].track.y == bars[1].track.y);
  CHECK(bars[1].track.x > bars[0].track.right());
  CHECK(bars[2].track.y > bars[0].track.bottom());
  CHECK(bars[2].track.x == bars[0].track.x);
}

TEST_CASE("bars_scene: labels, numbers and percentages of each token, heads above, notes below") {
  const FocusOfFour sample;
  const Scene scene = bars_scene(sample.heatmap, kNinth);
  CHECK(bars_texts(scene, TextRole::kTitle) ==
        std::vector<std::string>{"attention of \"sat\" (token 9)"});
  CHECK(bars_texts(scene, TextRole::kPanelTitle) == std::vector<std::string>{"L0H0", "L2H1"});
  CHECK(bars_texts(scene, TextRole::kIndex) == std::vector<std::string>{"7", "8", "9", "10"});
  CHECK(bars_texts(scene, TextRole::kQueryLabel) ==
        std::vector<std::string>{"the", "cat", "sat", "∅"});
  CHECK(bars_texts(scene, TextRole::kCellNumber) ==
        std::vector<std::string>{"50.0%", "100.0%", "25.0%", "0.0%", "0.0%", "12.5%"});
  CHECK(bars_texts(scene, TextRole::kNote) ==
        std::vector<std::string>{"masked", "masked", "full bar = 100%", "mask causal"});
  CHECK(bars_items<Hatch>(scene).size() == 2);  // where the masked token's bars would be
}

TEST_CASE("bars_scene: the token in focus is marked, by its index in the text") {
  FocusOfFour sample;
  sample.heatmap.first_key = EntryNumbers({1, 4, 9, 12});
  const auto marks = [&sample](const BarsSubject& subject) {
    std::vector<int> tops;
    for (const Rectangle& rectangle : bars_items<Rectangle>(bars_scene(sample.heatmap, subject))) {
      if (rectangle.color == kLightColors.frame) {
        tops.push_back(rectangle.rect.y);
      }
    }
    return tops;
  };
  const Scene scene = bars_scene(sample.heatmap, {9, sample.heatmap.first_key, false});
  const int row_of_nine = bars_of(scene)[4].track.y;
  const std::vector<int> tops = marks({9, sample.heatmap.first_key, false});
  REQUIRE(tops.size() == 1);
  CHECK(std::abs(tops[0] - row_of_nine) < 4);
  CHECK(marks({5, sample.heatmap.first_key, false}).empty());  // left out of the picture
}

TEST_CASE("bars_scene: nothing overlaps and nothing is cut off, for any figure") {
  for (const test::Labels labels : {test::Labels::kWords, test::Labels::kHard}) {
    for (const std::size_t n : {1U, 2U, 12U, 41U, 300U}) {
      for (const std::size_t n_panels : {1U, 2U, 5U, 12U}) {
        for (const int dpi : {30, 96, 200}) {
          CAPTURE(n);
          CAPTURE(n_panels);
          CAPTURE(dpi);
          const test::SampleHeatmap picture(n, n_panels, labels);
          const Heatmap focus = focus_heatmap(picture.heatmap, {n / 2, false}, n, n);
          FigureStyle style;
          style.dpi = dpi;
          check_bars(bars_scene(focus, {n / 2, 0, false}, style), style);
          style.width = Length{7.0, LengthUnit::kInches};
          const Scene fitted = bars_scene(focus, {n / 2, 0, false}, style);
          CHECK(fitted.width == 7 * dpi);
          check_bars(fitted, style);
        }
      }
    }
  }
}

TEST_CASE("bars_scene: numbers of scores, which may be long, are not cut off") {
  FocusOfFour sample;
  sample.weights = {15.656f, -2.024f, -1234.5f, 0.0f, 100.0f, 0.0f, 9999.0f, 0.0f};
  const Scene scene = bars_scene(sample.heatmap, {9, 7, false, PatternKind::kScores});
  CHECK(bars_texts(scene, TextRole::kCellNumber) ==
        std::vector<std::string>{"15.66", "100.00", "-2.02", "0.00", "-1234.50", "9999.00"});
  check_bars(scene, {});
}

TEST_CASE("bars_scene: bars of scores extend from zero to both sides, each as long as its number") {
  FocusOfFour sample;
  sample.weights = {8.0f, -2.0f, 0.0f, 0.0f, 4.0f, -1.0f, 0.0f, 0.0f};
  const Scene scene = bars_scene(sample.heatmap, {9, 7, false, PatternKind::kScaled});
  const std::vector<DrawnBar> bars = bars_of(scene);
  REQUIRE(bars.size() == 6);
  const double unit = bars[0].track.width / 12.0;  // from -2 to 10
  const double expected[] = {8.0, 4.0, -2.0, -1.0, 0.0, 0.0};
  for (std::size_t i = 0; i < bars.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(bars[i].filled - std::abs(expected[i]) * unit) <= 1.0);
    if (expected[i] != 0.0) {
      CHECK(std::abs(bars[i].start - (2.0 + std::min(expected[i], 0.0)) * unit) <= 1.0);
    }
  }
  CHECK(bars_texts(scene, TextRole::kNote).at(2) == "bars from -2 to 10");
  check_bars(scene, {});
}

TEST_CASE("bars_scene: with many tokens the largest have bars, and the others are summed up") {
  std::vector<float> weights(100, 0.001f);
  weights[70] = 0.5f;
  weights[3] = 0.25f;
  Heatmap focus;
  focus.panels = {{"", test::matrix_over(weights, 1, 100)}};
  focus.query_labels = {"L0H0"};
  for (std::size_t i = 0; i < weights.size(); ++i) {
    focus.key_labels.push_back(fmt::format("w{}", i));
  }
  const auto others = [&focus](bool as_key) {
    return bars_texts(bars_scene(focus, {79, 0, as_key}), TextRole::kNote);
  };
  CHECK(bars_of(bars_scene(focus, {79, 0, false})).size() == 20);
  CHECK(others(false) ==
        std::vector<std::string>{"80 others", "8.0%", "full bar = 50%; others: all together"});
  CHECK(others(true).at(1) == "0.1%");
}

TEST_CASE("bars_scene: values and the footer can be left out") {
  const FocusOfFour sample;
  FigureStyle style;
  style.values = false;
  const Scene no_values = bars_scene(sample.heatmap, kNinth, style);
  CHECK(bars_texts(no_values, TextRole::kCellNumber).empty());
  CHECK(bars_of(no_values).size() == 6);
  style.values = true;
  style.footer = false;
  const Scene no_footer = bars_scene(sample.heatmap, kNinth, style);
  CHECK(bars_texts(no_footer, TextRole::kNote) == std::vector<std::string>{"masked", "masked"});
  CHECK(no_footer.height < bars_scene(sample.heatmap, kNinth).height - 20);
  check_bars(no_footer, style);
}

TEST_CASE("bars_scene: at a given width bars shrink and lists are stacked; text keeps its size") {
  const test::SampleHeatmap picture(6, 6);
  const Heatmap focus = focus_heatmap(picture.heatmap, {5, false}, 6, 6);
  FigureStyle style;
  std::set<int> sizes;
  for (const double width : {1600.0, 900.0, 500.0, 250.0}) {
    style.width = Length{width, LengthUnit::kPixels};
    const Scene scene = bars_scene(focus, {5, 0, false}, style);
    CHECK(scene.width == static_cast<int>(width));
    CHECK(bars_of(scene).size() == 36);
    for (const TextRun& text : bars_items<TextRun>(scene)) {
      if (text.role != TextRole::kTitle) {
        sizes.insert(text.column_width);
      }
    }
  }
  CHECK(sizes == std::set<int>{7});
  style.width = Length{100.0, LengthUnit::kPixels};
  CHECK_THROWS_WITH_AS(bars_scene(focus, {5, 0, false}, style),
                       doctest::Contains("width: 100px is too narrow"), Error);
}

TEST_CASE("render_figure: bars in both themes, the same bytes each time, and no grid") {
  const FocusOfFour sample;
  for (const FigureTheme theme : {FigureTheme::kLight, FigureTheme::kDark}) {
    FigureStyle style;
    style.theme = theme;
    const std::string bytes = render_figure(sample.heatmap, kNinth, style);
    CHECK(bytes == render_figure(sample.heatmap, kNinth, style));
    CHECK(bytes != render_figure(sample.heatmap, style));
    CHECK(test::decode_png(bytes).at(2, 2) == theme_colors(theme).background);
  }
}

TEST_CASE("bars_scene: a long label is laid out once, not for each of many heads") {
  const FocusOfFour sample;
  Heatmap focus = sample.heatmap;
  const std::vector<float> weights(4'000 * 4, 0.5f);
  focus.panels = {{"", test::matrix_over(weights, 4'000, 4)}};
  focus.query_labels.assign(4'000, "L0H0");
  for (std::size_t i = 0; i < 1'000'000; ++i) {
    focus.key_labels[1] += "é";
  }
  const test::Stopwatch watch;
  const Scene scene = bars_scene(focus, kNinth);
  CHECK(watch.is_in_time());
  CHECK(bars_texts(scene, TextRole::kQueryLabel).size() >= 4'000 / 10 * 4);
}

}  // namespace attnviz
