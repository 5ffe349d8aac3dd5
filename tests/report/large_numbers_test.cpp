#include "attnviz/report/words/number_formats.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

namespace attnviz {

TEST_CASE("digits are in groups of three") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1000) == "1,000");
  CHECK(grouped(1572864) == "1,572,864");
  CHECK(grouped(57982058496) == "57,982,058,496");
}

TEST_CASE("counts are rounded to two or three digits and a unit") {
  CHECK(rounded_count(512) == "512");
  CHECK(rounded_count(1000) == "1.0 K");
  CHECK(rounded_count(6291456) == "6.3 M");
  CHECK(rounded_count(603979776) == "604 M");
  CHECK(rounded_count(57982058496) == "58.0 B");
  CHECK(rounded_count(99949) == "99.9 K");
  CHECK(rounded_count(99951) == "100 K");
  CHECK(rounded_count(999499) == "999 K");
  CHECK(rounded_count(999501) == "1.0 M");
}

TEST_CASE("bytes are rounded in thousands") {
  CHECK(rounded_bytes(0) == "0 B");
  CHECK(rounded_bytes(999) == "999 B");
  CHECK(rounded_bytes(65536) == "65.5 kB");
  CHECK(rounded_bytes(68719476736) == "68.7 GB");
  CHECK(rounded_bytes(std::numeric_limits<std::uint64_t>::max()) == "18.4 EB");
}

}  // namespace attnviz
