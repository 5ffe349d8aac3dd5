#include "attnviz/report/reports/reports.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/terminal/views.h"
#include "support/sample_heads.h"
#include "support/screen_text.h"

namespace attnviz {
namespace {

using Lines = std::vector<std::string>;

Lines drawn(const HeadsDocument& document, const HeadsTableChoice& choice,
            const TerminalOptions& options = test::kAscii80) {
  return test::screen_lines(
      to_ansi(report_page(heads_report(document, choice), options), options.color));
}

bool has_line(const Lines& lines, std::string_view start) {
  return std::ranges::any_of(lines,
                             [start](const std::string& line) { return line.starts_with(start); });
}

// On two probes: an induction head, one that is a sink and a previous-token head, one without a
// name.
HeadsDocument three_heads() {
  HeadsDocument document = test::heads_document(
      test::one_probe(),
      {{{0, 0}, {{Score::kPrevious, 0.5}, {Score::kSinkAlpha, 0.4}, {Score::kInduction, 0.1}}},
       {{0, 1}, {{Score::kPrevious, 0.125}, {Score::kInduction, 0.2}}},
       {{1, 0}, {{Score::kPrevious, 0.25}, {Score::kInduction, 1.0}}}});
  const std::vector<ScoreValues> second = {
      test::score_values(
          {{Score::kPrevious, 0.5}, {Score::kSinkAlpha, 0.6}, {Score::kInduction, 0.1}}),
      test::score_values({{Score::kPrevious, 0.125}, {Score::kInduction, 0.2}}),
      test::score_values({{Score::kPrevious, 0.25}, {Score::kInduction, 0.8}})};
  document.raw.add(second);
  document.uniform = test::score_values({{Score::kPrevious, 0.0625}, {Score::kInduction, 0.03125}});
  return document;
}

}  // namespace

TEST_CASE(
    "heads_report: identified heads with errors, the best where none is identified, a table") {
  const Lines lines = drawn(three_heads(), {});
  const Lines expected = {
      "heads: attention, 3 heads on 1 sequence (34 random tokens 3 times; seed 42)",
      "",
      "2.1, also written L2H1, is head 1 of layer 2, both counted from 0. Heads are",
      "named by average shares of their attention, 0 to 1; +-: standard error over the",
      "sequences; from: lowest score for the name; uniform: score of a head that",
      "spreads its attention evenly",
      "previous-token: looks at the previous token (from 0.4; uniform 0.062)",
      "  0.0  0.500 +- 0.000  ###############",
      "current-token: no head",
  };
  REQUIRE(lines.size() > expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(lines[i] == expected[i]);
  }
  CHECK(has_line(lines, "  1.0  0.900 +- 0.100  ###########################"));
  CHECK(has_line(lines, "  0.0  0.500 +- 0.100  ###############"));  // the sink
  const auto heading = std::ranges::find_if(
      lines, [](const std::string& line) { return line.starts_with("head "); });
  REQUIRE(lines.end() - heading == 5);
  CHECK(heading[1].starts_with("1.0      induction "));  // 3 times the threshold
  CHECK(heading[2].starts_with("0.0      previous-token, sink "));
  CHECK(heading[3].starts_with("0.1 "));
  CHECK(heading[4].starts_with("uniform "));
}

TEST_CASE("heads_report: if no head is identified one line says so, with the nearest") {
  const HeadsDocument document = test::heads_document(
      test::one_probe(), {{{0, 0}, {{Score::kPrevious, 0.1}, {Score::kSinkAlpha, 0.16}}},
                          {{3, 1}, {{Score::kPrevious, 0.16}, {Score::kInduction, 0.15}}}});
  const Lines lines = drawn(document, {});
  REQUIRE(lines.size() == 8);
  CHECK(lines[2] == "no head is identified; the closest is head 3.1, induction 0.150 (from 0.3)");
  CHECK(lines[3].empty());
  CHECK(lines[4].starts_with("head "));
  CHECK(drawn(test::heads_document(test::one_probe(), {{{0, 0}, {}}}), {})[2] ==
        "no head can be identified here");
}

TEST_CASE(
    "heads_report: names are next to their heads, regardless of how many columns are folded") {
  HeadsDocument document = three_heads();
  document.copying.emplace().scores.resize(3, 0.5);
  const Lines lines = drawn(document, {{}, {Score::kPrevious, Score::kSelf, Score::kBand}});
  CHECK(has_line(lines, "head     names                 previous  self"));
  CHECK(has_line(lines, "1.0      induction                0.250"));
  const Lines narrow = drawn(document, {}, {TerminalStyle::kAscii, ColorDepth::kNone, 40});
  CHECK(has_line(narrow, "head     names"));
}

TEST_CASE("heads_report: bars fill the room left on narrow screens, and stay proportional") {
  // Next to "  1.0  0.900 +- 0.100  " 17 of 40 columns are left: 0.9 takes 15 of them, and 0.5
  // takes 9.
  const Lines narrow = drawn(three_heads(), {}, {TerminalStyle::kAscii, ColorDepth::kNone, 40});
  CHECK(std::ranges::count(narrow, "  1.0  0.900 +- 0.100  " + std::string(15, '#')) == 1);
  CHECK(std::ranges::count(narrow, "  0.0  0.500 +- 0.000  " + std::string(9, '#')) == 1);
  const Lines none = drawn(three_heads(), {}, {TerminalStyle::kAscii, ColorDepth::kNone, 24});
  CHECK(std::ranges::count(none, "  1.0  0.900 +- 0.100") == 1);
}

TEST_CASE("heads_report: no names without a probe, scores of a corpus with their errors") {
  HeadsDocument document = three_heads();
  document.source = CorpusSource{2};
  const Lines lines = drawn(document, {{}, {Score::kInduction, Score::kDuplicate}, 0});
  CHECK(lines == Lines{"heads: attention, 3 heads on 2 texts", "",
                       "head          induction  duplicate", "0.0      0.100 +- 0.000          -",
                       "0.1      0.200 +- 0.000          -", "1.0      0.900 +- 0.100          -",
                       "uniform           0.031          -"});
}

TEST_CASE("heads_report: the first heads only, and how many more there are") {
  const Lines lines = drawn(three_heads(), {{Score::kPrevious, {}}, {Score::kPrevious}, 1});
  CHECK(lines.back() == ".. 2 more heads");
  CHECK(lines[lines.size() - 3].starts_with("0.0 "));
}

TEST_CASE("the map of many heads: rows and columns are numbered once") {
  std::vector<test::GivenHead> heads;
  for (std::size_t layer = 8; layer < 12; ++layer) {
    for (std::size_t head = 0; head < 40; ++head) {
      heads.push_back({{layer, head}, {{Score::kSelf, head == 7 ? 1.0 : 0.0}}});
    }
  }
  heads.back().scores.clear();
  const Heatmap map = heads_map(test::heads_document(CorpusSource{1}, heads), Score::kSelf);
  const Lines lines =
      test::screen_lines(to_ansi(heatmap_page(map, test::kAscii80), test::kAscii80.color));
  CHECK(has_line(lines, "    0    5    10"));
  CHECK(has_line(lines, "L8  .......@."));
  CHECK(has_line(lines, "L11 .......@."));
  CHECK_FALSE(has_line(lines, "keys:"));
  CHECK(std::ranges::any_of(lines, [](const std::string& line) {
    return test::contains(line, "blank = no score   row = layer   column = head");
  }));
}

TEST_CASE("heads_report: no line is too wide, also with several names") {
  HeadsDocument document = test::heads_document(test::one_probe(), {{{11, 10},
                                                                     {{Score::kPrevious, 1.0},
                                                                      {Score::kSelf, 1.0},
                                                                      {Score::kSinkAlpha, 1.0},
                                                                      {Score::kDuplicate, 1.0},
                                                                      {Score::kInduction, 1.0}}}});
  document.uniform = document.raw.means(0);
  for (const std::size_t columns : {20u, 40u, 80u, 200u}) {
    for (const std::string& line :
         drawn(document, {}, {TerminalStyle::kAscii, ColorDepth::kNone, columns})) {
      CAPTURE(line);
      CHECK(line.size() <= columns);
    }
  }
  // Names that no head has are reported with the nearest head.
  for (const std::string& line :
       drawn(three_heads(), {}, {TerminalStyle::kAscii, ColorDepth::kNone, 40})) {
    CAPTURE(line);
    CHECK(line.size() <= 40);
  }
}

}  // namespace attnviz
