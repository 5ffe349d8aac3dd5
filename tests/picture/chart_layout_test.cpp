#include "attnviz/picture/layout/layouts.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/picture/figure_file.h"
#include "attnviz/picture/fonts/glyphs.h"
#include "picture/decoded_png.h"
#include "support/sample_chart.h"

namespace attnviz {
namespace {

template <class Item>
std::vector<Item> chart_items(const Scene& scene) {
  std::vector<Item> items;
  for (const SceneItem& item : scene.items) {
    if (const auto* one = std::get_if<Item>(&item)) {
      items.push_back(*one);
    }
  }
  return items;
}

PixelRect box_of(const TextRun& text) {
  const int wide = static_cast<int>(text.columns) * text.column_width;
  const int high = line_height(text.column_width);
  return text.angle == TextAngle::kUp ? PixelRect{text.x, text.y - wide, high, wide}
                                      : PixelRect{text.x, text.y, wide, high};
}

bool touch(const PixelRect& a, const PixelRect& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

}  // namespace

TEST_CASE("chart: everything lies inside, and no text touches another") {
  for (const int dpi : {96, 200}) {
    for (const FigureTheme theme : {FigureTheme::kLight, FigureTheme::kDark}) {
      FigureStyle style;
      style.dpi = dpi;
      style.theme = theme;
      const Scene scene = chart_scene(test::sample_chart(), style);
      const auto texts = chart_items<TextRun>(scene);
      for (std::size_t i = 0; i < texts.size(); ++i) {
        CAPTURE(texts[i].text);
        const PixelRect box = box_of(texts[i]);
        CHECK(box.x >= 0);
        CHECK(box.y >= 0);
        CHECK(box.x + box.width <= scene.width);
        CHECK(box.y + box.height <= scene.height);
        for (std::size_t k = 0; k < i; ++k) {
          CAPTURE(texts[k].text);
          CHECK(!touch(box, box_of(texts[k])));
        }
      }
      for (const Strokes& strokes : chart_items<Strokes>(scene)) {
        for (const Curve& curve : strokes.curves) {
          REQUIRE(curve.from.x >= 0.0);
          REQUIRE(curve.to.x <= scene.width);
          REQUIRE(curve.from.x <= curve.to.x);
        }
      }
    }
  }
}

TEST_CASE("chart: titles and the names of axes and lines are drawn") {
  const auto texts = chart_items<TextRun>(chart_scene(test::sample_chart()));
  for (const char* word : {"two charts", "growth", "even", "n", "seconds", "layer", "cosine",
                           "naive", "blocks", "n²", "1-2", "64", "4096", "a note"}) {
    CAPTURE(word);
    CHECK(std::ranges::find(texts, word, &TextRun::text) != texts.end());
  }
}

TEST_CASE("chart: a line passes through its points, a reference is dashed") {
  ChartFigure figure = test::sample_chart();
  figure.charts.resize(1);
  const auto strokes = chart_items<Strokes>(chart_scene(figure));
  std::size_t n_lines = 0, n_dashed = 0;
  for (const Strokes& one : strokes) {
    n_lines += one.curves.size() == 6;  // between seven points
    n_dashed += one.curves.size() > 10;
  }
  CHECK(n_lines == 2);
  CHECK(n_dashed == 1);
  // Equal factors are equal distances on logarithmic axes.
  const auto line =
      std::ranges::find_if(strokes, [](const Strokes& one) { return one.curves.size() == 6; });
  const double rise = line->curves[0].from.y - line->curves[0].to.y;
  for (const Curve& curve : line->curves) {
    CHECK(curve.from.y - curve.to.y == doctest::Approx(rise));
  }
}

TEST_CASE("chart: points outside an axis, and lines without points, are left out") {
  ChartFigure figure = test::sample_chart();
  for (LineChart& chart : figure.charts) {
    for (ChartSeries& series : chart.series) {
      series.points.assign(1, {-1.0, 0.0});
    }
    fit_axes(chart);
  }
  figure.charts[0].series.clear();
  CHECK(!chart_scene(figure).items.empty());
}

TEST_CASE("chart: at a given width plots fill it, side by side or stacked") {
  FigureStyle style;
  const auto texts_at = [&style](double width) {
    style.width = Length{width, LengthUnit::kPixels};
    const Scene scene = chart_scene(test::sample_chart(), style);
    CHECK(scene.width == static_cast<int>(width));
    std::vector<TextRun> texts = chart_items<TextRun>(scene);
    for (const TextRun& text : texts) {
      CAPTURE(text.text);
      CHECK(box_of(text).x >= 0);
      CHECK(box_of(text).right() <= scene.width);
    }
    return texts;
  };
  const auto top_of = [](const std::vector<TextRun>& texts, const char* title) {
    return std::ranges::find(texts, title, &TextRun::text)->y;
  };
  const auto wide = texts_at(1200.0);
  CHECK(top_of(wide, "growth") == top_of(wide, "even"));
  const auto narrow = texts_at(400.0);
  CHECK(top_of(narrow, "growth") + 100 < top_of(narrow, "even"));
  style.width = Length{100.0, LengthUnit::kPixels};
  CHECK_THROWS_WITH_AS(chart_scene(test::sample_chart(), style),
                       doctest::Contains("100px is too narrow"), Error);
}

TEST_CASE("chart: without a footer there are no notes below it") {
  ChartFigure chart = test::sample_chart();
  chart.notes = {"measured on this machine"};
  const auto says = [&chart](const FigureStyle& style) {
    return std::ranges::any_of(chart_items<TextRun>(chart_scene(chart, style)),
                               [](const TextRun& text) { return text.role == TextRole::kNote; });
  };
  FigureStyle style;
  CHECK(says(style));
  style.footer = false;
  CHECK_FALSE(says(style));
}

TEST_CASE("chart: PNG and SVG files") {
  const std::string png = render_figure(test::sample_chart());
  CHECK(png.starts_with("\x89PNG"));
  const std::string svg = render_figure(test::sample_chart(), {}, "", FigureFormat::kSvg);
  CHECK(svg.find("growth") != std::string::npos);
  CHECK(render_figure(test::sample_chart()) == png);
}

TEST_CASE("chart: the sample before a name is drawn like its line") {
  const auto strokes = chart_items<Strokes>(chart_scene(test::sample_chart()));
  const auto dashed =
      std::ranges::find_if(strokes, [](const Strokes& one) { return one.curves.size() > 10; });
  const auto sample =
      std::ranges::find_if(strokes, [](const Strokes& one) { return one.curves.size() == 2; });
  REQUIRE(dashed != strokes.end());
  REQUIRE(sample != strokes.end());
  CHECK(sample->width == dashed->width);
  CHECK(sample->curves[0].to.x < sample->curves[1].from.x);
}

TEST_CASE("chart: a long title is wrapped, not cut, and everything else is below it") {
  ChartFigure figure = test::sample_chart();
  figure.charts.resize(1);
  figure.charts[0].title = "largest weight of softmax over 32 keys, in the mean over many queries";
  FigureStyle style;
  style.width = Length{85.0, LengthUnit::kMillimetres};
  const auto texts = chart_items<TextRun>(chart_scene(figure, style));
  std::string title;
  int bottom = 0;
  for (const TextRun& text : texts) {
    if (text.role == TextRole::kPanelTitle) {
      title += (title.empty() ? "" : " ") + text.text;
      CHECK(text.y >= bottom);
      bottom = text.y + line_height(text.column_width);
    }
  }
  CHECK(title == figure.charts[0].title);
  for (const TextRun& text : texts) {
    CHECK(
        (text.role != TextRole::kLegend || text.y >= bottom - line_height(text.column_width) / 2));
  }
}

}  // namespace attnviz
