#include "attnviz/terminal/views.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/core/utf8.h"
#include "attnviz/report/attention_heatmap.h"
#include "attnviz/report/heatmap.h"
#include "support/naive.h"
#include "support/sample_heatmap.h"
#include "support/screen_text.h"
#include "support/stopwatch.h"

namespace attnviz {
namespace {

// Two heads over three tokens; query 1 sees keys 0 and 1.
struct Small {
  std::vector<float> first = {1.0f, 0.0f, 0.0f, 0.25f, 0.75f, 0.0f, 0.5f, 0.25f, 0.25f};
  std::vector<float> second = {1.0f, 0.0f, 0.0f, 0.5f, 0.5f, 0.0f, 0.998f, 0.0f, 0.002f};
  Heatmap whole;

  Small() {
    const auto causal = [](std::size_t query, std::size_t key) { return key <= query; };
    whole.panels = {{"L0H0", test::matrix_over(first, 3, 3), causal},
                    {"L0H1", test::matrix_over(second, 3, 3), causal}};
    whole.query_labels = {"The", "cat", "sat"};
    whole.key_labels = whole.query_labels;
    whole.title = "attention";
  }
};

std::string drawn(const Heatmap& focus, const BarsSubject& subject,
                  const TerminalOptions& options) {
  return to_ansi(bars_page(focus, subject, options), options.color);
}

}  // namespace

TEST_CASE("focus_heatmap: a row for each head; for a query its keys, for a key its queries") {
  const Small small;
  const Heatmap query = focus_heatmap(small.whole, {1, false}, 3, 3);
  REQUIRE(query.panels.size() == 1);
  CHECK(query.query_labels == std::vector<std::string>{"L0H0", "L0H1"});
  CHECK(query.key_labels == small.whole.key_labels);
  const HeatmapPanel& of_query = query.panels.front();
  CHECK(of_query.values(0, 1) == 0.75f);
  CHECK(of_query.values(1, 0) == 0.5f);
  CHECK(of_query.is_visible(1, 1));
  CHECK_FALSE(of_query.is_visible(1, 2));

  const Heatmap key = focus_heatmap(small.whole, {1, true}, 3, 3);
  const HeatmapPanel& of_key = key.panels.front();
  CHECK(key.key_axis == small.whole.query_axis);
  CHECK(of_key.values(0, 2) == 0.25f);
  CHECK_FALSE(of_key.is_visible(0, 0));
  CHECK(of_key.is_visible(0, 2));
  check(key);
}

TEST_CASE("focus_heatmap: for a key, shares are of each query's largest, not of the key's") {
  Small small;
  small.whole.scale.kind = ScaleKind::kRowMax;
  const Heatmap key = focus_heatmap(small.whole, {1, true}, 3, 3);
  const PooledMatrix cells = pool(key, key.panels.front(), {2, 1, 0}, {3, 1, 0});
  CHECK_FALSE(cells.is_visible(0, 0));
  CHECK(cells.shown(0, 1) == 1.0f);  // 0.75 of 0.75
  CHECK(cells.shown(0, 2) == 0.5f);  // 0.25 of 0.5
  CHECK(cells.shown(1, 1) == 1.0f);  // 0.5 of 0.5
  CHECK(cells.shown(1, 2) == 0.0f);
  CHECK(cells.value(0, 2) == 0.25f);
  CHECK(key.value_name == "share of the query's largest weight");
  const Heatmap query = focus_heatmap(small.whole, {1, false}, 3, 3);
  const PooledMatrix row = pool(query, query.panels.front(), {2, 1, 0}, {3, 1, 0});
  CHECK(row.shown(0, 0) == 0.25f / 0.75f);
  CHECK(row.shown(1, 0) == 1.0f);
}

TEST_CASE("focus_heatmap: a token that the picture left out is refused") {
  Small small;  // as if these were keys and queries 1 to 3 of four, with these numbers
  small.whole.first_query = 1;
  small.whole.first_key = 2;
  CHECK(focus_heatmap(small.whole, {1, false}, 4, 4).first_query == 0);
  CHECK(focus_heatmap(small.whole, {1, false}, 4, 4).first_key == 2);
  CHECK(focus_heatmap(small.whole, {1, true}, 4, 4).first_key == 1);
  CHECK(focus_heatmap(small.whole, {1, false}, 4, 4).panels.front().values(0, 0) == 1.0f);
  CHECK_THROWS_AS(focus_heatmap(small.whole, {0, false}, 4, 4), Error);
}

TEST_CASE("bars_page: labelled bars with percentages, masked tokens reported, at 80 columns") {
  const Small small;
  const Heatmap focus = focus_heatmap(small.whole, {1, false}, 3, 3);
  CHECK(drawn(focus, {1, 0, false}, {TerminalStyle::kAscii, ColorDepth::kNone, 80}) ==
        "attention\n"
        "\n"
        "      L0H0                            L0H1\n"
        "0 The 25.0% ######                    50.0% ############\n"
        "1 cat 75.0% ##################        50.0% ############\n"
        "2 sat     .                               .\n"
        "\n"
        "full bar = 100%   . = masked\n");
  CHECK(test::contains(drawn(focus, {1, 0, false}, {TerminalStyle::kBlocks, ColorDepth::kNone, 80}),
                       "1 cat 75.0% ██████████████████        50.0% ████████████\n"));
}

TEST_CASE("bars_page: eighths of a column, and small shares are not zero") {
  const Small small;
  const Heatmap focus = focus_heatmap(small.whole, {2, false}, 3, 3);
  const auto lines = test::screen_lines(
      drawn(focus, {2, 0, false}, {TerminalStyle::kBlocks, ColorDepth::kNone, 30}));
  // 6 of 30 columns are labels; two heads have 11 each: 4 for a number, a space, 6 for a bar, which
  // are 48 eighths.
  CHECK(lines.at(3) == "0 The  50% ███     >99% ██████");
  CHECK(test::contains(lines.at(4), "25% █▌"));
  CHECK(test::contains(lines.at(5), "<1%"));
}

TEST_CASE("bars_page: no line is wider than the terminal, for any figure") {
  for (const test::Labels labels : {test::Labels::kWords, test::Labels::kHard}) {
    for (const std::size_t n : {1U, 2U, 12U, 41U, 300U}) {
      for (const std::size_t n_panels : {1U, 4U, 12U, 144U}) {
        if (n * n_panels > 4000) {
          continue;
        }
        const test::SampleHeatmap picture(n, n_panels, labels);
        for (const bool as_key : {false, true}) {
          const Heatmap focus = focus_heatmap(picture.heatmap, {n / 2, as_key}, n, n);
          for (const TerminalOptions& look :
               {TerminalOptions{TerminalStyle::kAscii, ColorDepth::kNone, 20},
                TerminalOptions{TerminalStyle::kBlocks, ColorDepth::kTrueColor, 33},
                TerminalOptions{TerminalStyle::kBlocks, ColorDepth::k16, 80},
                TerminalOptions{TerminalStyle::kMask, ColorDepth::k256, 80},
                TerminalOptions{TerminalStyle::kDots, ColorDepth::kNone, 200}}) {
            CAPTURE(n);
            CAPTURE(n_panels);
            CAPTURE(look.columns);
            const std::string out = drawn(focus, {n / 2, 0, as_key}, look);
            std::size_t widest = 0;
            for (const std::string& line : test::screen_lines(out)) {
              widest = std::max(widest, display_width(test::without_escapes(line)));
            }
            CHECK(widest <= look.columns);
            CHECK((look.color != ColorDepth::kNone || !test::contains(out, "\x1b")));
            const bool ascii =
                look.style == TerminalStyle::kAscii || look.style == TerminalStyle::kMask;
            CHECK((!ascii || std::all_of(out.begin(), out.end(), [](char c) { return c > 0; })));
          }
        }
      }
    }
  }
}

TEST_CASE(
    "bars_page: the largest of many tokens in the order of the text, and the sum of the rest") {
  std::vector<float> weights(100, 0.0f);
  std::vector<std::string> labels;
  labels.reserve(weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    labels.push_back(fmt::format("w{}", i));
    weights[i] = i < 80 ? 0.001f : 0.0f;
  }
  weights[70] = 0.5f;
  weights[3] = 0.25f;
  Heatmap focus;
  focus.panels = {{"", test::matrix_over(weights, 1, 100),
                   [](std::size_t, std::size_t token) { return token < 80; }}};
  focus.query_labels = {"L0H0"};
  focus.key_labels = labels;
  const TerminalOptions look{TerminalStyle::kAscii, ColorDepth::kNone, 80};
  const std::string out = drawn(focus, {79, 0, false}, look);
  CHECK(out.find(" 3 w3 ") < out.find("70 w70 "));
  CHECK(test::contains(out, "70 w70    50.0% ####"));
  CHECK(test::contains(out, "60 others  6.0%\n"));  // 80 - 20 of 0.001 each
  CHECK(test::contains(out, "20 masked tokens left out   others: all together\n"));
  CHECK(test::contains(drawn(focus, {79, 0, true}, look), "60 others  0.1%\n"));
}

TEST_CASE("bars_page: scores are numbers, with bars to both sides of one zero line") {
  const std::vector<float> scores = {8.0f, -4.0f, 0.0f, 74.01f};
  Heatmap focus;
  focus.panels = {{"", test::matrix_over(scores, 1, 4),
                   [](std::size_t, std::size_t token) { return token < 3; }}};
  focus.query_labels = {"L0H0"};
  focus.key_labels = {"a", "b", "c", "d"};
  const BarsSubject subject = {2, 0, false, PatternKind::kScores};
  // Labels take 4 of 28 columns, numbers 5 and a space: 18 are left, one of them the line. From -5
  // to 10 it comes after a third of 17, 6; then 11 columns are 10 and 8 is 9; 4 is 4.
  const auto lines =
      test::screen_lines(drawn(focus, subject, {TerminalStyle::kAscii, ColorDepth::kNone, 28}));
  CHECK(test::contains(lines.at(1), "8.00       |#########"));
  CHECK(test::contains(lines.at(2), "-4.00   ####|"));
  CHECK(test::contains(lines.at(3), "0.00       |"));
  CHECK(test::contains(lines.at(4), "   ."));
  const std::string all = drawn(focus, subject, {TerminalStyle::kBlocks, ColorDepth::kNone, 28});
  CHECK(test::contains(all, "bars from -5 to 10"));
  CHECK_FALSE(test::contains(all, "%"));
  CHECK(test::contains(all, "-4.00  ▐████│"));
}

TEST_CASE("bars_page: no line of scores is wider than the terminal, for any signs") {
  constexpr std::size_t kTokens = 12;
  for (const float shift : {-9.0f, -4.0f, 0.0f, 5000.0f}) {
    std::vector<float> scores;
    for (std::size_t i = 0; i < 6 * kTokens; ++i) {
      scores.push_back(static_cast<float>(i % 7) + shift);
    }
    Heatmap focus;
    focus.panels = {{"", test::matrix_over(scores, 6, kTokens)}};
    focus.query_labels = {"L0H0", "L0H1", "L0H2", "L0H3", "L0H4", "L0H5"};
    focus.key_labels.assign(kTokens, "token");
    for (const std::size_t columns : {20U, 27U, 40U, 80U, 200U}) {
      for (const TerminalStyle style : {TerminalStyle::kAscii, TerminalStyle::kBlocks}) {
        CAPTURE(shift);
        CAPTURE(columns);
        const std::string out =
            drawn(focus, {2, 0, false, PatternKind::kScaled}, {style, ColorDepth::kNone, columns});
        for (const std::string& line : test::screen_lines(out)) {
          CHECK(display_width(line) <= columns);
        }
      }
    }
  }
}

TEST_CASE("bars_page: for the other scores the largest is given, not a sum") {
  std::vector<float> scores(50, -2.0f);
  for (std::size_t i = 0; i < 20; ++i) {
    scores[i] = 30.0f;
  }
  scores[40] = -1.5f;
  Heatmap focus;
  focus.panels = {{"", test::matrix_over(scores, 1, 50)}};
  focus.query_labels = {"L0H0"};
  focus.key_labels.assign(50, "w");
  const std::string out = drawn(focus, {0, 0, false, PatternKind::kMasked},
                                {TerminalStyle::kAscii, ColorDepth::kNone, 80});
  CHECK(test::contains(out, "30 others -1.50\n"));
  CHECK(test::contains(out, "full bar = 50   others: the largest of one\n"));
}

TEST_CASE("bars_page: twelve heads stay legible in 80 columns") {
  const test::SampleHeatmap picture(6, 12);
  const Heatmap focus = focus_heatmap(picture.heatmap, {5, false}, 6, 6);
  const auto lines = test::screen_lines(
      drawn(focus, {5, 0, false}, {TerminalStyle::kBlocks, ColorDepth::kNone, 80}));
  CHECK(lines.size() < 30);
  CHECK(std::count_if(lines.begin(), lines.end(),
                      [](const std::string& line) { return test::contains(line, "L0H"); }) == 2);
}

TEST_CASE("bars_page: a long label is shortened once, not for each of many heads") {
  Small small;
  small.whole.panels.resize(10'000, small.whole.panels.front());
  small.whole.key_labels[1] = std::string(1'000'000, 'a') + "é";
  const Heatmap focus = focus_heatmap(small.whole, {1, false}, 3, 3);
  const test::Stopwatch watch;
  CHECK(bars_page(focus, {1}, {}).lines.size() > 1'000);
  CHECK(watch.is_in_time());
}

}  // namespace attnviz
