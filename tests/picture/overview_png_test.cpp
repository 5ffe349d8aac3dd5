#include "attnviz/picture/figure_file.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "attnviz/analysis/pooled_patterns.h"
#include "attnviz/core/error.h"
#include "attnviz/picture/layout/figure_style.h"
#include "attnviz/picture/layout/layouts.h"
#include "attnviz/report/attention_heatmap.h"
#include "picture/decoded_png.h"
#include "support/sample_overview.h"

namespace attnviz {

TEST_CASE(
    "render_figure of an overview: thumbnails in the scale's colours, the chosen one framed") {
  const test::SampleOverview sample(4, 8, 12);
  const Overview overview = sample.overview();
  for (const FigureTheme theme : {FigureTheme::kLight, FigureTheme::kDark}) {
    FigureStyle style;
    style.theme = theme;
    const OverviewLayout layout = lay_out_overview(overview, style);
    const test::DecodedPng image = test::decode_png(render_figure(overview, style));
    CHECK(image.width == layout.width);
    CHECK(image.height == layout.height);
    const int pitch = layout.thumbnails.grid.keys.pitch;
    const auto cell = [&](std::size_t panel, int query, int key) {
      const PixelRect& at = layout.thumbnails.panels[panel];
      return image.at(at.x + key * pitch + pitch / 2, at.y + query * pitch + pitch / 2);
    };
    const Colormap colors;
    CHECK(cell(0, 8, 0) == colors(1.0f));
    CHECK(cell(0, 8, 4) == colors(0.0f));
    CHECK(cell(9, 8, 0) == colors(0.25f));
    CHECK(cell(9, 8, 4) == colors(0.75f));
    CHECK(cell(9, 4, 8) == theme_colors(theme).masked);
    const Rgb frame = theme_colors(theme).frame;
    const PixelRect& chosen = layout.chosen;
    CHECK(image.is_filled(chosen.x, chosen.y - 4, chosen.width, kFrameWidth, frame));
    CHECK(image.is_filled(chosen.right() + 2, chosen.y, kFrameWidth, chosen.height, frame));
    const PixelRect& other = layout.thumbnails.panels[0];
    CHECK(image.at(other.x, other.y - 3) == theme_colors(theme).background);
    // The large head, with a colour bar of its own scale.
    const PixelRect& large = layout.large.panels[0];
    CHECK(image.at(large.x + 4 * layout.large.grid.keys.pitch + 1,
                   large.y + 8 * layout.large.grid.queries.pitch + 1) == colors(0.75f));
    CHECK(image.at(layout.large.color_bar.x, layout.large.color_bar.y) == colors(1.0f));
  }
}

TEST_CASE("render_figure of an overview: the file contains title, facts and resolution") {
  const test::SampleOverview sample(2, 7, 5);
  const Overview overview = sample.overview();
  const std::string facts = R"({"layers":2})";
  const std::string bytes = render_figure(overview, {}, facts);
  CHECK(test::has_sound_chunks(bytes));
  CHECK(bytes == render_figure(overview, {}, facts));
  CHECK(bytes.find("attention: deep") != std::string::npos);
  CHECK(bytes.find(facts) != std::string::npos);
  FigureStyle style;
  style.dpi = 192;
  const test::DecodedPng usual = test::decode_png(bytes);
  const test::DecodedPng fine = test::decode_png(render_figure(overview, style));
  CHECK(fine.width == doctest::Approx(2 * usual.width).epsilon(0.01));
  style.dpi = 1;
  CHECK_THROWS_AS(render_figure(overview, style), Error);
}

TEST_CASE("render_figure of an overview: pooling while computing gives the same picture") {
  constexpr std::size_t kTokens = 150;
  const test::SampleOverview sample(2, 7, kTokens);
  for (const PoolKind pool : {PoolKind::kMax, PoolKind::kMean}) {
    for (const bool drop_sink : {false, true}) {
      CAPTURE(drop_sink);
      AttentionDocument kept = sample.document;
      kept.drawing.pool = pool;
      kept.drawing.drop_sink = drop_sink;
      const InformativeHead choice = most_informative_head(kept).value();
      AttentionDocument streamed = kept;
      for (DocumentPattern& pattern : streamed.patterns) {
        pattern.weights = {};
      }
      Overview overview = overview_of(streamed, choice);
      const OverviewCells grids = figure_cells(overview);
      CHECK(grids.thumbnails.keys.pooled());
      std::vector<std::shared_ptr<const PooledPatterns>> cells;
      for (const PoolGrid& grid : {grids.thumbnails, grids.large}) {
        const auto pooled = std::make_shared<PooledPatterns>(overview.heads, Mask{},
                                                             pooling_of(kept.drawing), grid);
        for (const DocumentPattern& pattern : kept.patterns) {
          pooled->rows(pattern.head, 0, 0, pattern.weights);
        }
        cells.push_back(pooled);
      }
      set_cells(overview.thumbnails, streamed, {cells[0]});
      set_cells(overview.large, document_of_head(streamed, choice.head), {cells[1]});
      CHECK(render_figure(overview) == render_figure(overview_of(kept, choice)));
    }
  }
}

}  // namespace attnviz
