#include "attnviz/report/reports/report.h"

#include <doctest/doctest.h>

#include <optional>

namespace attnviz {

TEST_CASE("CSV: quotes are doubled, commas and lines stay, control characters are escaped") {
  CHECK(csv_text("") == "\"\"");
  CHECK(csv_text("a, \"b\"\nc") == "\"a, \"\"b\"\"\nc\"");
  CHECK(csv_text("\x1b[31m") == "\"\\x1B[31m\"");
}

TEST_CASE("CSV: a missing number is an empty cell") {
  CHECK(csv_number(0.5) == "0.5");
  CHECK(csv_number(std::nullopt).empty());
}

}  // namespace attnviz
