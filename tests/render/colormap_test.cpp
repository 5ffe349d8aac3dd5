#include "attnviz/render/colormap.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace attnviz {
namespace {

double luminance(Rgb color) {
  const auto linear = [](std::uint8_t channel) {
    const double c = channel / 255.0;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(color.r) + 0.7152 * linear(color.g) + 0.0722 * linear(color.b);
}

// L* of CIE 1976, which the map is not made with.
double cielab_lightness(Rgb color) {
  const double y = luminance(color);
  return y > 216.0 / 24389.0 ? 116.0 * std::cbrt(y) - 16.0 : y * 24389.0 / 27.0;
}

Rgb step(int i) {
  return colormap(static_cast<float>(i) / 255.0f);
}

}  // namespace

TEST_CASE("colormap: lightness grows with every one of 256 steps, and about evenly") {
  for (int i = 1; i < 256; ++i) {
    CAPTURE(i);
    const double rise = cielab_lightness(step(i)) - cielab_lightness(step(i - 1));
    CHECK(rise > 0.0);
    CHECK(rise < 0.8);  // the whole range over 255 steps is about 0.3 each
  }
  CHECK(cielab_lightness(step(0)) < 20.0);
  CHECK(cielab_lightness(step(255)) > 85.0);
}

TEST_CASE("colormap: the ends and the middle are viridis") {
  CHECK(colormap(0.0f) == Rgb{0x44, 0x01, 0x54});
  CHECK(colormap(1.0f) == Rgb{0xFD, 0xE7, 0x25});
  const Rgb middle = colormap(0.5f);
  CHECK(std::abs(middle.r - 0x21) <= 2);
  CHECK(std::abs(middle.g - 0x91) <= 2);
  CHECK(std::abs(middle.b - 0x8C) <= 2);
}

TEST_CASE("colormap: values outside the scale get its ends") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  CHECK(colormap(-0.1f) == colormap(0.0f));
  CHECK(colormap(-kInfinity) == colormap(0.0f));
  CHECK(colormap(1.1f) == colormap(1.0f));
  CHECK(colormap(kInfinity) == colormap(1.0f));
}

TEST_CASE("colormap: NaN has a colour that no value has") {
  CHECK(colormap(std::numeric_limits<float>::quiet_NaN()) == kNanColor);
  for (int i = 0; i < 256; ++i) {
    CHECK(step(i) != kNanColor);
  }
}

TEST_CASE("dark_text_on: text over every colour of the map has a contrast of at least 4.5") {
  for (int i = 0; i < 256; ++i) {
    CAPTURE(i);
    const double y = luminance(step(i));
    const double contrast = dark_text_on(step(i)) ? (y + 0.05) / 0.05 : 1.05 / (y + 0.05);
    CHECK(contrast >= 4.5);
  }
  CHECK(dark_text_on({255, 255, 255}));
  CHECK_FALSE(dark_text_on({0, 0, 0}));
}

}  // namespace attnviz
