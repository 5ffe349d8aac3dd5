#include "attnviz/color/colormap.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/error.h"

namespace attnviz {
namespace {

double wcag_luminance(Rgb color) {
  const auto linear = [](std::uint8_t channel) {
    const double c = channel / 255.0;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(color.r) + 0.7152 * linear(color.g) + 0.0722 * linear(color.b);
}

// L* of CIE 1976, which the map is not made with.
double cielab_lightness(Rgb color) {
  const double y = wcag_luminance(color);
  return y > 216.0 / 24389.0 ? 116.0 * std::cbrt(y) - 16.0 : y * 24389.0 / 27.0;
}

Rgb step(const Colormap& colormap, int i) {
  return colormap(static_cast<float>(i) / 191.0f);
}

}  // namespace

TEST_CASE(
    "Colormap: lightness of sequential maps changes with every one of 192 steps, about evenly") {
  for (const std::string_view name : colormap_names()) {
    const Colormap colormap(name);
    if (colormap.diverging()) {
      continue;
    }
    CAPTURE(name);
    const double whole =
        cielab_lightness(step(colormap, 191)) - cielab_lightness(step(colormap, 0));
    const double direction = whole > 0.0 ? 1.0 : -1.0;
    CHECK(std::abs(whole) > 60.0);
    for (int i = 1; i < 192; ++i) {
      CAPTURE(i);
      const double change = direction * (cielab_lightness(step(colormap, i)) -
                                         cielab_lightness(step(colormap, i - 1)));
      CHECK(change > 0.0);
      CHECK(change < 3.0 * std::abs(whole) / 191.0);
    }
  }
}

TEST_CASE("Colormap: diverging maps are lightest in the middle and fall strictly to equal ends") {
  int n_diverging = 0;
  for (const std::string_view name : colormap_names()) {
    const Colormap colormap(name);
    if (!colormap.diverging()) {
      continue;
    }
    ++n_diverging;
    CAPTURE(name);
    for (int i = 1; i < 192; ++i) {
      CAPTURE(i);
      const double rise =
          cielab_lightness(step(colormap, i)) - cielab_lightness(step(colormap, i - 1));
      CHECK((i < 96 ? rise > 0.0 : i > 96 ? rise < 0.0 : std::abs(rise) < 1.0));
    }
    const Rgb middle = colormap(0.5f);
    CHECK(std::abs(middle.r - middle.g) <= 3);  // no hue of its own
    CHECK(std::abs(middle.g - middle.b) <= 3);
    CHECK(cielab_lightness(middle) > 90.0);
    CHECK(std::abs(cielab_lightness(step(colormap, 0)) - cielab_lightness(step(colormap, 191))) <
          4.0);
  }
  CHECK(n_diverging == 2);
}

TEST_CASE("Colormap: _r reverses, an unknown name is refused with the closest one") {
  for (const std::string_view name : colormap_names()) {
    const Colormap forward(name);
    const Colormap backward(std::string(name) + "_r");
    CHECK(forward(0.0f) == backward(1.0f));
    CHECK(forward(0.25f) == backward(0.75f));
  }
  CHECK_THROWS_WITH_AS(Colormap("virdis"), doctest::Contains("did you mean \"viridis\""), Error);
  CHECK_THROWS_AS(Colormap(""), Error);
  CHECK_THROWS_AS(Colormap("_r"), Error);
}

TEST_CASE("Colormap: the ends and the middle are viridis") {
  CHECK(Colormap()(0.0f) == Rgb{0x44, 0x01, 0x54});
  CHECK(Colormap()(1.0f) == Rgb{0xFD, 0xE7, 0x25});
  const Rgb middle = Colormap()(0.5f);
  CHECK(std::abs(middle.r - 0x21) <= 2);
  CHECK(std::abs(middle.g - 0x91) <= 2);
  CHECK(std::abs(middle.b - 0x8C) <= 2);
}

TEST_CASE("Colormap: values outside the scale get its ends") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  CHECK(Colormap()(-0.1f) == Colormap()(0.0f));
  CHECK(Colormap()(-kInfinity) == Colormap()(0.0f));
  CHECK(Colormap()(1.1f) == Colormap()(1.0f));
  CHECK(Colormap()(kInfinity) == Colormap()(1.0f));
}

TEST_CASE("Colormap: NaN has a colour that no value has") {
  CHECK(Colormap()(std::numeric_limits<float>::quiet_NaN()) == kNanColor);
  for (int i = 0; i < 192; ++i) {
    CHECK(step(Colormap(), i) != kNanColor);
  }
}

TEST_CASE("dark_text_on: text over every colour of the maps has a contrast of at least 4.5") {
  for (const std::string_view name : colormap_names()) {
    for (int i = 0; i < 192; ++i) {
      CAPTURE(name);
      CAPTURE(i);
      const Rgb color = step(Colormap(name), i);
      const double y = wcag_luminance(color);
      const double contrast = dark_text_on(color) ? (y + 0.05) / 0.05 : 1.05 / (y + 0.05);
      CHECK(contrast >= 4.5);
      CHECK(luminance(color) == doctest::Approx(y));
    }
  }
  CHECK(dark_text_on({255, 255, 255}));
  CHECK_FALSE(dark_text_on({0, 0, 0}));
}

TEST_CASE("Colormap::step: the number of a value's colour among all of them, NaN's behind") {
  for (const std::string_view name : {"viridis", "blues_r", "blue-red"}) {
    const Colormap colormap(name);
    const std::vector<Rgb> colors = colormap.colors();
    REQUIRE(colors.size() == Colormap::kSteps + 1);
    for (int i = -10; i <= 1010; ++i) {
      const float t = static_cast<float>(i) / 1000.0f;
      REQUIRE(colormap.step(t) < Colormap::kSteps);
      REQUIRE(colors[colormap.step(t)] == colormap(t));
    }
    CHECK(colors[colormap.step(std::numeric_limits<float>::quiet_NaN())] == kNanColor);
  }
}

}  // namespace attnviz
