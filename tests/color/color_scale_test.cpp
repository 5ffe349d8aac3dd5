#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "attnviz/color/colormap.h"
#include "attnviz/core/error.h"

namespace attnviz {

namespace {

ColorScale scale_of(ScaleKind kind, float low, float high) {
  ColorScale scale;
  scale.kind = kind;
  scale.low = low;
  scale.high = high;
  return scale;
}

float value_at(const ColorScale& scale, float position) {
  switch (scale.kind) {
    case ScaleKind::kSqrt:
      return scale.low + position * position * (scale.high - scale.low);
    case ScaleKind::kLog:
      return scale.low * std::pow(scale.high / scale.low, position);
    default:
      return scale.low + position * (scale.high - scale.low);
  }
}

constexpr ScaleKind kKinds[] = {ScaleKind::kLinear, ScaleKind::kSqrt, ScaleKind::kLog,
                                ScaleKind::kRowMax};

}  // namespace

TEST_CASE("ColorScale: positions worked out by hand") {
  CHECK(scale_of(ScaleKind::kLinear, -1, 3).position(0) == 0.25f);
  CHECK(scale_of(ScaleKind::kSqrt, 0, 1).position(0.25f) == 0.5f);
  CHECK(scale_of(ScaleKind::kSqrt, 1, 5).position(2) == 0.5f);
  CHECK(scale_of(ScaleKind::kLog, 0.001f, 1).position(0.1f) == doctest::Approx(2.0 / 3.0));
  CHECK(scale_of(ScaleKind::kLog, 0.001f, 1).position(0) == 0.0f);  // not minus infinity
  CHECK(scale_of(ScaleKind::kRowMax, 0, 1).position(0.75f) == 0.75f);
}

TEST_CASE("ColorScale: a value can be recovered from its position, and the ends are exact") {
  for (const ScaleKind kind : kKinds) {
    const ColorScale scale = scale_of(kind, 0.01f, 2);
    CAPTURE(word_for(kScales, kind));
    CHECK(scale.position(0.01f) == doctest::Approx(0.0));
    CHECK(scale.position(2) == doctest::Approx(1.0));
    for (const float value : {0.01f, 0.02f, 0.5f, 1.7f}) {
      CHECK(value_at(scale, scale.position(value)) == doctest::Approx(value));
    }
    CHECK(std::isnan(scale.position(std::numeric_limits<float>::quiet_NaN())));
    CHECK(scale.color(std::numeric_limits<float>::quiet_NaN()) == kNanColor);
  }
}

TEST_CASE("ColorScale: a logarithmic range may be wider than that of normal floats") {
  // 1e-40 to 1: log10 goes from -40 to 0, and 0.5 lies log10(2) below the end.
  const ColorScale small = scale_of(ScaleKind::kLog, 1e-40f, 1);
  CHECK(small.position(1) == 1.0f);
  CHECK(small.position(0.5f) == doctest::Approx(1.0 - std::log10(2.0) / 40.0).epsilon(1e-5));
  // From 1e-30 to 3e38 there are 68.477 decades; 1 comes after 30 of them.
  const ColorScale wide = scale_of(ScaleKind::kLog, 1e-30f, 3e38f);
  CHECK(wide.position(1) == doctest::Approx(30.0 / 68.47712).epsilon(1e-5));
}

TEST_CASE("check: scales without a range, and logarithms of zero, are refused") {
  CHECK_NOTHROW(check(scale_of(ScaleKind::kLinear, -1, 1)));
  CHECK_THROWS_AS(check(scale_of(ScaleKind::kLinear, 1, 1)), Error);
  CHECK_THROWS_AS(check(scale_of(ScaleKind::kLinear, 2, 1)), Error);
  CHECK_THROWS_AS(check(scale_of(ScaleKind::kLinear, 0, std::numeric_limits<float>::infinity())),
                  Error);
  CHECK_THROWS_AS(check(scale_of(ScaleKind::kLog, 0, 1)), Error);
  CHECK_NOTHROW(check(scale_of(ScaleKind::kLog, 1e-6f, 1)));
}

TEST_CASE("kScales: every name reads back, another is refused with the closest one") {
  for (const ScaleKind kind : kKinds) {
    CHECK(parse_choice("scale", word_for(kScales, kind), kScales) == kind);
  }
  CHECK_THROWS_WITH_AS(parse_choice("scale", "rowmax", kScales),
                       doctest::Contains("did you mean \"row-max\""), Error);
}

namespace {

using Labels = std::vector<std::string>;

Labels labels(float low, float high, std::size_t most, ScaleKind kind = ScaleKind::kLinear) {
  Labels result;
  ColorScale scale;
  scale.low = low;
  scale.high = high;
  scale.kind = kind;
  for (const ColorTick& tick : color_ticks(scale, most)) {
    result.push_back(tick.label);
  }
  return result;
}

}  // namespace

TEST_CASE("color_ticks: both ends and round numbers between them") {
  CHECK(labels(0, 1, 6) == Labels{"0", "0.2", "0.4", "0.6", "0.8", "1"});
  CHECK(labels(0, 1, 11).size() == 11);
  CHECK(labels(0, 1, 4) == Labels{"0", "0.5", "1"});
  CHECK(labels(-3, 3, 7) == Labels{"-3", "-2", "-1", "0", "1", "2", "3"});
  CHECK(labels(0, 0.004f, 5) == Labels{"0", "0.001", "0.002", "0.003", "0.004"});
  CHECK(labels(0, 25000, 6) == Labels{"0", "5000", "1e+04", "1.5e+04", "2e+04", "2.5e+04"});
}

TEST_CASE("color_ticks: no round number crowds an end that is not round") {
  CHECK(labels(0, 0.83f, 6) == Labels{"0", "0.2", "0.4", "0.6", "0.83"});
  CHECK(labels(0.19f, 1, 6) == Labels{"0.19", "0.4", "0.6", "0.8", "1"});
}

TEST_CASE("color_ticks: logarithmic scales get powers of ten, then fives and twos where they fit") {
  CHECK(labels(0.001f, 1, 4, ScaleKind::kLog) == Labels{"0.001", "0.01", "0.1", "1"});
  CHECK(labels(0.1f, 10, 4, ScaleKind::kLog) == Labels{"0.1", "1", "10"});
  CHECK(labels(0.1f, 1, 9, ScaleKind::kLog) == Labels{"0.1", "0.2", "0.5", "1"});
  // Room for only two of the three twos: none is shown.
  CHECK(labels(0.001f, 1, 9, ScaleKind::kLog) ==
        Labels{"0.001", "0.005", "0.01", "0.05", "0.1", "0.5", "1"});
}

TEST_CASE("color_ticks: square-root scales get round values at their positions, not crowded") {
  // Positions: 0.01 at 0.1, 0.1 at 0.32, 0.5 at 0.71.
  CHECK(labels(0, 1, 6, ScaleKind::kSqrt) == Labels{"0", "0.1", "0.5", "1"});
}

TEST_CASE("color_ticks: no more than asked for, in rising order, ends exact") {
  for (const float high : {1e-6f, 0.037f, 0.99f, 1.0f, 7.3f, 123456.0f}) {
    for (const std::size_t most : {2u, 3u, 5u, 12u}) {
      CAPTURE(high);
      CAPTURE(most);
      ColorScale scale;
      scale.low = -high / 3;
      scale.high = high;
      const std::vector<ColorTick> ticks = color_ticks(scale, most);
      CHECK(ticks.size() >= 2);
      CHECK(ticks.size() <= most);
      CHECK(ticks.front().position == 0.0);
      CHECK(ticks.back().position == 1.0);
      for (std::size_t i = 1; i < ticks.size(); ++i) {
        CHECK(ticks[i - 1].position < ticks[i].position);
      }
    }
  }
}

TEST_CASE("end_labels: ends exceeded by values say that they include these, too") {
  ColorScale scale;
  scale.low = 0.2f;
  scale.high = 0.5f;
  const auto labels_of = [&scale](std::initializer_list<float> values, bool is_ascii = false) {
    OpenEnds open;
    for (const float value : values) {
      open.take(scale, value);
    }
    const EndLabels ends = end_labels(scale, open, is_ascii);
    return Labels{ends.low, ends.high};
  };
  CHECK(labels_of({}) == Labels{"0.2", "0.5"});
  CHECK(labels_of({0.2f, 0.5f, 0.500001f, 0.199999f}) == Labels{"0.2", "0.5"});
  CHECK(labels_of({std::numeric_limits<float>::quiet_NaN()}) == Labels{"0.2", "0.5"});
  CHECK(labels_of({0.87f, 0.3f}) == Labels{"0.2", "≥ 0.5"});
  CHECK(labels_of({0.0f, 0.3f}) == Labels{"≤ 0.2", "0.5"});
  CHECK(labels_of({0.0f, 1.0f}, true) == Labels{"<= 0.2", ">= 0.5"});
  scale.kind = ScaleKind::kLog;  // where values small compared with the range are not small
  scale.low = 1e-6f;
  CHECK(labels_of({2e-7f}) == Labels{"≤ 1e-06", "0.5"});
  CHECK(labels_of({1e-6f, 0.5f}) == Labels{"1e-06", "0.5"});
  const std::vector<ColorTick> ticks = color_ticks(scale, 2, {true, true});
  CHECK(ticks.front().label == "≤ 1e-06");
  CHECK(ticks.back().label == "≥ 0.5");
}

TEST_CASE("cell_numbers: two decimals for probabilities, fewer for larger numbers") {
  const CellNumbers weights = cell_numbers(0, 1);
  CHECK(weights.columns == 4);
  CHECK(weights.format(0.4602f) == "0.46");
  CHECK(weights.format(1.0f) == "1.00");
  CHECK(weights.format(-0.001f) == "0");
  CHECK(weights.format(0.0049f) == "0");
  CHECK(weights.format(0.0051f) == "0.01");
  const CellNumbers scores = cell_numbers(-12.5f, 40);
  CHECK(scores.columns == 5);
  CHECK(scores.format(-3.25f) == "-3.2");
  CHECK(cell_numbers(0, 1500).format(12.7f) == "13");
  CHECK(weights.format(std::numeric_limits<float>::quiet_NaN()) == "nan");
}

TEST_CASE("cell_numbers: narrow ranges have enough decimals to separate their numbers") {
  CHECK(cell_numbers(0.5f, 0.504f).format(0.502f) == "0.5020");
  CHECK(cell_numbers(0, 0.0077f).format(0.0021f) == "0.0021");
  CHECK(cell_numbers(-0.02f, 0.02f).format(0.0012f) == "0.001");
  CHECK(cell_numbers(0, 1e-9f).decimals == 6);
  CHECK(cell_numbers(0.25f, 0.25f).decimals == 2);
}

TEST_CASE("round_step: the smallest round number that is at least the number") {
  const std::pair<double, double> cases[] = {
      {1.0, 1.0}, {0.9, 1.0},  {0.5, 0.5},   {0.21, 0.5},    {0.2, 0.2},   {0.018, 0.02},
      {1.5, 2.0}, {0.11, 0.2}, {0.05, 0.05}, {0.001, 0.001}, {6e5, 1e6},   {0.0011, 0.002},
      {3.0, 5.0}, {1e3, 1e3},  {7e-9, 1e-8}, {0.3, 0.5},     {51.0, 100.0}};
  for (const auto& number_and_step : cases) {
    CAPTURE(number_and_step.first);
    CHECK(round_step(number_and_step.first) == doctest::Approx(number_and_step.second));
  }
}

TEST_CASE("round_step: a float's rounding error does not lead to a larger step") {
  for (const float number : {0.1f, 0.2f, 0.5f, 0.01f, 0.02f, 0.05f}) {
    CHECK(round_step(number) == doctest::Approx(number));
  }
}

TEST_CASE("round_step: without values a scale goes to 1") {
  CHECK(round_step(0.0) == 1.0);
  CHECK(round_step(-2.0) == 1.0);
  CHECK(round_step(std::numeric_limits<double>::infinity()) == 1.0);
  CHECK(round_step(std::numeric_limits<double>::quiet_NaN()) == 1.0);
}

}  // namespace attnviz
