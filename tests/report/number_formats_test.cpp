#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

#include "attnviz/report/words/number_formats.h"

namespace attnviz {

namespace {

std::vector<std::string> texts(const std::vector<float>& values) {
  const NumberGroup group(values);
  std::vector<std::string> out;
  out.reserve(values.size());
  for (const float value : values) {
    out.push_back(group.text(value));
  }
  return out;
}

using Strings = std::vector<std::string>;

}  // namespace

TEST_CASE("numbers of a group have the fewest decimals that represent all of them, at most four") {
  CHECK(texts({0, 6, -1}) == Strings{"0", "6", "-1"});
  CHECK(texts({0.43f, 0.15f, 0.89f}) == Strings{"0.43", "0.15", "0.89"});
  CHECK(texts({1, 0.5f}) == Strings{"1.0", "0.5"});
  CHECK(texts({1.0f / 3.0f, 2}) == Strings{"0.3333", "2.0000"});
  CHECK(texts({0.29611194f}) == Strings{"0.2961"});
}

TEST_CASE("large numbers have fewer decimals, very large and very small groups an exponent") {
  CHECK(texts({1234.56789f}) == Strings{"1234.568"});
  CHECK(texts({-123456.789f}) == Strings{"-123456.8"});
  CHECK(texts({1.5e9f, 0}) == Strings{"1.500e+09", "0"});
  CHECK(texts({2.5e-5f, -1e-6f}) == Strings{"2.500e-05", "-1.000e-06"});
  CHECK(texts({2.5e-5f, 1.0f}) == Strings{"0.0000", "1.0000"});
}

TEST_CASE("a number that rounds to zero has no sign") {
  CHECK(texts({-0.00001f, 1.23456f}) == Strings{"0.0000", "1.2346"});
  CHECK(texts({-0.0f}) == Strings{"0"});
}

TEST_CASE("numbers that are not finite are named and do not affect the decimals") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  CHECK(texts({1.5f, -kInfinity, std::numeric_limits<float>::quiet_NaN()}) ==
        Strings{"1.5", "-inf", "nan"});
}

TEST_CASE("the width of a group is that of its widest number") {
  CHECK(NumberGroup(std::vector<float>{1.5f, -10.25f}).width() == 6);
  CHECK(NumberGroup(std::vector<float>{1}).width() == 1);
  CHECK(NumberGroup().width() == 1);
  CHECK(NumberGroup(std::vector<float>{-std::numeric_limits<float>::infinity()}).width() == 4);
}

}  // namespace attnviz
