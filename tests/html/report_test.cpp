#include "attnviz/html/report.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "html/page_data.h"
#include "support/json.h"

namespace attnviz {
namespace {

std::string page_of(const ReportPage& report) {
  std::string page;
  write_report(report, [&page](std::string_view bytes) { page += bytes; });
  return page;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

TEST_CASE(
    "write_report: a screen's styles are data, its text is text, and the numbers are all there") {
  ReportPage report;
  report.title = "why <b>";
  Line line("a < b", kBold);
  line.put("␠cat", {.fill = PaletteColor{.rgb = {0xFF, 0xFF, 0x00}}});
  line.put("dog", {.ink = PaletteColor{.rgb = {1, 2, 3}}, .dim = true});
  line.put(" plain");
  report.screen.add(line);
  report.csv = "head,text\r\n0.0,\"</script>\"\r\n";
  const std::string page = page_of(report);
  CHECK(contains(page, "<title>why &lt;b&gt;</title>"));
  CHECK(contains(page, "<h1>why &lt;b&gt;</h1>"));
  CHECK(contains(page, "<span class=\"bold\">a &lt; b</span>"));
  // Black on yellow: as terminals have it where a fill has no ink.
  CHECK(contains(page, "<span data-ink=\"#000000\" data-fill=\"#ffff00\">␣cat</span>"));
  CHECK(contains(page, "<span class=\"dim\" data-ink=\"#010203\">dog</span> plain\n"));
  CHECK(!contains(page, "<img"));
  const auto data = nlohmann::json::parse(test::data_text(page));
  CHECK(data["schema"] == "attnviz.report/1");
  CHECK(data["csv"] == report.csv);
}

TEST_CASE("write_report: a picture for light pages and one for dark ones, as images") {
  ReportPage report;
  report.title = "map";
  report.picture = "<svg>light</svg>";
  report.dark_picture = "<svg>dark</svg>";
  report.picture_text = "the \"map\"";
  const std::string page = page_of(report);
  CHECK(contains(page, "srcset=\"data:image/svg+xml;base64,PHN2Zz5kYXJrPC9zdmc+\""));
  CHECK(contains(page,
                 "<img src=\"data:image/svg+xml;base64,PHN2Zz5saWdodDwvc3ZnPg==\" "
                 "alt=\"the &quot;map&quot;\">"));
}

}  // namespace attnviz
