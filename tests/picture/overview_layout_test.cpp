#include "attnviz/picture/layout/layouts.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "attnviz/core/error.h"
#include "picture/checked_layout.h"
#include "support/sample_overview.h"
#include "support/stopwatch.h"

namespace attnviz {
namespace {

// Both parts as one figure.
FigureLayout whole(const OverviewLayout& layout) {
  FigureLayout all = layout.large;
  all.width = layout.width;
  all.height = layout.height;
  all.texts.insert(all.texts.end(), layout.thumbnails.texts.begin(), layout.thumbnails.texts.end());
  all.panels.insert(all.panels.end(), layout.thumbnails.panels.begin(),
                    layout.thumbnails.panels.end());
  all.panels.push_back(layout.swatch);
  return all;
}

struct Shape {
  std::size_t n_layers;
  std::size_t n_heads;
};

// The labels of tokens stay short: they belong to the large head, which lay_out_figure's tests
// cover.
OverviewLayout layout_of(const Shape& shape, std::size_t n_tokens, const FigureStyle& style) {
  const test::SampleOverview sample(shape.n_layers, shape.n_heads, n_tokens);
  return lay_out_overview(sample.overview(), style);
}

}  // namespace

TEST_CASE("lay_out_overview: nothing overlaps, nothing is cut off, the margin stays free") {
  for (const Shape& shape :
       {Shape{2, 7}, Shape{4, 8}, Shape{12, 12}, Shape{16, 32}, Shape{40, 2}}) {
    for (const std::size_t n : {1u, 2u, 3u, 12u, 90u}) {
      for (const int dpi : {30, 96, 200}) {
        CAPTURE(shape.n_layers);
        CAPTURE(n);
        CAPTURE(dpi);
        FigureStyle style;
        style.dpi = dpi;
        test::check_layout(whole(layout_of(shape, n, style)));
      }
    }
  }
}

TEST_CASE("lay_out_overview: thumbnails have sides of 24 to 96 pixels, the grid of up to 1,500") {
  for (const Shape& shape : {Shape{4, 8}, Shape{12, 12}, Shape{16, 32}, Shape{32, 32}}) {
    for (const std::size_t n : {1u, 3u, 12u, 31u, 64u, 97u, 300u, 1024u}) {
      CAPTURE(shape.n_heads);
      CAPTURE(n);
      Heatmap heatmap;
      heatmap.query_labels.resize(n);
      heatmap.key_labels.resize(n);
      const FigureGrid grid = thumbnail_figure_grid(shape.n_layers, shape.n_heads, heatmap, {});
      const int side = grid.keys.length();
      CHECK(side >= 18);
      CHECK(side <= 120);
      CHECK(grid.queries.length() == side);
      CHECK(side * static_cast<int>(shape.n_heads) <= 1500);
      CHECK(grid.keys.tokens.block * 130 >= n);
    }
  }
}

TEST_CASE("lay_out_overview: rows are layers, columns heads, and the chosen one is framed") {
  const OverviewLayout layout = layout_of({3, 5}, 12, {});
  const auto& panels = layout.thumbnails.panels;
  REQUIRE(panels.size() == 15);
  CHECK(panels[0].y == panels[4].y);
  CHECK(panels[4].x > panels[3].x);
  CHECK(panels[5].x == panels[0].x);
  CHECK(panels[5].y > panels[0].bottom());
  CHECK(layout.chosen.x == panels[6].x);
  CHECK(layout.chosen.y == panels[6].y);
  std::vector<std::string> layers;
  std::vector<std::string> heads;
  for (const TextRun& text : layout.thumbnails.texts) {
    if (text.role == TextRole::kQueryLabel) {
      layers.push_back(text.text);
    }
    if (text.role == TextRole::kKeyLabel) {
      heads.push_back(text.text);
    }
  }
  CHECK(layers == std::vector<std::string>{"0", "1", "2"});
  CHECK(heads == std::vector<std::string>{"0", "1", "2", "3", "4"});
}

TEST_CASE("lay_out_overview: the large head is beside the grid, or below a very wide one") {
  const OverviewLayout beside = layout_of({12, 12}, 12, {});
  CHECK(beside.large.panels[0].x > beside.thumbnails.panels.back().right());
  CHECK(beside.width > beside.height);
  const OverviewLayout below = layout_of({2, 40}, 12, {});
  CHECK(below.large.panels[0].y > below.thumbnails.panels.back().bottom());
}

TEST_CASE("lay_out_overview: at a given width both parts fill it, side by side if it is wide") {
  struct Width {
    Length length;
    int dpi;
    int pixels;
  };
  for (const Width& wanted : {Width{{170.0, LengthUnit::kMillimetres}, 300, 2008},
                              Width{{120.0, LengthUnit::kMillimetres}, 96, 454},
                              Width{{1600.0, LengthUnit::kPixels}, 96, 1600}}) {
    for (const Shape& shape : {Shape{2, 7}, Shape{4, 8}, Shape{12, 12}, Shape{40, 2}}) {
      for (const std::size_t n : {1U, 3U, 12U, 90U, 1500U}) {
        CAPTURE(wanted.pixels);
        CAPTURE(shape.n_heads);
        CAPTURE(n);
        if (n * shape.n_layers * shape.n_heads > 40'000) {
          continue;  // would take too long
        }
        FigureStyle style;
        style.dpi = wanted.dpi;
        style.width = wanted.length;
        const OverviewLayout layout = layout_of(shape, n, style);
        CHECK(layout.width == wanted.pixels);
        test::check_layout(whole(layout));
      }
    }
  }
  const auto beside = [](double width) {
    FigureStyle style;
    style.width = Length{width, LengthUnit::kPixels};
    const OverviewLayout layout = layout_of({4, 8}, 12, style);
    return layout.large.panels[0].x > layout.thumbnails.panels.back().right();
  };
  CHECK(beside(1600.0));
  CHECK_FALSE(beside(600.0));
}

TEST_CASE(
    "lay_out_overview: a width that is too small is refused with the smallest one that works") {
  for (const Shape& shape : {Shape{4, 8}, Shape{2, 40}}) {
    const auto text_of_error = [&shape](double width) {
      FigureStyle style;
      style.width = Length{width, LengthUnit::kPixels};
      try {
        test::check_layout(whole(layout_of(shape, 12, style)));
      } catch (const Error& error) {
        return std::string(error.what());
      }
      return std::string();
    };
    const std::string refused = text_of_error(100.0);
    const std::size_t number = refused.rfind(' ') + 1;
    REQUIRE(refused.ends_with("px"));
    const double least = std::stod(refused.substr(number));
    CHECK(least > 100.0);
    CHECK(text_of_error(least).empty());
    CHECK_FALSE(text_of_error(least - 1.0).empty());
  }
}

TEST_CASE("lay_out_overview: very many layers without attention are measured once") {
  const test::SampleOverview sample(1, 1, 1);
  Overview overview = sample.overview();
  for (std::size_t i = 0; i < 100'000; ++i) {
    overview.blanks.push_back({i, i, 0, "MLP"});
  }
  const test::Stopwatch watch;
  CHECK_THROWS_AS(lay_out_overview(overview, {}), Error);  // too high
  CHECK(watch.is_in_time());
}

}  // namespace attnviz
