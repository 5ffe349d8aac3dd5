#include "attnviz/picture/layout/figure_layout.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/picture/fonts/glyphs.h"
#include "picture/checked_layout.h"
#include "support/sample_heatmap.h"

namespace attnviz {
namespace {

std::vector<TextRun> texts_of(const FigureLayout& layout, TextRole role) {
  std::vector<TextRun> found;
  for (const TextRun& text : layout.texts) {
    if (text.role == role) {
      found.push_back(text);
    }
  }
  return found;
}

std::set<std::string> strings_of(const FigureLayout& layout, TextRole role) {
  std::set<std::string> strings;
  for (const TextRun& text : texts_of(layout, role)) {
    strings.insert(text.text);
  }
  return strings;
}

}  // namespace

TEST_CASE("lay_out_figure: nothing overlaps, nothing is cut off, the margin stays free") {
  for (const test::Labels labels : {test::Labels::kWords, test::Labels::kHard}) {
    for (const std::size_t n : {1u, 2u, 3u, 5u, 12u, 20u, 33u, 60u, 100u, 300u, 2500u}) {
      for (const std::size_t n_panels : {1u, 2u, 3u, 4u, 5u, 7u, 12u}) {
        CAPTURE(n);
        CAPTURE(n_panels);
        const test::SampleHeatmap sample(n, n > 1000 ? 1 : n, 0, labels);
        Heatmap heatmap = sample.heatmap;  // the layout depends only on labels and titles
        heatmap.key_labels = heatmap.query_labels;
        heatmap.roles.keys = heatmap.roles.queries;
        for (std::size_t i = 0; i < n_panels; ++i) {
          heatmap.panels.push_back({fmt::format("L0H{}", i), {}});
        }
        test::check_layout(lay_out_figure(heatmap));
      }
    }
  }
}

TEST_CASE("lay_out_figure: the same holds for every resolution and cell size") {
  struct Look {
    int dpi;
    int cell;
  };
  for (const Look& look : {Look{30, 0}, Look{48, 0}, Look{144, 0}, Look{192, 0}, Look{300, 0},
                           Look{96, 1}, Look{96, 3}, Look{96, 30}, Look{144, 7}, Look{30, 1}}) {
    for (const std::size_t n : {1u, 3u, 20u, 100u}) {
      for (const std::size_t n_panels : {1u, 5u, 12u}) {
        CAPTURE(look.dpi);
        CAPTURE(look.cell);
        CAPTURE(n);
        CAPTURE(n_panels);
        const test::SampleHeatmap sample(n, n_panels, test::Labels::kHard);
        FigureStyle style;
        style.dpi = look.dpi;
        style.cell = look.cell;
        const FigureLayout layout = lay_out_figure(sample.heatmap, style);
        test::check_layout(layout);
        if (look.cell != 0) {
          CHECK(layout.grid.keys.n_cells() == n);
          CHECK(layout.grid.keys.pitch >= style.pixels(look.cell));
        }
      }
    }
  }
}

TEST_CASE("lay_out_figure: at twice the resolution everything is twice as large") {
  const test::SampleHeatmap sample(12, 4);
  FigureStyle fine;
  fine.dpi = 192;
  const FigureLayout usual = lay_out_figure(sample.heatmap);
  const FigureLayout twice = lay_out_figure(sample.heatmap, fine);
  CHECK(twice.grid.queries.pitch == 2 * usual.grid.queries.pitch);
  CHECK(twice.margin == 2 * usual.margin);
  CHECK(twice.value_column_width == 2 * usual.value_column_width);
  CHECK(std::abs(twice.width - 2 * usual.width) <= 8);
  CHECK(std::abs(twice.height - 2 * usual.height) <= 16);  // lines of text are rounded
  REQUIRE(twice.texts.size() == usual.texts.size());
  for (std::size_t i = 0; i < usual.texts.size(); ++i) {
    CHECK(twice.texts[i].column_width == 2 * usual.texts[i].column_width);
  }
}

TEST_CASE("lay_out_figure: too many pixels are refused before they take memory") {
  const test::SampleHeatmap sample(400, 1);
  FigureStyle style;
  style.cell = 100;
  CHECK_THROWS_WITH_AS(lay_out_figure(sample.heatmap, style),
                       "picture: it would have 40024 x 40044 pixels, 1603 million, but the limit "
                       "is 150 million: choose smaller cells",
                       Error);
  style.cell = 0;
  style.dpi = 1200;
  const test::SampleHeatmap many(100, 12);
  CHECK_THROWS_WITH_AS(lay_out_figure(many.heatmap, style),
                       doctest::Contains("choose a lower resolution"), Error);
  const test::SampleHeatmap ribbon(1, 2'000'000, 0, test::Labels::kWords);
  Heatmap heatmap = ribbon.heatmap;
  heatmap.panels.resize(1);
  style.cell = 1000;
  CHECK_THROWS_AS(lay_out_figure(heatmap, style), Error);
  style.cell = 0;
  style.dpi = 96;
  style.width = Length{60'000.0, LengthUnit::kPixels};
  CHECK_THROWS_WITH_AS(lay_out_figure(sample.heatmap, style),
                       doctest::Contains("150 million: choose a smaller width"), Error);
}

TEST_CASE("lay_out_figure: single rows and columns, no titles, long titles and notes") {
  for (const std::size_t n_panels : {1u, 5u}) {
    test::SampleHeatmap row(1, 60, n_panels, test::Labels::kHard);
    test::check_layout(lay_out_figure(row.heatmap));
    test::SampleHeatmap column(60, 1, n_panels, test::Labels::kHard);
    test::check_layout(lay_out_figure(column.heatmap));

    test::SampleHeatmap bare(200, n_panels);
    bare.heatmap.title.clear();
    bare.heatmap.notes.clear();
    for (HeatmapPanel& panel : bare.heatmap.panels) {
      panel.visible = nullptr;
    }
    for (HeatmapPanel& panel : bare.heatmap.panels) {
      panel.title.clear();
    }
    const FigureLayout layout = lay_out_figure(bare.heatmap);
    test::check_layout(layout);
    CHECK(layout.masked_swatch.empty());
    CHECK(layout.nan_swatch.empty());

    test::SampleHeatmap wordy(3, n_panels);
    wordy.heatmap.title = std::string(5000, 'x') + " 猫\n\x1B[31m";
    wordy.heatmap.notes = {std::string(5000, 'y'), "", "three short words"};
    for (HeatmapPanel& panel : wordy.heatmap.panels) {
      panel.title = "the average of all heads of all layers of this model, 猫";
    }
    test::check_layout(lay_out_figure(wordy.heatmap));
  }
}

TEST_CASE("lay_out_figure: every label is shown while cells are as high as text") {
  const test::SampleHeatmap sample(12, 1);
  const FigureLayout layout = lay_out_figure(sample.heatmap);
  CHECK(texts_of(layout, TextRole::kQueryLabel).size() == 12);
  CHECK(texts_of(layout, TextRole::kKeyLabel).size() == 12);
}

TEST_CASE("lay_out_figure: with low rows labels are thinned evenly, starting with the first") {
  test::SampleHeatmap sample(300, 1);
  for (std::size_t i = 0; i < 300; ++i) {
    sample.heatmap.query_labels[i] = std::to_string(i);
  }
  const FigureLayout layout = lay_out_figure(sample.heatmap);
  const std::vector<TextRun> labels = texts_of(layout, TextRole::kQueryLabel);
  REQUIRE(labels.size() > 10);
  REQUIRE(labels.size() < 300);
  CHECK(labels[0].text == "0");
  const int step = std::stoi(labels[1].text);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    CHECK(std::stoi(labels[i].text) == static_cast<int>(i) * step);
    const PixelRect& panel = layout.panels[0];
    const double row_middle =
        panel.y + (static_cast<double>(i) * step + 0.5) * layout.grid.queries.pitch;
    CHECK(labels[i].y + line_height(labels[i].column_width) / 2.0 ==
          doctest::Approx(row_middle).epsilon(0.01));
  }
}

TEST_CASE("lay_out_figure: the leftmost panels have labels of queries, the lowest ones of keys") {
  const test::SampleHeatmap full(3, 12);
  const FigureLayout layout = lay_out_figure(full.heatmap);
  CHECK(texts_of(layout, TextRole::kQueryLabel).size() == 3 * layout.grid.rows);
  CHECK(texts_of(layout, TextRole::kKeyLabel).size() == 3 * layout.grid.columns);

  const test::SampleHeatmap ragged(3, 7);
  const FigureLayout with_gap = lay_out_figure(ragged.heatmap);
  REQUIRE(with_gap.grid.rows * with_gap.grid.columns > 7);
  CHECK(texts_of(with_gap, TextRole::kKeyLabel).size() == 3 * 7);
}

TEST_CASE("lay_out_figure: labels are safe, shortened and never empty") {
  const test::SampleHeatmap sample(15, 1, test::Labels::kHard);
  const std::set<std::string> labels =
      strings_of(lay_out_figure(sample.heatmap), TextRole::kQueryLabel);
  CHECK(labels.count("<FF FE>") == 1);
  CHECK(labels.count("\\x1B[31m") == 1);
  CHECK(labels.count("⏎") == 1);
  CHECK(labels.count("∅") == 1);
  CHECK(labels.count("antidisestablishmen…") == 1);
}

TEST_CASE("lay_out_figure: a scale is at least as long as two of its largest discs") {
  const test::SampleHeatmap sample(2, 1);
  FigureStyle style;
  style.cells = CellStyle::kDots;
  style.cell = 700;
  const FigureLayout layout = lay_out_figure(sample.heatmap, style);
  REQUIRE(layout.ticks.size() >= 2);
  CHECK(layout.color_bar.height >= 2 * layout.color_bar.width);
  CHECK(layout.ticks.front().y - layout.ticks.back().y >= layout.color_bar.height / 2 - 2);
}

TEST_CASE("lay_out_figure: axes are named, the legend explains masked cells, notes are shown") {
  const test::SampleHeatmap sample(12, 4);
  const FigureLayout layout = lay_out_figure(sample.heatmap);
  CHECK(strings_of(layout, TextRole::kAxisName) ==
        std::set<std::string>{"key (attended to)", "query (attending)"});
  const std::set<std::string> legend = strings_of(layout, TextRole::kLegend);
  CHECK(legend.count("masked") == 1);
  CHECK(legend.count("0") == 1);
  CHECK(legend.count("0.2") == 1);
  CHECK(legend.count("1") == 1);
  CHECK(strings_of(layout, TextRole::kNote).count("mask causal") == 1);
  CHECK(strings_of(layout, TextRole::kPanelTitle) ==
        std::set<std::string>{"L0H0", "L0H1", "L0H2", "L0H3"});
}

TEST_CASE("lay_out_figure: a pooled picture says so, another one does not") {
  const auto pooled_note = [](std::size_t n) {
    test::SampleHeatmap sample(n, 1, 1, test::Labels::kWords);
    for (const std::string& note : strings_of(lay_out_figure(sample.heatmap), TextRole::kNote)) {
      if (note.find("pooled") != std::string::npos) {
        return note;
      }
    }
    return std::string();
  };
  CHECK(pooled_note(2000).empty());
  CHECK(pooled_note(2500).find("2500 x 1 weights on 1250 x 1 cells") != std::string::npos);
}

TEST_CASE("lay_out_figure: cells have numbers only if they fit") {
  const test::SampleHeatmap small(12, 1);
  CHECK(lay_out_figure(small.heatmap).value_column_width > 0);
  const test::SampleHeatmap large(60, 1);
  CHECK(lay_out_figure(large.heatmap).value_column_width == 0);
}

TEST_CASE("lay_out_figure: at most about 4096 pixels per side") {
  for (const std::size_t n_panels : {1u, 12u, 144u}) {
    test::SampleHeatmap sample(10'000, 1, 0, test::Labels::kHard);
    sample.heatmap.key_labels = sample.heatmap.query_labels;
    sample.heatmap.roles.keys = sample.heatmap.roles.queries;
    sample.heatmap.panels.resize(n_panels);
    const FigureLayout layout = lay_out_figure(sample.heatmap);
    CHECK(layout.width <= 4096);
    CHECK(layout.height <= 4096);
  }
}

TEST_CASE("lay_out_figure: a given width is met, and nothing overlaps or is cut off") {
  struct Width {
    Length length;
    int dpi;
    int pixels;
  };
  for (const Width& wanted : {Width{{85.0, LengthUnit::kMillimetres}, 300, 1004},
                              Width{{85.0, LengthUnit::kMillimetres}, 96, 321},
                              Width{{7.0, LengthUnit::kInches}, 150, 1050},
                              Width{{1200.0, LengthUnit::kPixels}, 96, 1200},
                              Width{{701.0, LengthUnit::kPixels}, 200, 701}}) {
    for (const test::Labels labels : {test::Labels::kWords, test::Labels::kHard}) {
      for (const std::size_t n : {1U, 3U, 12U, 60U, 300U, 2500U}) {
        for (const std::size_t n_panels : {1U, 4U, 7U}) {
          CAPTURE(wanted.pixels);
          CAPTURE(n);
          CAPTURE(n_panels);
          test::SampleHeatmap sample(n, 1, 0, labels);
          sample.heatmap.key_labels = sample.heatmap.query_labels;
          sample.heatmap.roles.keys = sample.heatmap.roles.queries;
          for (std::size_t i = 0; i < n_panels; ++i) {
            sample.heatmap.panels.push_back({fmt::format("L0H{}", i), {}});
          }
          FigureStyle style;
          style.dpi = wanted.dpi;
          style.width = wanted.length;
          if (labels == test::Labels::kHard && wanted.length.unit == LengthUnit::kMillimetres) {
            continue;  // too narrow for the longest
          }
          const FigureLayout layout = lay_out_figure(sample.heatmap, style);
          CHECK(layout.width == wanted.pixels);
          test::check_layout(layout);
        }
      }
    }
  }
}

TEST_CASE("lay_out_figure: a width that is too small is refused with the smallest one that works") {
  for (const std::size_t n : {1U, 6U, 60U, 3000U}) {
    for (const std::size_t n_panels : {1U, 4U}) {
      for (const int dpi : {96, 300}) {
        CAPTURE(n);
        CAPTURE(n_panels);
        CAPTURE(dpi);
        test::SampleHeatmap sample(n, 1, 0, test::Labels::kHard);
        sample.heatmap.key_labels = sample.heatmap.query_labels;
        sample.heatmap.roles.keys = sample.heatmap.roles.queries;
        sample.heatmap.panels.resize(n_panels);
        FigureStyle style;
        style.dpi = dpi;
        const int least = least_width(sample.heatmap, style);
        for (const int more : {0, 1, 30, 111, 400}) {
          CAPTURE(more);
          style.width = Length{static_cast<double>(least + more), LengthUnit::kPixels};
          const FigureLayout layout = lay_out_figure(sample.heatmap, style);
          CHECK(layout.width == least + more);
          test::check_layout(layout);
        }
        style.width->number = least - 1;
        CHECK_THROWS_WITH_AS(lay_out_figure(sample.heatmap, style),
                             doctest::Contains(fmt::format("at least {}px", least).c_str()), Error);
      }
    }
  }
}

TEST_CASE("lay_out_figure: in a wider figure cells are larger, in a narrower one they are pooled") {
  const test::SampleHeatmap sample(500, 2);
  const auto layout_of = [&sample](double inches) {
    FigureStyle style;
    style.width = Length{inches, LengthUnit::kInches};
    return lay_out_figure(sample.heatmap, style);
  };
  const FigureLayout narrow = layout_of(4.0);
  const FigureLayout wide = layout_of(16.0);
  CHECK(narrow.grid.keys.n_cells() < 300);
  CHECK(wide.grid.keys.n_cells() > 2 * narrow.grid.keys.n_cells());
  const auto notes_of = [](const FigureLayout& layout) {
    std::string all;
    for (const TextRun& text : texts_of(layout, TextRole::kNote)) {
      all += text.text + " ";
    }
    return all;
  };
  CHECK(notes_of(narrow).find("pooled: 500 x 500 weights") != std::string::npos);
  // Most of the width is taken by cells, the rest by labels and legend.
  const test::SampleHeatmap small(6, 1);
  FigureStyle style;
  style.width = Length{800.0, LengthUnit::kPixels};
  const FigureLayout few = lay_out_figure(small.heatmap, style);
  CHECK(few.panels[0].width > 500);
  style.width->number = 400.0;
  CHECK(lay_out_figure(small.heatmap, style).grid.keys.pitch < few.grid.keys.pitch);
}

TEST_CASE("lay_out_figure: a given width does not change the size of texts") {
  const test::SampleHeatmap sample(12, 4);
  const auto sizes = [](const FigureLayout& layout) {
    std::set<int> found;
    for (const TextRole role :
         {TextRole::kTitle, TextRole::kLegend, TextRole::kNote, TextRole::kAxisName}) {
      for (const TextRun& text : texts_of(layout, role)) {
        found.insert(text.column_width);
      }
    }
    return found;
  };
  FigureStyle style;
  CHECK(sizes(lay_out_figure(sample.heatmap, style)) == std::set<int>{7, 9});
  for (const double width : {300.0, 500.0, 1500.0}) {
    style.width = Length{width, LengthUnit::kPixels};
    CHECK(sizes(lay_out_figure(sample.heatmap, style)) == std::set<int>{7, 9});
  }
}

TEST_CASE("lay_out_figure: without a footer there are no notes, and without values no numbers") {
  const test::SampleHeatmap sample(6, 1);
  const FigureLayout usual = lay_out_figure(sample.heatmap);
  FigureStyle style;
  style.footer = false;
  const FigureLayout no_footer = lay_out_figure(sample.heatmap, style);
  CHECK(texts_of(no_footer, TextRole::kNote).empty());
  CHECK(no_footer.height < usual.height - 20);
  CHECK(no_footer.width == usual.width);
  CHECK(no_footer.panels[0].y == usual.panels[0].y);
  CHECK(no_footer.value_column_width == usual.value_column_width);
  test::check_layout(no_footer);
  style = {};
  style.values = false;
  const FigureLayout no_values = lay_out_figure(sample.heatmap, style);
  CHECK(no_values.value_column_width == 0);
  CHECK(no_values.height == usual.height);
}

TEST_CASE("lay_out_figure: ends of the scale exceeded by visible weights say so") {
  test::SampleHeatmap sample(4, 1);
  ColorScale& scale = sample.heatmap.scale;
  std::vector<float>& weights = sample.values.front();  // the second of them is masked
  const auto ends = [&](float first, float second) {
    std::ranges::fill(weights, 0.3f);
    weights[0] = first;
    weights[1] = second;
    const FigureLayout layout = lay_out_figure(sample.heatmap);
    test::check_layout(layout);
    const std::set<std::string> texts = strings_of(layout, TextRole::kLegend);
    return fmt::format("{}{}", texts.contains("≤ 0.2") ? "<" : "",
                       texts.contains("≥ 0.5") ? ">" : "");
  };
  scale.low = 0.2f;
  scale.high = 0.5f;
  CHECK(ends(0.2f, 1.0f).empty());
  CHECK(ends(0.1f, 0.3f) == "<");
  CHECK(ends(0.6f, 0.0f) == ">");
  scale.kind = ScaleKind::kRowMax;  // each row has a largest weight
  CHECK(ends(0.3f, 0.0f) == ">");
}

TEST_CASE("lay_out_figure: tokens with gaps between them are labelled with their numbers") {
  test::SampleHeatmap sample(300, 1);
  std::vector<std::size_t> odd;
  for (std::size_t i = 0; i < 300; ++i) {
    odd.push_back(2 * i + 1);
  }
  sample.heatmap.first_query = sample.heatmap.first_key = EntryNumbers(odd);
  const FigureLayout layout = lay_out_figure(sample.heatmap);
  const std::vector<TextRun> indices = texts_of(layout, TextRole::kIndex);
  REQUIRE(indices.size() > 20);
  for (const TextRun& index : indices) {
    CHECK(std::stoi(index.text) % 2 == 1);
  }
}

}  // namespace attnviz
