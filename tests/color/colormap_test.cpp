#include "attnviz/color/colormap.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
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

// L* of CIE 1976, which was not used to make the maps.
double cielab_lightness(Rgb color) {
  const double y = wcag_luminance(color);
  return y > 216.0 / 24389.0 ? 116.0 * std::cbrt(y) - 16.0 : y * 24389.0 / 27.0;
}

Rgb entry(const Colormap& colormap, int i) {
  return colormap((static_cast<float>(i) + 0.5f) / 256.0f);
}

std::uint32_t packed(Rgb color) {
  return std::uint32_t{color.r} << 16 | std::uint32_t{color.g} << 8 | color.b;
}

// From matplotlib's tables, by tests/reference/color/make.py.
struct Published {
  std::string_view name;
  std::uint32_t at_64;
  std::uint32_t at_128;
  std::uint32_t checksum;  // FNV-1a of all 256 colours
};
constexpr Published kPublished[] = {{"viridis", 0x3B528B, 0x21918C, 0xFD894E06},
                                    {"magma", 0x51127C, 0xB73779, 0xA896C143},
                                    {"inferno", 0x57106E, 0xBC3754, 0xB915FBFC},
                                    {"plasma", 0x7E03A8, 0xCC4778, 0x84967C4E},
                                    {"cividis", 0x434E6C, 0x7D7C78, 0x3BB2BED3}};

}  // namespace

TEST_CASE("Colormap: the published maps have matplotlib's colours, all 256, reversed too") {
  for (const Published& map : kPublished) {
    CAPTURE(map.name);
    const Colormap colormap(map.name);
    const Colormap reversed(std::string(map.name) + "_r");
    std::uint32_t checksum = 0x811C9DC5;
    for (int i = 0; i < 256; ++i) {
      const Rgb color = entry(colormap, i);
      checksum = (checksum ^ packed(color)) * 0x01000193;
      CHECK(colormap(static_cast<float>(i) / 256.0f) == color);  // the part's lower end
      CHECK(reversed(static_cast<float>(255 - i) / 256.0f) == color);
    }
    CHECK(packed(colormap(0.25f)) == map.at_64);
    CHECK(packed(colormap(0.5f)) == map.at_128);
    CHECK(checksum == map.checksum);
  }
}

TEST_CASE("Colormap: lightness of sequential maps changes monotonically, about evenly") {
  for (const std::string_view name : colormap_names()) {
    const Colormap colormap(name);
    if (colormap.diverging()) {
      continue;
    }
    CAPTURE(name);
    const double whole =
        cielab_lightness(entry(colormap, 255)) - cielab_lightness(entry(colormap, 0));
    const double direction = whole > 0.0 ? 1.0 : -1.0;
    CHECK(std::abs(whole) > 60.0);
    for (int i = 1; i < 256; ++i) {
      CAPTURE(i);
      const double change = direction * (cielab_lightness(entry(colormap, i)) -
                                         cielab_lightness(entry(colormap, i - 1)));
      CHECK(change > -0.04);  // the effect of rounding to 8 bits on viridis
      CHECK(change < 3.0 * std::abs(whole) / 255.0);
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
    for (int i = 1; i < 256; ++i) {
      CAPTURE(i);
      const double rise =
          cielab_lightness(entry(colormap, i)) - cielab_lightness(entry(colormap, i - 1));
      CHECK((i < 128 ? rise > 0.0 : i > 128 ? rise < 0.0 : std::abs(rise) < 1.0));
    }
    const Rgb middle = colormap(0.5f);
    CHECK(std::abs(middle.r - middle.g) <= 3);  // no hue of its own
    CHECK(std::abs(middle.g - middle.b) <= 3);
    CHECK(cielab_lightness(middle) > 90.0);
    CHECK(std::abs(cielab_lightness(entry(colormap, 0)) - cielab_lightness(entry(colormap, 255))) <
          4.0);
  }
  CHECK(n_diverging == 2);
}

TEST_CASE("Colormap: _r reverses, an unknown name is refused with the closest one") {
  for (const std::string_view name : colormap_names()) {
    const Colormap forward(name);
    const Colormap backward(std::string(name) + "_r");
    CHECK(forward(0.0f) == backward(1.0f));
    CHECK(forward(0.2501f) == backward(0.7499f));
  }
  CHECK_THROWS_WITH_AS(Colormap("virdis"), doctest::Contains("did you mean \"viridis\""), Error);
  CHECK_THROWS_AS(Colormap(""), Error);
  CHECK_THROWS_AS(Colormap("_r"), Error);
}

TEST_CASE("Colormap: values outside the scale get the colours of its ends") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  CHECK(Colormap()(-0.1f) == Colormap()(0.0f));
  CHECK(Colormap()(-kInfinity) == Colormap()(0.0f));
  CHECK(Colormap()(1.1f) == Colormap()(1.0f));
  CHECK(Colormap()(kInfinity) == Colormap()(1.0f));
}

TEST_CASE("Colormap: NaN has a colour that no value has") {
  CHECK(Colormap()(std::numeric_limits<float>::quiet_NaN()) == kNanColor);
  for (int i = 0; i < 256; ++i) {
    CHECK(entry(Colormap(), i) != kNanColor);
  }
}

TEST_CASE("dark_text_on: text over every colour of the maps has a contrast of at least 4.5") {
  for (const std::string_view name : colormap_names()) {
    for (int i = 0; i < 256; ++i) {
      CAPTURE(name);
      CAPTURE(i);
      const Rgb color = entry(Colormap(name), i);
      const double y = wcag_luminance(color);
      const double contrast = dark_text_on(color) ? (y + 0.05) / 0.05 : 1.05 / (y + 0.05);
      CHECK(contrast >= 4.5);
      CHECK(luminance(color) == doctest::Approx(y));
    }
  }
  CHECK(dark_text_on({255, 255, 255}));
  CHECK_FALSE(dark_text_on({0, 0, 0}));
}

TEST_CASE("Colormap::step_colors: a picture's colours are the map's own, at most one entry off") {
  for (const std::string_view name : {"viridis", "inferno_r", "blue-red"}) {
    CAPTURE(name);
    const Colormap colormap(name);
    const std::vector<Rgb> colors = colormap.step_colors();
    REQUIRE(colors.size() == Colormap::kSteps + 1);
    for (int i = -10; i <= 1010; ++i) {
      CAPTURE(i);
      const float t = static_cast<float>(i) / 1000.0f;
      REQUIRE(colormap.step(t) < Colormap::kSteps);
      const Rgb color = colors[colormap.step(t)];
      const float one_entry = 1.0f / 256.0f;
      CHECK(color == colormap.step_color(colormap.step(t)));
      CHECK((color == colormap(t) || color == colormap(t - one_entry) ||
             color == colormap(t + one_entry)));
    }
    CHECK(colors[colormap.step(0.0f)] == colormap(0.0f));
    CHECK(colors[colormap.step(1.0f)] == colormap(1.0f));
    CHECK(colors[colormap.step(std::numeric_limits<float>::quiet_NaN())] == kNanColor);
  }
}

}  // namespace attnviz
