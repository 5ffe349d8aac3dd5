#include "attnviz/terminal/views.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "attnviz/core/utf8.h"
#include "support/screen_text.h"

namespace attnviz {
namespace {

using Lines = std::vector<std::string>;

Lines drawn(const Report& report, const TerminalOptions& options = test::kAscii80) {
  return test::screen_lines(to_ansi(report_page(report, options), options.color));
}

std::string whole(double value) {
  return fmt::format("{:.0f}", value);
}

Table words() {
  const std::vector<double> counts = {4.0, -2.0, 0.0};
  Table table;
  table.columns = {
      {.heading = "word", .are_tokens = true},
      {.heading = "n", .format = whole, .bars = ColumnBars{.whole = 4.0, .columns = 8}},
      {.key = "id", .for_programs = true},
      {.heading = "text", .fits_line = true}};
  table.columns[0].cells = {Datum(" a"), Datum("b"), Datum("c")};
  table.columns[1].cells = {Datum(4.0), Datum(-2.0), Datum(0.0)};
  table.columns[2].cells = {Datum(7U), Datum(8U), Datum(9U)};
  table.columns[3].cells = {Datum("x → y"), Datum("long " + std::string(100, 'z')), Datum()};
  return table;
}

}  // namespace

TEST_CASE("report page: title, notes, sentences, headings and rows in their order") {
  Report report{.title = "why: × and –", .notes = {"note"}};
  report.draw(Gap{});
  report.say("one");
  report.say("two", Emphasis::kQuiet, 2);
  report.draw(Paragraph{"name: what it is", Emphasis::kStrong, 0, "(from 0.4)"});
  report.draw(Heading{"part"});
  Table table = words();
  table.shown = {0, 2};
  table.left_out = "1 more word";
  table.extra_rows.push_back({{"sum", 2.0}, Emphasis::kStrong});
  report.draw(std::move(table));
  CHECK(drawn(report) == Lines{"why: x and -", "note", "", "one", "  two",
                               "name: what it is (from 0.4)", "", "part", "word  n            text",
                               "\\sa   4  ########  x -> y", "c     0            -", "sum   2",
                               ".. 1 more word"});
}

TEST_CASE("report page: a text too long for its line is cut, and bars take the available room") {
  Report report;
  report.draw(words());
  for (const std::size_t columns : {1U, 20U, 40U, 80U, 200U}) {
    for (const TerminalStyle style : {TerminalStyle::kAscii, TerminalStyle::kBlocks}) {
      for (const std::string& line : drawn(report, {style, ColorDepth::kNone, columns})) {
        CAPTURE(line);
        CHECK(display_width(line) <= std::max<std::size_t>(columns, 20));
        CHECK((style != TerminalStyle::kAscii || is_ascii(line)));
      }
    }
  }
  const Lines lines = drawn(report);
  CHECK(lines[2].starts_with("b     -2  ####      long zzz"));
  CHECK(lines[2].ends_with("zz.."));
  CHECK(lines[2].size() == 80);
}

TEST_CASE("report page: shaded text is bold without colours, or omitted if it needs them") {
  Report report;
  report.draw(Strip{.pieces = {{"One."},
                               {.text = "Two.", .share = 1.0f, .mark = "[1]"},
                               {.text = "!", .is_close = true},
                               {.text = "Three.", .lines_before = 2}}});
  CHECK(drawn(report) == Lines{"One. [1] Two.!", "", "Three."});
  Report colors;
  colors.draw(Strip{.pieces = {{"One."}}, .needs_color = true});
  CHECK(drawn(colors).empty());
  CHECK(to_plain(report_page(colors, {TerminalStyle::kBlocks, ColorDepth::kTrueColor, 80})) ==
        "One.\n");
}

TEST_CASE("report page: its text cannot reach a terminal as control codes") {
  Report report{.title = "a\x1b[31m", .notes = {"\x1b[0m"}};
  report.say("b\x1b]0;x\x07");
  report.draw(Heading{"\x9b"});
  Table table;
  table.columns = {{.heading = "\x1b", .cells = {Datum("\x1b[2J")}}};
  report.draw(std::move(table));
  report.draw(Strip{.pieces = {{"\x1b[1m"}}});
  for (const TerminalStyle style : {TerminalStyle::kAscii, TerminalStyle::kBlocks}) {
    const std::string page = to_plain(report_page(report, {style, ColorDepth::kNone, 80}));
    CHECK(page.find('\x1b') == std::string::npos);
    CHECK(page.find('\x07') == std::string::npos);
  }
}

}  // namespace attnviz
