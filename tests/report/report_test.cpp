#include "attnviz/report/reports/report.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/json.h"

namespace attnviz {
namespace {

struct Animal {
  std::string name;
  std::size_t legs = 0;
  std::optional<double> weight = {};
};

const std::vector<Animal> kAnimals = {{"cat, tabby", 4, 4.5}, {"bird", 2, {}}, {"snake", 0, 0.1}};

std::string tons(double kilograms) {
  return fmt::format("{:.4f} t", kilograms / 1000.0);
}

Table animals() {
  return TableOf(kAnimals)
      .column({.key = "name", .heading = "animal"}, &Animal::name)
      .data("legs", &Animal::legs)
      .column({.key = "weight", .heading = "weight", .format = tons, .is_optional = true},
              &Animal::weight)
      .column({.heading = "has legs"}, [](const Animal& one) { return one.legs > 0; })
      .take();
}

nlohmann::json json_of(const Report& report) {
  std::string text;
  write_report_json(report, [&text](std::string_view bytes) { text += bytes; });
  return nlohmann::json::parse(text);
}

std::string csv_of(const Report& report) {
  std::string text;
  write_report_csv(report, [&text](std::string_view bytes) { text += bytes; });
  return text;
}

}  // namespace

TEST_CASE("a table: programs get the columns with keys, readers those that are not for programs") {
  const Table table = animals();
  Report report{.schema = "test/1"};
  report.add("animals", records(table));
  const std::vector<std::size_t> some = {2, 0};
  report.add("some", records(table, &some));
  const nlohmann::json json = json_of(report);
  CHECK(json["schema"] == "test/1");
  CHECK(json["animals"] ==
        nlohmann::json::parse(R"([{"name": "cat, tabby", "legs": 4, "weight": 4.5},
                                  {"name": "bird", "legs": 2},
                                  {"name": "snake", "legs": 0, "weight": 0.1}])"));
  CHECK(json["some"][0]["name"] == "snake");
  CHECK(shown_text(table.columns[2], table.columns[2].cells[0]) == "0.0045 t");
  CHECK(shown_text(table.columns[2], table.columns[2].cells[1]) == "–");
  CHECK(shown_text(table.columns[3], table.columns[3].cells[2]) == "no");
}

TEST_CASE("bars: as long as a number's share, none for missing numbers or those rounded to 0") {
  const Column column{.format = tons, .bars = ColumnBars{.whole = 2000.0, .below_zero = true}};
  CHECK(bar_share(column, 500.0) == 0.25);
  CHECK(bar_share(column, -1000.0) == 0.5);
  CHECK(bar_share(column, 5000.0) == 1.0);
  CHECK(bar_share(column, 0.01) == 0.0);  // "0.0000 t"
  CHECK(bar_share(column, Datum()) == 0.0);
  CHECK(bar_share(column, std::nan("")) == 0.0);
  CHECK(has_colored_bar(column, -1.0));
  CHECK_FALSE(has_colored_bar(column, 1.0));
}

TEST_CASE("a table: the first rows are shown, and how many more there are") {
  Table table = animals();
  show_first(table, 2, "more animal");
  CHECK(shown_rows(table) == std::vector<std::size_t>{0, 1});
  CHECK(table.left_out == "1 more animal");
  Table all = animals();
  show_first(all, 3, "more animal");
  CHECK(shown_rows(all).size() == 3);
  CHECK(all.left_out.empty());
  show_first(all, 0, "more animal");
  CHECK(shown_rows(all).size() == 3);
}

TEST_CASE("CSV: the first table with keys, or the given numbers") {
  Report report;
  CHECK(csv_of(report).empty());
  report.draw(TableOf(kAnimals).column({.heading = "animal"}, &Animal::name).take());
  CHECK(csv_of(report).empty());
  report.draw(animals());
  CHECK(csv_of(report) == "name,legs,weight\n\"cat, tabby\",4,4.5\n\"bird\",2,\n\"snake\",0,0.1\n");
  report.numbers = TableOf(kAnimals).data("legs", &Animal::legs).take();
  CHECK(csv_of(report) == "legs\n4\n2\n0\n");
}

TEST_CASE("JSON: numbers with the digits of their type, null for missing ones, nested records") {
  Report report;
  report.add("float", 0.1f);
  report.add("double", 0.1);
  report.add("infinite", std::numeric_limits<double>::infinity());
  report.add("absent", std::optional<double>());
  report.add("below", -3);
  report.add("list", list_of(std::vector<int>{1, 2}, [](int one) { return 2 * one; }));
  report.add("record", Record{{"text", "a\x1b[0m"}, {"flag", true}});
  report.members.add_all({{"own", 1.5}})
      .add_if_any("zero", 0U)
      .add_if_any("empty", std::string())
      .add_if_any("nothing", list_of(std::vector<int>(), std::identity()))
      .add_if_any("some", std::string("x"));
  std::string text;
  write_report_json(report, [&text](std::string_view bytes) { text += bytes; });
  CHECK(text.find("\"float\": 0.1,") != std::string::npos);
  CHECK(text.find('\x1b') == std::string::npos);
  const nlohmann::json json = json_of(report);
  CHECK(json["infinite"].is_null());
  CHECK(json["absent"].is_null());
  CHECK(json["below"] == -3);
  CHECK(json["list"] == nlohmann::json::array({2, 4}));
  CHECK(json["record"]["flag"] == true);
  CHECK(json["own"] == 1.5);
  CHECK(!json.contains("zero"));
  CHECK(!json.contains("empty"));
  CHECK(!json.contains("nothing"));
  CHECK(json["some"] == "x");
}

TEST_CASE("rows by size: the largest first, equal ones in order") {
  const std::vector<double> sizes = {1.0, 3.0, 3.0, 0.0};
  const auto size = [&sizes](std::size_t i) { return sizes[i]; };
  CHECK(largest_rows(4, 0, size) == std::vector<std::size_t>{1, 2, 0, 3});
  CHECK(largest_rows(4, 2, size) == std::vector<std::size_t>{1, 2});
  CHECK(largest_rows(0, 2, size).empty());
  CHECK(largest_of({1, 2}, size) == 3.0);
  CHECK(largest_of({3}, size) == 1.0);
}

}  // namespace attnviz
