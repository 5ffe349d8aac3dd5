#include "attnviz/picture/figure_file.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "attnviz/color/colormap.h"
#include "attnviz/core/error.h"
#include "attnviz/picture/fonts/glyphs.h"
#include "attnviz/picture/layout/figure_layout.h"
#include "picture/decoded_png.h"
#include "support/sample_heatmap.h"

namespace attnviz {
namespace {

constexpr Rgb kPngPaper{255, 255, 255};

struct Corner {
  int x;
  int y;
};

// The top left pixel of a cell, which numbers do not cover.
Corner cell_corner(const FigureLayout& layout, std::size_t panel, std::size_t row,
                   std::size_t col) {
  return {layout.panels[panel].x + static_cast<int>(col) * layout.grid.keys.pitch,
          layout.panels[panel].y + static_cast<int>(row) * layout.grid.queries.pitch};
}

bool margin_is_white(const test::DecodedPng& image) {
  const int ring = kFigureMargin - 2;
  return image.is_filled(0, 0, image.width, ring, kPngPaper) &&
         image.is_filled(0, image.height - ring, image.width, ring, kPngPaper) &&
         image.is_filled(0, 0, ring, image.height, kPngPaper) &&
         image.is_filled(image.width - ring, 0, ring, image.height, kPngPaper);
}

bool has_ink(const test::DecodedPng& image, const TextRun& text) {
  const auto corners = text_corners({static_cast<double>(text.x), static_cast<double>(text.y)},
                                    text.columns, text.column_width, text.angle);
  double left = corners[0].x;
  double right = left;
  double top = corners[0].y;
  double bottom = top;
  for (const PixelPoint& corner : corners) {
    left = std::min(left, corner.x);
    right = std::max(right, corner.x);
    top = std::min(top, corner.y);
    bottom = std::max(bottom, corner.y);
  }
  return !image.is_filled(static_cast<int>(left), static_cast<int>(top),
                          static_cast<int>(right - left), static_cast<int>(bottom - top),
                          kPngPaper);
}

}  // namespace

TEST_CASE("render_figure: cells have the colour of their value, masked cells a separate one") {
  for (const std::size_t n : {1u, 3u, 12u, 60u, 300u}) {
    for (const std::size_t n_panels : {1u, 4u, 12u}) {
      CAPTURE(n);
      CAPTURE(n_panels);
      const test::SampleHeatmap sample(n, n_panels);
      const Heatmap& heatmap = sample.heatmap;
      const FigureLayout layout = lay_out_figure(heatmap);
      const test::DecodedPng image = test::decode_png(render_figure(heatmap));
      REQUIRE(image.width == layout.width);
      REQUIRE(image.height == layout.height);
      CHECK(image.channels == 3);
      CHECK(margin_is_white(image));
      const Colormap colormap;
      std::size_t n_wrong = 0;
      for (std::size_t panel = 0; panel < n_panels; ++panel) {
        for (std::size_t query = 0; query < n; ++query) {
          for (std::size_t key = 0; key < n; ++key) {
            const Corner corner = cell_corner(layout, panel, query, key);
            const Rgb actual = image.at(corner.x, corner.y);
            const std::size_t step = colormap.step(heatmap.panels[panel].values(query, key));
            const bool right = key <= query ? actual == colormap.step_color(step)
                                            : actual.r == actual.g && actual.g == actual.b &&
                                                  !(actual == kPngPaper);
            n_wrong += right ? 0 : 1;
          }
        }
      }
      CHECK(n_wrong == 0);
    }
  }
}

TEST_CASE("render_figure: a masked cell looks different from a weight of zero") {
  test::SampleHeatmap sample(3, 1);
  sample.values[0] = {1, 0, 0, 1, 0, 0, 1, 0, 0};
  const FigureLayout layout = lay_out_figure(sample.heatmap);
  const test::DecodedPng image = test::decode_png(render_figure(sample.heatmap));
  const Corner zero = cell_corner(layout, 0, 2, 1);
  const Corner masked = cell_corner(layout, 0, 0, 1);
  CHECK(image.at(zero.x, zero.y) == Colormap()(0.0f));
  CHECK_FALSE(image.at(masked.x, masked.y) == Colormap()(0.0f));
  const auto colors_in = [&image](int left, int top, int side) {
    std::set<int> colors;
    for (int y = top; y < top + side; ++y) {
      for (int x = left; x < left + side; ++x) {
        const Rgb color = image.at(x, y);
        colors.insert(color.r << 16 | color.g << 8 | color.b);
      }
    }
    return colors;
  };
  const std::set<int> hatched = colors_in(masked.x, masked.y, 12);
  CHECK(hatched.size() == 2);
  CHECK(colors_in(layout.masked_swatch.x, layout.masked_swatch.y, 12) == hatched);
}

TEST_CASE(
    "render_figure: masked cells have no colour of the scale, in either theme, hatched or not") {
  for (const FigureTheme theme : {FigureTheme::kLight, FigureTheme::kDark}) {
    for (const std::string_view name : colormap_names()) {
      for (const std::size_t n : {4u, 120u}) {
        CAPTURE(word_for(kThemes, theme));
        CAPTURE(name);
        CAPTURE(n);
        test::SampleHeatmap sample(n, 1);
        sample.heatmap.scale.colormap = Colormap(name);
        FigureStyle style;
        style.theme = theme;
        const FigureLayout layout = lay_out_figure(sample.heatmap, style);
        const test::DecodedPng image = test::decode_png(render_figure(sample.heatmap, style));
        // The upper right corner of the panel, a few cells wide: it is painted either in one grey
        // that no value has, or in stripes of two.
        const PixelRect& panel = layout.panels[0];
        const int side = n == 4 ? layout.grid.keys.pitch - layout.grid.keys.gap : 30;
        const int left = panel.right() - side;
        const Rgb corner = image.at(left, panel.y);
        if (image.is_filled(left, panel.y, side, side, corner)) {
          for (int step = 0; step <= 255; ++step) {
            const Rgb color = sample.heatmap.scale.colormap(static_cast<float>(step) / 255.0f);
            const int distance = std::abs(color.r - corner.r) + std::abs(color.g - corner.g) +
                                 std::abs(color.b - corner.b);
            CHECK(distance >= 40);
          }
        } else {
          CHECK(image.at(left + 1, panel.y) == image.at(left, panel.y + 1));  // stripes rise
          CHECK(image.at(left + 6, panel.y) == image.at(left, panel.y));
        }
      }
    }
  }
}

TEST_CASE("render_figure: numbers are light on dark cells and dark on light ones") {
  test::SampleHeatmap sample(2, 1);
  sample.values[0] = {1, 0, 0, 1};
  const FigureLayout layout = lay_out_figure(sample.heatmap);
  const test::DecodedPng image = test::decode_png(render_figure(sample.heatmap));
  const auto extremes = [&](std::size_t query, std::size_t key) {
    const Corner corner = cell_corner(layout, 0, query, key);
    int least = 765;
    int most = 0;
    for (int y = 0; y < layout.grid.queries.pitch - layout.grid.queries.gap; ++y) {
      for (int x = 0; x < layout.grid.keys.pitch - layout.grid.keys.gap; ++x) {
        const Rgb color = image.at(corner.x + x, corner.y + y);
        least = std::min(least, color.r + color.g + color.b);
        most = std::max(most, color.r + color.g + color.b);
      }
    }
    return std::pair(least, most);
  };
  CHECK(extremes(0, 0).first < 150);   // on yellow
  CHECK(extremes(1, 0).second > 700);  // on dark violet
}

TEST_CASE("render_figure: the dark theme has a dark background, and the cells of the light one") {
  const test::SampleHeatmap sample(12, 4);
  FigureStyle style;
  style.theme = FigureTheme::kDark;
  const FigureLayout layout = lay_out_figure(sample.heatmap, style);
  const test::DecodedPng image = test::decode_png(render_figure(sample.heatmap, style));
  const Rgb background = image.at(0, 0);
  CHECK(luminance(background) < 0.02);
  CHECK(image.is_filled(0, 0, image.width, kFigureMargin - 2, background));
  const Corner corner = cell_corner(layout, 2, 7, 3);
  CHECK(image.at(corner.x, corner.y) == Colormap()(sample.heatmap.panels[2].values(7, 3)));
}

TEST_CASE("render_figure: the file contains resolution, title, program and facts") {
  test::SampleHeatmap sample(3, 1);
  sample.heatmap.title = "猫 attention";
  FigureStyle style;
  style.dpi = 150;
  const std::string bytes = render_figure(sample.heatmap, style, "{\"text\":\"猫\"}");
  CHECK(test::has_sound_chunks(bytes));
  std::map<std::string, std::string> texts;
  for (const test::PngChunk& chunk : test::chunks_of(bytes)) {
    if (chunk.type == "iTXt") {
      const std::size_t end = chunk.data.find('\0');
      texts[chunk.data.substr(0, end)] = chunk.data.substr(end + 5);
    }
  }
  CHECK(texts ==
        std::map<std::string, std::string>{
            {"Title", "猫 attention"},
            {"Software", "attnviz"},
            {"attnviz", "{\"text\":\"猫\"}"},
            {"attnviz-figure",
             "{\"theme\": \"light\", \"cells\": \"colors\", \"cell\": null, \"dpi\": 150}"}});
  CHECK(test::chunks_of(bytes)[1].type == "pHYs");
}

TEST_CASE("render_figure: a picture of a given width records it, and has the planned size") {
  const test::SampleHeatmap sample(500, 2);
  FigureStyle style;
  style.width = Length{120.0, LengthUnit::kMillimetres};
  const std::string bytes = render_figure(sample.heatmap, style);
  CHECK(test::decode_png(bytes).width == 454);  // 453.5
  CHECK(
      bytes.find(
          R"({"theme": "light", "cells": "colors", "cell": null, "dpi": 96, "width": "120mm"})") !=
      std::string::npos);
  const FigureGrid drawn = lay_out_figure(sample.heatmap, style).grid;
  REQUIRE(drawn.pooled());
  CHECK(figure_grid(sample.heatmap, style).same_cells({drawn.queries.tokens, drawn.keys.tokens}));
}

TEST_CASE("render_figure: a picture records that numbers or notes were left out on request") {
  const test::SampleHeatmap sample(3, 1);
  FigureStyle style;
  style.values = style.footer = false;
  CHECK(render_figure(sample.heatmap, style)
            .find(R"("cell": null, "dpi": 96, "no_values": true, "no_footer": true})") !=
        std::string::npos);
}

TEST_CASE("render_figure: every text leaves ink, the margin has none, also with hard labels") {
  for (const std::size_t n : {1u, 3u, 15u, 60u}) {
    for (const std::size_t n_panels : {1u, 4u, 7u, 12u}) {
      CAPTURE(n);
      CAPTURE(n_panels);
      const test::SampleHeatmap sample(n, n_panels, test::Labels::kHard);
      const test::DecodedPng image = test::decode_png(render_figure(sample.heatmap));
      CHECK(margin_is_white(image));
      const FigureLayout layout = lay_out_figure(sample.heatmap);
      for (const TextRun& text : layout.texts) {
        CAPTURE(text.text);
        CHECK(has_ink(image, text));
      }
    }
  }
}

TEST_CASE("render_figure: the colour scale runs from low to high") {
  test::SampleHeatmap sample(3, 1);
  sample.heatmap.scale.low = -2.0f;
  sample.heatmap.scale.high = 6.0f;
  sample.values[0] = {-2, 0, 0, 6, 2, 0, 100, -100, 0};
  const FigureLayout layout = lay_out_figure(sample.heatmap);
  const test::DecodedPng image = test::decode_png(render_figure(sample.heatmap));
  const auto color = [&](std::size_t query, std::size_t key) {
    const Corner corner = cell_corner(layout, 0, query, key);
    return image.at(corner.x, corner.y);
  };
  CHECK(color(0, 0) == Colormap()(0.0f));
  CHECK(color(1, 0) == Colormap()(1.0f));
  CHECK(color(1, 1) == Colormap()(0.5f));
  CHECK(color(2, 0) == Colormap()(1.0f));
  CHECK(color(2, 1) == Colormap()(0.0f));
  const PixelRect& bar = layout.color_bar;
  CHECK(image.at(bar.x + 2, bar.y) == Colormap()(1.0f));
  CHECK(image.at(bar.x + 2, bar.bottom() - 1) == Colormap()(0.0f));
}

TEST_CASE("render_figure: NaN weights are drawn and stand out") {
  test::SampleHeatmap sample(2, 1);
  sample.values[0][0] = std::numeric_limits<float>::quiet_NaN();
  const FigureLayout layout = lay_out_figure(sample.heatmap);
  const test::DecodedPng image = test::decode_png(render_figure(sample.heatmap));
  CHECK(image.at(layout.panels[0].x, layout.panels[0].y) == kNanColor);
  REQUIRE_FALSE(layout.nan_swatch.empty());
  CHECK(image.at(layout.nan_swatch.x + 2, layout.nan_swatch.y + 2) == kNanColor);
}

TEST_CASE("render_figure: a matrix too large for the picture keeps its largest weights") {
  constexpr std::size_t kTokens = 2500;
  test::SampleHeatmap sample(kTokens, 1);
  std::fill(sample.values[0].begin(), sample.values[0].end(), 0.0f);
  sample.values[0][2001 * kTokens + 999] = 1.0f;
  const FigureLayout layout = lay_out_figure(sample.heatmap);
  REQUIRE(layout.grid.keys.tokens.block == 2);
  const test::DecodedPng image = test::decode_png(render_figure(sample.heatmap));
  CHECK(margin_is_white(image));
  const Corner peak = cell_corner(layout, 0, 1000, 499);
  CHECK(image.at(peak.x, peak.y) == Colormap()(1.0f));
  CHECK(image.at(peak.x, peak.y + layout.grid.queries.pitch) == Colormap()(0.0f));
}

TEST_CASE("render_figure: the same heatmap gives the same bytes") {
  const test::SampleHeatmap sample(20, 4, test::Labels::kHard);
  CHECK(render_figure(sample.heatmap) == render_figure(sample.heatmap));
}

TEST_CASE("render_figure: heatmaps that cannot be drawn are usage errors") {
  CHECK_THROWS_AS(render_figure(Heatmap{}), Error);
  test::SampleHeatmap no_scale(3, 1);
  no_scale.heatmap.scale.high = no_scale.heatmap.scale.low;
  CHECK_THROWS_WITH_AS(render_figure(no_scale.heatmap),
                       "picture: a colour scale from 0 to 0 cannot be drawn", Error);
  test::SampleHeatmap other_shape(3, 1);
  other_shape.heatmap.key_labels.pop_back();
  CHECK_THROWS_WITH_AS(render_figure(other_shape.heatmap),
                       "picture: L0H0: expected [3, 2] weights, found [3, 3]", Error);
}

}  // namespace attnviz
