#include "attnviz/terminal/views.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/core/utf8.h"
#include "support/naive.h"
#include "support/sample_heatmap.h"
#include "support/screen_text.h"
#include "support/stopwatch.h"

namespace attnviz {
namespace {

// A heatmap that owns its values.
struct Picture {
  std::vector<std::vector<float>> values;
  Heatmap heatmap;
};

// One panel, every cell visible.
Picture full_picture(std::vector<float> weights, std::vector<std::string> query_labels,
                     std::vector<std::string> key_labels) {
  Picture picture;
  picture.values.push_back(std::move(weights));
  picture.heatmap.panels.push_back(
      {"L0H0", test::matrix_over(picture.values.back(), query_labels.size(), key_labels.size())});
  picture.heatmap.query_labels = std::move(query_labels);
  picture.heatmap.key_labels = std::move(key_labels);
  return picture;
}

std::string drawn(const Heatmap& heatmap, const TerminalOptions& options) {
  return to_ansi(heatmap_page(heatmap, options), options.color);
}

}  // namespace

TEST_CASE("heatmap_page: no line is wider than the terminal, for any figure") {
  struct Look {
    TerminalStyle style;
    ColorDepth depth;
  };
  constexpr Look kLooks[] = {{TerminalStyle::kAscii, ColorDepth::kNone},
                             {TerminalStyle::kAscii, ColorDepth::k16},
                             {TerminalStyle::kNumbers, ColorDepth::kNone},
                             {TerminalStyle::kBlocks, ColorDepth::kNone},
                             {TerminalStyle::kBlocks, ColorDepth::k16},
                             {TerminalStyle::kBlocks, ColorDepth::k256},
                             {TerminalStyle::kBlocks, ColorDepth::kTrueColor},
                             {TerminalStyle::kNumbers, ColorDepth::k256},
                             {TerminalStyle::kDots, ColorDepth::kNone},
                             {TerminalStyle::kDots, ColorDepth::k16},
                             {TerminalStyle::kMask, ColorDepth::kNone},
                             {TerminalStyle::kMask, ColorDepth::kTrueColor}};
  for (const test::Labels labels : {test::Labels::kWords, test::Labels::kHard}) {
    for (const std::size_t n : {1U, 2U, 3U, 6U, 11U, 37U, 61U, 150U, 1003U}) {
      for (const std::size_t n_panels : {1U, 4U, 12U}) {
        const bool large = n > 100 && (n_panels > 1 || labels == test::Labels::kWords);
        if (large || (n > 40 && n_panels > 4)) {
          continue;
        }
        const test::SampleHeatmap picture(n, n_panels, labels);
        for (const Look& look : kLooks) {
          for (const std::size_t columns : {20U, 33U, 80U, 131U, 400U}) {
            if (n > 1000 && columns > 20) {
              continue;  // a million cells per drawing
            }
            CAPTURE(n);
            CAPTURE(n_panels);
            CAPTURE(static_cast<int>(look.style));
            CAPTURE(static_cast<int>(look.depth));
            CAPTURE(columns);
            const std::string out = drawn(picture.heatmap, {look.style, look.depth, columns});
            std::size_t widest = 0;
            for (const std::string& line : test::screen_lines(out)) {
              widest = std::max(widest, display_width(test::without_escapes(line)));
            }
            CHECK(widest <= columns);
            CHECK((look.depth != ColorDepth::kNone || !test::contains(out, "\x1b")));
            const bool ascii =
                look.style == TerminalStyle::kAscii || look.style == TerminalStyle::kMask;
            CHECK((!ascii || std::all_of(out.begin(), out.end(), [](char c) { return c > 0; })));
          }
        }
      }
    }
  }
}

TEST_CASE("heatmap_page: the role of a token's turn is next to its label, and in the legend") {
  Picture picture = full_picture({1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1},
                                 {"s", "hi", "ok", "a"}, {"s", "hi", "ok", "a"});
  picture.heatmap.roles = {{"user", "unknown"}, {0, 1, 2, 0}, {0, 1, 2, 0}};
  TerminalOptions options;
  options.columns = 80;
  options.style = TerminalStyle::kAscii;
  options.color = ColorDepth::kNone;
  const std::string plain = drawn(picture.heatmap, options);
  CHECK(plain.find("hi u ") != std::string::npos);
  CHECK(plain.find("ok n ") != std::string::npos);
  CHECK(plain.find("u user   n unknown") != std::string::npos);
  options.style = TerminalStyle::kBlocks;
  options.color = ColorDepth::kTrueColor;
  const std::string colored = drawn(picture.heatmap, options);
  CHECK(test::without_escapes(colored).find("hi ▌") != std::string::npos);
  CHECK(test::without_escapes(colored).find("▌ user   ▌ unknown") != std::string::npos);
}

TEST_CASE("heatmap_page: ascii draws a ramp and leaves masked cells blank") {
  Picture picture = full_picture({1.0f, 0.0f, 0.5f, 0.5f}, {"a", "b"}, {"a", "b"});
  picture.heatmap.panels.front().visible = [](std::size_t query, std::size_t key) {
    return key <= query;
  };
  picture.heatmap.title = "attention";
  picture.heatmap.notes = {"mask causal"};
  picture.heatmap.panels.push_back(picture.heatmap.panels[0]);
  picture.heatmap.panels[1].title = "L0H1";
  CHECK(drawn(picture.heatmap, {TerminalStyle::kAscii, ColorDepth::kNone, 40}) ==
        "attention\n"
        "\n"
        "  L0H0        L0H1\n"
        "  a    b      a    b\n"
        "a @@@@        @@@@\n"
        "b ++++ ++++   ++++ ++++\n"
        "\n"
        "0 .:-=+*#%@ 1   blank = masked\n"
        "row = query   column = key\n"
        "mask causal\n");
}

TEST_CASE("heatmap_page: dots grow with the weight, masked cells stay blank") {
  Picture picture = full_picture({1.0f, 0.0f, 0.5f, 0.25f}, {"a", "b"}, {"a", "b"});
  picture.heatmap.panels.front().visible = [](std::size_t query, std::size_t key) {
    return key <= query;
  };
  CHECK(drawn(picture.heatmap, {TerminalStyle::kDots, ColorDepth::kNone, 60}) ==
        "  L0H0\n"
        "  a b\n"
        "a ●\n"
        "b • ◦\n"
        "\n"
        "0 ·◦•○● 1   blank = masked   row = query   column = key\n");
}

TEST_CASE("heatmap_page: dots of signed values are rings below the middle, discs above") {
  Picture picture =
      full_picture({-1.0f, -0.5f, 0.0f, 0.5f, 1.0f}, {"q"}, {"a", "b", "c", "d", "e"});
  picture.heatmap.scale.low = -1.0f;
  picture.heatmap.scale.colormap = Colormap("blue-red");
  const auto lines =
      test::screen_lines(drawn(picture.heatmap, {TerminalStyle::kDots, ColorDepth::kNone, 60}));
  CHECK(lines.at(2) == "q ○ ◦ · • ●");
}

TEST_CASE("heatmap_page: without colours signed values have different characters for each half") {
  Picture picture =
      full_picture({-1.0f, -0.5f, 0.0f, 0.5f, 1.0f}, {"q"}, {"a", "b", "c", "d", "e"});
  picture.heatmap.scale.low = -1.0f;
  picture.heatmap.scale.colormap = Colormap("blue-red");
  for (const TerminalStyle style : {TerminalStyle::kAscii, TerminalStyle::kBlocks}) {
    const std::string text = drawn(picture.heatmap, {style, ColorDepth::kNone, 60});
    const std::string row = test::screen_lines(text).at(2);
    const auto at = [&row](const char* sign) { return row.find(sign); };
    CHECK(at("=") < at("-"));
    CHECK(at("-") < at(style == TerminalStyle::kAscii ? "." : "·"));
    CHECK(at(style == TerminalStyle::kAscii ? "." : "·") < at("+"));
    CHECK(at("+") < at("#"));
    CHECK(at("#") != std::string::npos);
  }
}

TEST_CASE("heatmap_page: the mask's style shows which tokens see which, once for each mask") {
  Picture picture = full_picture({1.0f, 0.0f, 0.5f, 0.5f}, {"The", "cat"}, {"The", "cat"});
  HeatmapPanel causal = picture.heatmap.panels.front();
  causal.visible = [](std::size_t query, std::size_t key) { return key <= query; };
  causal.mask = "causal";
  picture.heatmap.panels = {causal, causal, {"L0H2", causal.values, nullptr, "none"}};
  CHECK(drawn(picture.heatmap, {TerminalStyle::kMask, ColorDepth::kNone, 60}) ==
        "    mask causal  mask none\n    The cat      The cat\nThe #   .        #   #\ncat #   #   "
        "     #   #\n\n# = visible   . = masked   row = query   column = key\n");
}

TEST_CASE("heatmap_page: a non-linear scale has its numbers below it") {
  Picture picture = full_picture({1.0f, 0.01f}, {"a"}, {"a", "b"});
  picture.heatmap.scale.kind = ScaleKind::kSqrt;
  const auto lines = test::screen_lines(drawn(picture.heatmap, test::kAscii80));
  CHECK(lines.at(5) == ".....:::::-----=====+++++*****#####%%%%%@@@@@");
  CHECK(lines.at(6) == "0            0.1              0.5           1");
  CHECK(lines.at(7) == "sqrt scale   row = query   column = key");
  picture.heatmap.scale.kind = ScaleKind::kRowMax;
  CHECK(test::contains(drawn(picture.heatmap, test::kAscii80),
                       "0 .:-=+*#%@ 1   share of the row's largest   row = query"));
}

TEST_CASE("heatmap_page: the legend says what shares refer to, wherever they were computed") {
  Picture picture = full_picture({1.0f, 0.5f}, {"a"}, {"a", "b"});
  picture.heatmap.value_name = "share of the largest weight";
  CHECK(test::contains(drawn(picture.heatmap, test::kAscii80),
                       "0 .:-=+*#%@ 1   share of the largest weight   row = query"));
  const TerminalOptions numbers{TerminalStyle::kNumbers, ColorDepth::kNone, 80};
  CHECK(test::contains(drawn(picture.heatmap, numbers),
                       "values 0 to 1   share of the largest weight   row = query"));
  picture.heatmap.scale.kind = ScaleKind::kRowMax;
  picture.heatmap.value_name = "share of the query's largest weight";
  CHECK(test::contains(drawn(picture.heatmap, test::kAscii80),
                       "0 .:-=+*#%@ 1   share of the query's largest weight   row = query"));
}

TEST_CASE("heatmap_page: small multiples show values and labels where they fit on one screen") {
  const test::SampleHeatmap picture(6, 4);
  const auto lines =
      test::screen_lines(drawn(picture.heatmap, {TerminalStyle::kBlocks, ColorDepth::k256, 80}));
  CHECK(lines.size() <= 45);
  CHECK(test::without_escapes(lines.at(3)) ==
        "     The  cat  sat   on  the  mat    The  cat  sat   on  the  mat");
  test::SampleHeatmap threes(6, 6);
  threes.heatmap.panels_together = 3;  // two of them with values would fit in a line
  CHECK(test::contains(
      test::without_escapes(
          test::screen_lines(drawn(threes.heatmap, {TerminalStyle::kBlocks, ColorDepth::k256, 80}))
              .at(2)),
      "L0H2"));
  test::SampleHeatmap compared(8, 3);  // with values all three would fit on a screen, one by one
  compared.heatmap.panels_together = 3;
  CHECK(test::contains(
      test::without_escapes(test::screen_lines(drawn(compared.heatmap, {TerminalStyle::kBlocks,
                                                                        ColorDepth::k256, 80}))
                                .at(2)),
      "L0H2"));
  const test::SampleHeatmap many(6, 48);
  CHECK(test::screen_lines(drawn(many.heatmap, {TerminalStyle::kBlocks, ColorDepth::k256, 80}))
            .size() < 120);
}

TEST_CASE("heatmap_page: a weight of zero is drawn, a masked one is not") {
  Picture picture = full_picture({0.0f, 0.0f}, {"a"}, {"a", "b"});
  picture.heatmap.panels.front().visible = [](std::size_t, std::size_t key) { return key == 0; };
  const auto row = [&picture](TerminalStyle style, ColorDepth depth) {
    return test::screen_lines(drawn(picture.heatmap, {style, depth, 20})).at(2);
  };
  CHECK(row(TerminalStyle::kAscii, ColorDepth::kNone) == "a ......");
  CHECK(row(TerminalStyle::kBlocks, ColorDepth::kNone) == "a ······");
  CHECK(row(TerminalStyle::kNumbers, ColorDepth::kNone) == "a  0.000     ·");
  const std::string colored =
      test::screen_lines(
          drawn(picture.heatmap, {TerminalStyle::kBlocks, ColorDepth::kTrueColor, 20}))
          .at(3);
  CHECK(colored == "a \x1b[48;2;68;1;84;38;5;231m  .00  \x1b[0m   \x1b[2m·\x1b[0m");
}

TEST_CASE("heatmap_page: four heads of six tokens are side by side in 80 columns") {
  const test::SampleHeatmap picture(6, 4);
  for (const TerminalStyle style : {TerminalStyle::kAscii, TerminalStyle::kBlocks}) {
    const auto lines = test::screen_lines(drawn(picture.heatmap, {style, ColorDepth::kNone, 80}));
    CHECK(lines.at(2) == "      L0H0          L0H1          L0H2          L0H3");
    CHECK(lines.at(3) == "      0 1 2 3 4 5   0 1 2 3 4 5   0 1 2 3 4 5   0 1 2 3 4 5");
    CHECK(lines.at(4).starts_with("0 The "));
    CHECK(lines.at(9).starts_with("5 mat "));
  }
}

TEST_CASE("heatmap_page: twelve heads fill their rows evenly") {
  const test::SampleHeatmap picture(6, 12);
  std::vector<std::string> titles;
  for (const std::string& line : test::screen_lines(drawn(picture.heatmap, test::kAscii80))) {
    if (test::contains(line, "L0H")) {
      titles.push_back(line);
    }
  }
  REQUIRE(titles.size() == 3);  // five would fit in a row: 4 + 4 + 4, not 5 + 5 + 2
  CHECK(test::contains(titles[0], "L0H3"));
  CHECK_FALSE(test::contains(titles[0], "L0H4"));
  CHECK(test::contains(titles[2], "L0H8"));
  CHECK(test::contains(titles[2], "L0H11"));
}

TEST_CASE("heatmap_page: one head is drawn large, with column labels and values") {
  const Picture picture = full_picture({0.25f, 0.75f, 1.0f, 0.0f}, {"The", "cat"}, {"The", "cat"});
  const auto lines =
      test::screen_lines(drawn(picture.heatmap, {TerminalStyle::kBlocks, ColorDepth::k256, 80}));
  REQUIRE(lines.size() >= 8);
  CHECK(test::without_escapes(lines[1]) == "      The    cat");
  CHECK(test::without_escapes(lines[3]) == "The   .25    .75  ");
  CHECK(test::without_escapes(lines[6]) == "cat   1.0    .00  ");
}

TEST_CASE("heatmap_page: wide characters keep the cells in their columns") {
  const test::SampleHeatmap picture(15, 1, test::Labels::kHard);
  const auto lines =
      test::screen_lines(drawn(picture.heatmap, {TerminalStyle::kNumbers, ColorDepth::kNone, 80}));
  // Titles, then a header, then one line per token; the last character of each row ends its cell.
  const std::size_t width = display_width(lines.at(3));
  for (std::size_t row = 4; row < 4 + 15; ++row) {
    CHECK(display_width(lines.at(row)) == width);
  }
}

TEST_CASE("heatmap_page: in a narrow terminal labels are cut, indices are not") {
  const test::SampleHeatmap picture(12, 1);
  const auto lines =
      test::screen_lines(drawn(picture.heatmap, {TerminalStyle::kAscii, ColorDepth::kNone, 30}));
  CHECK(std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
          return line.starts_with("10 on ");
        }) != lines.end());
  CHECK(std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
          return line.starts_with(" 9 sa ");
        }) != lines.end());
}

TEST_CASE(
    "heatmap_page: nothing in a label, title or note reaches the terminal as a control sequence") {
  Picture picture = full_picture({1.0f}, {"\x1b[31m\u202E\n"}, {"\x1b]0;x\x07"});
  picture.heatmap.panels[0].title = "\x1b[2J";
  picture.heatmap.title = "\x1b[1;1H";
  picture.heatmap.notes = {
      "\x9b"
      "31m\u2066\rnote"};
  for (const TerminalStyle style :
       {TerminalStyle::kBlocks, TerminalStyle::kAscii, TerminalStyle::kNumbers}) {
    const std::string out = drawn(picture.heatmap, {style, ColorDepth::kNone, 80});
    CHECK_FALSE(test::contains(out, "\x1b"));
    CHECK_FALSE(test::contains(out, "\x07"));
    CHECK_FALSE(test::contains(out, "\r"));
    CHECK_FALSE(test::contains(out, "\u202E"));
    CHECK_FALSE(test::contains(out, "\u2066"));
  }
}

TEST_CASE("heatmap_page: 300 tokens in 80 columns are pooled, and a single weight still shows") {
  test::SampleHeatmap picture(300, 1);
  std::fill(picture.values[0].begin(), picture.values[0].end(), 0.0f);
  picture.values[0][200 * 300 + 100] = 1.0f;
  const std::string out = drawn(picture.heatmap, test::kAscii80);
  CHECK(test::contains(out, "pooled: each cell is the largest of up to 10 x 5 weights\n"));
  const auto lines = test::screen_lines(out);
  CHECK(lines.size() < 60);
  const auto row = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
    return test::contains(line, "200-209");
  });
  REQUIRE(row != lines.end());
  const std::size_t first_cell = lines.at(3).find('0');  // of the header, over key 0
  CHECK(row->find('@') == first_cell + 100 / 5);
  CHECK(std::count_if(lines.begin(), lines.end() - 4,
                      [](const std::string& line) { return test::contains(line, "@"); }) == 1);
}

TEST_CASE("heatmap_page: with colours two rows share a line before rows are pooled") {
  const test::SampleHeatmap picture(60, 1);
  const std::string out =
      drawn(picture.heatmap, {TerminalStyle::kBlocks, ColorDepth::kTrueColor, 80});
  CHECK_FALSE(test::contains(out, "pooled"));
  const auto lines = test::screen_lines(out);
  CHECK(test::without_escapes(lines.at(4)).starts_with("  0–1 The cat"));
  CHECK(test::without_escapes(lines.at(4))
            .ends_with("▀▄"));  // query 0 sees key 0, query 1 keys 0 and 1
  CHECK(test::without_escapes(lines.at(33)).starts_with("58–59 "));
  CHECK(test::contains(out, "blank = masked"));
}

TEST_CASE("heatmap_page: column indices are explained when the rows have other labels") {
  const Picture picture =
      full_picture(std::vector<float>(12, 0.5f), {"look"},
                   {"alpha", "beta", "gamma", "delta", "a", "b", "c", "d", "e", "f", "g", "日本"});
  const std::string out = drawn(picture.heatmap, {TerminalStyle::kBlocks, ColorDepth::kNone, 40});
  CHECK(test::contains(out, "keys:  0 alpha  1 beta  2 gamma  3 delta"));
  CHECK(test::contains(out, "11 日本"));
}

TEST_CASE("heatmap_page: NaN is visible, and in the legend only then") {
  Picture picture =
      full_picture({std::numeric_limits<float>::quiet_NaN(), 1.0f}, {"a"}, {"a", "b"});
  CHECK(test::contains(drawn(picture.heatmap, test::kAscii80), "? = NaN"));
  CHECK(test::contains(drawn(picture.heatmap, {TerminalStyle::kNumbers, ColorDepth::kNone, 80}),
                       "   nan"));
  picture.values[0][0] = 0.0f;
  CHECK_FALSE(test::contains(drawn(picture.heatmap, test::kAscii80), "NaN"));
}

TEST_CASE("heatmap_page: the legend has scale and notes, and masked cells only if there are any") {
  Picture picture = full_picture({-0.5f, 2.0f}, {"a"}, {"a", "b"});
  picture.heatmap.scale.low = -0.5f;
  picture.heatmap.scale.high = 2.0f;
  picture.heatmap.notes = {"RANDOM WEIGHTS: this means nothing"};
  const std::string out = drawn(picture.heatmap, test::kAscii80);
  CHECK(test::contains(out, "\n-0.5 .:-=+*#%@ 2   row = query   column = key\n"));
  CHECK(test::contains(out, "\nRANDOM WEIGHTS: this means nothing\n"));
  CHECK_FALSE(test::contains(out, "masked"));
  CHECK(test::contains(out, "a ......"));
  CHECK(test::contains(out, "@@@@@@"));
}

TEST_CASE("heatmap_page: ends of the scale exceeded by weights say so") {
  Picture picture = full_picture({0.1f, 1.0f}, {"a"}, {"a", "b"});
  picture.heatmap.scale.low = 0.2f;
  picture.heatmap.scale.high = 0.5f;
  const auto shows = [&picture](TerminalStyle style, std::string_view scale) {
    return test::contains(drawn(picture.heatmap, {style, ColorDepth::kNone, 80}), scale);
  };
  CHECK(shows(TerminalStyle::kAscii, "\n<= 0.2 .:-=+*#%@ >= 0.5   row"));
  CHECK(shows(TerminalStyle::kBlocks, "\n≤ 0.2 ·░▒▓█ ≥ 0.5   row"));
  picture.heatmap.scale.kind = ScaleKind::kSqrt;
  CHECK(shows(TerminalStyle::kDots, "\n≤ 0.2 "));
  CHECK(shows(TerminalStyle::kDots, " ≥ 0.5\n"));
  picture.values[0] = {0.2f, 0.5f};
  CHECK(shows(TerminalStyle::kDots, "\n0.2 "));
}

TEST_CASE("heatmap_page: a terminal of width 0 is treated as 20 columns wide") {
  const test::SampleHeatmap picture(6, 4);
  CHECK(drawn(picture.heatmap, {TerminalStyle::kAscii, ColorDepth::kNone, 0}) ==
        drawn(picture.heatmap, {TerminalStyle::kAscii, ColorDepth::kNone, 20}));
}

TEST_CASE("heatmap_page: the name of the rows may be as wide as the terminal") {
  test::SampleHeatmap picture(3, 1);
  picture.heatmap.query_axis = "query of a decoder with a long name";
  for (const std::string& line :
       test::screen_lines(drawn(picture.heatmap, {TerminalStyle::kAscii, ColorDepth::kNone, 20}))) {
    CHECK(display_width(line) <= 20);
  }
}

TEST_CASE("heatmap_page: a long label is shortened once, not for each of many heads") {
  const std::string label = std::string(3'000'000, 'a') + "é";
  Picture picture = full_picture({1.0f, 0.0f, 0.5f, 0.5f}, {label, "é"}, {label, "é"});
  picture.heatmap.panels.resize(10'000, picture.heatmap.panels.front());
  const test::Stopwatch watch;
  CHECK(heatmap_page(picture.heatmap, {}).lines.size() > 1'000);
  CHECK(watch.is_in_time());
}

}  // namespace attnviz
