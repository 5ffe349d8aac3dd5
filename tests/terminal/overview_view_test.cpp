#include "attnviz/terminal/views.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

#include "attnviz/core/utf8.h"
#include "support/sample_overview.h"
#include "support/screen_text.h"
#include "support/stopwatch.h"

namespace attnviz {
namespace {

std::string drawn(const Overview& overview, const TerminalOptions& options) {
  return to_ansi(overview_page(overview, options), options.color);
}

}  // namespace

TEST_CASE("overview_page: thumbnails, the chosen one in brackets, then it large") {
  const test::SampleOverview sample(2, 7, 8);
  const std::vector<std::string> lines =
      test::screen_lines(drawn(sample.overview(), test::kAscii80));
  const std::vector<std::string> expected = {
      "attention: deep",
      "",
      "   H0       H1       H2       H3       H4       H5       H6",
      "L0 @.       @.       @.       @.       @.       @.       @.",
      "   @...     @...     @...     @...     @...     @...     @...",
      "   @.....   @.....   @.....   @.....   @.....   @.....   @.....",
      "   @....... @....... @....... @....... @....... @....... @.......",
      "",
      "L1 @.      [@.      ]@.       @.       @.       @.       @.",
      "   @...    [-#..    ]@...     @...     @...     @...     @...",
      "   @.....  [-.#...  ]@.....   @.....   @.....   @.....   @.....",
      "   @.......[-..#....]@....... @....... @....... @....... @.......",
      "",
      "L1H1: the most informative head",
      "What a token attends to here depends on the words, not only on positions: for",
  };
  REQUIRE(lines.size() > expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(lines[i] == expected[i]);
  }
  CHECK(lines.back() ==
        "thumbnails: each cell shows the largest weight of up to 2 queries x 1 key");
}

TEST_CASE("overview_page: no line is too wide, and ascii is 7-bit") {
  struct Shape {
    std::size_t n_layers;
    std::size_t n_heads;
  };
  for (const Shape& shape : {Shape{2, 7}, Shape{5, 8}, Shape{12, 12}, Shape{3, 110}}) {
    for (const std::size_t n : {1u, 2u, 3u, 12u, 70u}) {
      const test::SampleOverview sample(shape.n_layers, shape.n_heads, n, test::Labels::kHard);
      const Overview overview = sample.overview();
      for (const TerminalStyle style : {TerminalStyle::kBlocks, TerminalStyle::kAscii,
                                        TerminalStyle::kDots, TerminalStyle::kNumbers}) {
        for (const ColorDepth color : {ColorDepth::kNone, ColorDepth::kTrueColor}) {
          for (const std::size_t columns : {20u, 40u, 80u, 200u}) {
            CAPTURE(shape.n_heads);
            CAPTURE(n);
            CAPTURE(columns);
            const std::string text = drawn(overview, {style, color, columns});
            std::size_t widest = 0;
            for (const std::string& line : test::screen_lines(text)) {
              widest = std::max(widest, display_width(test::without_escapes(line)));
            }
            CHECK(widest <= columns);
            const bool seven_bit = std::all_of(text.begin(), text.end(), [](char c) {
              return c == '\n' || c == '\x1b' || (c >= ' ' && c <= '~');
            });
            CHECK((seven_bit || style != TerminalStyle::kAscii));
            CHECK((color != ColorDepth::kNone || text.find('\x1b') == std::string::npos));
          }
        }
      }
    }
  }
}

TEST_CASE("overview_page: every head is named once, in groups of similar size") {
  const test::SampleOverview sample(2, 32, 40);
  const Overview overview = sample.overview();
  std::vector<std::string> headers;
  for (const std::string& line : test::screen_lines(drawn(overview, test::kAscii80))) {
    if (line.starts_with("   H")) {
      headers.push_back(line);
    }
  }
  REQUIRE(headers.size() == 3);
  std::vector<std::string> names;
  std::vector<std::string> expected;
  for (const std::string& header : headers) {
    std::istringstream words(header);
    for (std::string name; words >> name;) {
      names.push_back(name);
    }
  }
  for (std::size_t head = 0; head < 32; ++head) {
    expected.push_back(fmt::format("H{}", head));
  }
  CHECK(names == expected);
  CHECK(headers[1].starts_with("   H11"));
  CHECK(headers[2].starts_with("   H22"));
}

TEST_CASE("overview_page: half blocks show as many rows as columns") {
  const test::SampleOverview sample(2, 7, 7);
  const std::vector<std::string> lines =
      test::screen_lines(drawn(sample.overview(), {TerminalStyle::kBlocks, ColorDepth::k256, 80}));
  // Seven cells make four lines, the last one half empty: no blank line is needed.
  CHECK(test::without_escapes(lines.at(3)).starts_with("L0 ▀▄"));
  CHECK(test::without_escapes(lines.at(6)).starts_with("   ▀▀▀▀▀▀▀"));
  CHECK(test::without_escapes(lines.at(7)).starts_with("L1 "));
  CHECK(test::without_escapes(lines.at(7)).find("┌▀▄     ┐") != std::string::npos);
  CHECK(test::without_escapes(lines.at(8)).find("│▀▀▀▄   │") != std::string::npos);
  CHECK(test::without_escapes(lines.at(10)).find("└▀▀▀▀▀▀▀┘") != std::string::npos);
}

TEST_CASE("terminal_cells: cells pooled to this size are those that are drawn") {
  const test::SampleOverview sample(5, 8, 60);
  const Overview overview = sample.overview();
  for (const std::size_t columns : {80u, 200u}) {
    const OverviewCells cells =
        terminal_cells(overview, {TerminalStyle::kBlocks, ColorDepth::k256, columns});
    CHECK(cells.thumbnails.keys.cells() <= 16);
    CHECK(cells.thumbnails.keys.cells() >= 5);
    CHECK(cells.thumbnails.queries.cells() == cells.thumbnails.keys.cells());
    CHECK(cells.large.keys.size == 60);
  }
}

TEST_CASE("overview_page: heads are stacked if the layers' numbers take all the room") {
  const test::SampleOverview sample(1, 3, 2);
  Overview overview = sample.overview();
  overview.blanks.push_back({1'000'000'000'000, 2'000'000'000'000, 1, "MLP"});
  for (const std::string& line :
       test::screen_lines(drawn(overview, {TerminalStyle::kAscii, ColorDepth::kNone, 20}))) {
    CHECK(!(test::contains(line, "H0") && test::contains(line, "H1")));
  }
}

TEST_CASE("overview_page: very many layers with and without attention") {
  const test::SampleOverview sample(60'000, 1, 1);
  Overview overview = sample.overview();
  for (std::size_t i = 0; i < 120'000; ++i) {
    overview.blanks.push_back({i, i, i / 2, "MLP"});
  }
  const test::Stopwatch watch;
  CHECK(overview_page(overview, test::kAscii80).lines.size() > 180'000);
  CHECK(watch.is_in_time());
}

}  // namespace attnviz
