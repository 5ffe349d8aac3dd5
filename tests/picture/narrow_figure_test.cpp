// Figures of a given width: the position of their legend, and long titles.
#include <doctest/doctest.h>

#include <cstddef>
#include <string>

#include "attnviz/core/error.h"
#include "attnviz/picture/layout/figure_layout.h"
#include "picture/checked_layout.h"
#include "support/sample_heatmap.h"

namespace attnviz {

TEST_CASE("lay_out_figure: figures of a given width fit it in every style of cells") {
  for (const CellStyle cells :
       {CellStyle::kColors, CellStyle::kDots, CellStyle::kNumbers, CellStyle::kMask}) {
    for (const std::size_t n : {1u, 3u, 12u, 60u, 300u}) {
      for (const std::size_t n_panels : {1u, 4u}) {
        const test::SampleHeatmap sample(n, 1);
        Heatmap heatmap = sample.heatmap;
        heatmap.panels.front().title = "L0 mean of 4 heads";
        heatmap.panels.resize(n_panels, heatmap.panels.front());
        FigureStyle style;
        style.cells = cells;
        const int least = least_width(heatmap, style);
        for (const int width : {least, least + 40, least + 200, least + 700}) {
          CAPTURE(n);
          CAPTURE(n_panels);
          CAPTURE(width);
          style.width = Length{static_cast<double>(width)};
          const FigureLayout layout = lay_out_figure(heatmap, style);
          test::check_layout(layout);
          CHECK(layout.width == width);
        }
        style.width = Length{static_cast<double>(least - 1)};
        CHECK_THROWS_AS(lay_out_figure(heatmap, style), Error);
      }
    }
  }
}

TEST_CASE("lay_out_figure: each number of a narrow figure belongs to one token") {
  for (const std::size_t n : {3u, 7u, 12u, 60u}) {
    for (const std::size_t n_panels : {1u, 4u}) {
      const test::SampleHeatmap sample(n, n_panels);
      FigureStyle style;
      style.cells = CellStyle::kNumbers;
      const int least = least_width(sample.heatmap, style);
      for (int width = least; width < least + 300; width += 25) {
        CAPTURE(n);
        CAPTURE(width);
        style.width = Length{static_cast<double>(width)};
        const FigureGrid grid = lay_out_figure(sample.heatmap, style).grid;
        CHECK(grid.queries.n_cells() == n);
        CHECK(grid.keys.n_cells() == n);
      }
    }
  }
}

TEST_CASE("lay_out_figure: in a narrow figure the colour bar is below, and cells use the width") {
  const test::SampleHeatmap sample(12, 1);
  FigureStyle style;
  style.width = Length{85.0, LengthUnit::kMillimetres};
  const FigureLayout narrow = lay_out_figure(sample.heatmap, style);
  CHECK(narrow.color_bar.width > narrow.color_bar.height);
  CHECK(narrow.color_bar.y > narrow.panels[0].bottom());
  CHECK(narrow.panels[0].width > narrow.width / 2);
  const FigureLayout usual = lay_out_figure(sample.heatmap);
  CHECK(usual.color_bar.height > usual.color_bar.width);
  CHECK(usual.color_bar.x > usual.panels[0].right());
}

TEST_CASE("lay_out_figure: a panel's long title continues on the next line") {
  const test::SampleHeatmap sample(3, 1);
  Heatmap heatmap = sample.heatmap;
  heatmap.panels.front().title = "head 0, 32 dimensions";
  heatmap.panels.resize(4, heatmap.panels.front());
  FigureStyle style;
  style.cell = 24;
  std::string read;
  for (const TextRun& text : lay_out_figure(heatmap, style).texts) {
    read += text.role == TextRole::kPanelTitle ? text.text + " " : "";
  }
  CHECK(read.find("dimensions") != std::string::npos);
  CHECK(read.find("…") == std::string::npos);
}

}  // namespace attnviz
