#include "attnviz/color/color_scale.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

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

TEST_CASE("ColorScale: a value can be told from its position, and the ends are the ends") {
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

TEST_CASE("ColorScale: a logarithmic range may be wider than a float's own numbers") {
  // 1e-40 to 1: log10 goes from -40 to 0, and 0.5 lies log10(2) below the end.
  const ColorScale small = scale_of(ScaleKind::kLog, 1e-40f, 1);
  CHECK(small.position(1) == 1.0f);
  CHECK(small.position(0.5f) == doctest::Approx(1.0 - std::log10(2.0) / 40.0).epsilon(1e-5));
  // From 1e-30 to 3e38 there are 68.477 decades, of which 1 is behind 30.
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

}  // namespace attnviz
