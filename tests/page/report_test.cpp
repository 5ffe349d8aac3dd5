#include "attnviz/page/explorer.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "page/page_data.h"
#include "support/json.h"

namespace attnviz {
namespace {

std::string page_of(const Report& report) {
  std::string page;
  write_report_html(report, {}, [&page](std::string_view bytes) { page += bytes; });
  return page;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string one_decimal(double value) {
  return fmt::format("{:.1f} <", value);
}

}  // namespace

TEST_CASE("a report's page: prose becomes paragraphs, and its contents never become markup") {
  Report report{.title = "why <b>", .notes = {"a & b", "</main>"}};
  report.say("plain \x1b[31m");
  report.say("quiet", Emphasis::kQuiet);
  report.draw(Heading{"<h1>"});
  const std::string page = page_of(report);
  CHECK(contains(page, "<title>why &lt;b&gt;</title>"));
  CHECK(contains(page, "<h1>why &lt;b&gt;</h1>"));
  CHECK(contains(page, "<p class=\"notes\">a &amp; b<span>&lt;/main&gt;</span></p>"));
  CHECK(contains(page, "<p>plain "));
  CHECK(!contains(page, "\x1b"));
  CHECK(contains(page, "<p class=\"quiet\">quiet</p>"));
  CHECK(contains(page, "<h2>&lt;h1&gt;</h2>"));
  CHECK(!contains(page, "<pre"));
}

TEST_CASE("a report's page: tables show the visible rows, and the data hold all numbers") {
  Table table;
  table.columns = {
      {.key = "token", .heading = "token", .are_tokens = true},
      {.key = "score", .heading = "score", .format = one_decimal, .bars = ColumnBars{}},
      {.key = "id", .for_programs = true}};
  table.columns[0].cells = {Datum(" <s>"), Datum("b")};
  table.columns[1].cells = {Datum(0.25), Datum()};
  table.columns[2].cells = {Datum(7U), Datum(8U)};
  show_first(table, 1, "more token");
  table.extra_rows.push_back({{"sum", 0.5}, Emphasis::kStrong});
  Report report{.title = "t"};
  report.draw(std::move(table));
  const std::string page = page_of(report);
  CHECK(contains(page, "<th scope=\"col\" class=\"number\" colspan=\"2\">score</th>"));
  CHECK(contains(page,
                 "<tr><td>␣&lt;s&gt;</td><td class=\"number\" data-value=\"0.25\">0.2 &lt;</td>"
                 "<td class=\"bars\"><span class=\"bar\" data-bar=\"0.250\"></span></td></tr>"));
  CHECK(contains(page, "<tr class=\"strong\"><td>sum</td>"));
  CHECK(contains(page, "… 1 more token"));
  CHECK(!contains(page, "<td>b</td>"));
  const auto data = nlohmann::json::parse(test::data_text(page));
  CHECK(data["schema"] == "attnviz.report/1");
  CHECK(data["csv"] == "token,score,id\n\" <s>\",0.25,7\n\"b\",,8\n");
}

TEST_CASE("a report's page: shaded text has its colours as data, with legible text") {
  Report report{.title = "t"};
  report.draw(Strip{.pieces = {{"One."}, {.text = "Two.", .share = 1.0f, .mark = "[1]"}},
                    .colormap = Colormap("viridis")});
  const std::string page = page_of(report);
  const Rgb fill = Colormap("viridis")(1.0f);
  CHECK(contains(
      page, fmt::format("<p class=\"strip\">One. <b>[1]</b> <span "
                        "data-fill=\"#{:02x}{:02x}{:02x}\" data-ink=\"#000000\">Two.</span></p>",
                        fill.r, fill.g, fill.b)));
}

TEST_CASE("a report's page: one figure for light and one for dark mode, as images") {
  const auto values = std::make_shared<MatrixBuffer>(1, 1);
  Heatmap map;
  map.panels = {{.title = "", .values = std::as_const(*values).view()}};
  map.query_labels = map.key_labels = {"a"};
  map.storage = values;
  map.title = "the \"map\"";
  Report report{.title = "t"};
  report.draw(Figure{map, /*on_screen=*/false});
  const std::string page = page_of(report);
  CHECK(contains(
      page, "<source media=\"(prefers-color-scheme: dark)\" srcset=\"data:image/svg+xml;base64,"));
  CHECK(contains(page, "alt=\"the &quot;map&quot;\">"));
}

}  // namespace attnviz
