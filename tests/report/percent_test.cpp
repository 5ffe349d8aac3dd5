#include "attnviz/report/words/number_formats.h"

#include <doctest/doctest.h>

namespace attnviz {

TEST_CASE("percentages never round to a misleading value") {
  CHECK(percentage(0.4602f) == "46 %");
  CHECK(percentage(0.031f) == "3.1 %");
  CHECK(percentage(0.0999f) == "10 %");
  CHECK(percentage(0.0004f) == "less than 0.1 %");
  CHECK(percentage(0.0f) == "0 %");
  CHECK(percentage(-0.0f) == "0 %");
  CHECK(percentage(0.9902f) == "99 %");
  CHECK(percentage(0.995f) == "99.5 %");
  CHECK(percentage(0.99999f) == "more than 99.9 %");
  CHECK(percentage(0.999999f) == "more than 99.9 %");
  CHECK(percentage(1.0f) == "100 %");
  CHECK(percentage(0.99999994f) == "100 %");
  CHECK(percentage(1.1111f) == "111 %");  // weights scaled up by dropout
}

TEST_CASE("percentages in columns never round to a misleading value") {
  CHECK(percent_cell(0.4651f, 0) == "47%");
  CHECK(percent_cell(0.4651f, 1) == "46.5%");
  CHECK(percent_cell(0.0f, 1) == "0.0%");
  CHECK(percent_cell(-0.0f, 0) == "0%");
  CHECK(percent_cell(0.004f, 0) == "<1%");
  CHECK(percent_cell(0.004f, 1) == "0.4%");
  CHECK(percent_cell(0.0004f, 1) == "<.1%");
  CHECK(percent_cell(0.998f, 0) == ">99%");
  CHECK(percent_cell(0.998f, 1) == "99.8%");
  CHECK(percent_cell(0.9996f, 1) == ">99.9%");
  CHECK(percent_cell(1.0f, 0) == "100%");
}

}  // namespace attnviz
