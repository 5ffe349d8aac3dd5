#include "attnviz/terminal/page/terminal_palette.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace attnviz {
namespace {

// L* of CIE 1976, which was not used to make the palettes.
double cielab_lightness(Rgb color) {
  const auto linear = [](std::uint8_t channel) {
    const double c = channel / 255.0;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  const double y = 0.2126 * linear(color.r) + 0.7152 * linear(color.g) + 0.0722 * linear(color.b);
  return y > 216.0 / 24389.0 ? 116.0 * std::cbrt(y) - 16.0 : y * 24389.0 / 27.0;
}

double contrast(Rgb a, Rgb b) {
  const double light = std::max(luminance(a), luminance(b)) + 0.05;
  const double dark = std::min(luminance(a), luminance(b)) + 0.05;
  return light / dark;
}

// Colours 16 to 255 as documented by xterm.
Rgb xterm_color(int index) {
  if (index >= 232) {
    const auto gray = static_cast<std::uint8_t>(8 + 10 * (index - 232));
    return {gray, gray, gray};
  }
  constexpr std::uint8_t kLevels[] = {0, 95, 135, 175, 215, 255};
  const int i = index - 16;
  return {kLevels[i / 36], kLevels[i / 6 % 6], kLevels[i % 6]};
}

// The different colours from t = 0 to t = 1.
std::vector<PaletteColor> steps(const Colormap& colormap, ColorDepth depth) {
  const TerminalPalette palette(colormap, depth);
  std::vector<PaletteColor> colors;
  for (int i = 0; i <= 400; ++i) {
    const PaletteColor color = palette.color(static_cast<float>(i) / 400.0f);
    if (colors.empty() || !(colors.back() == color)) {
      colors.push_back(color);
    }
  }
  return colors;
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const std::string_view name : colormap_names()) {
    names.emplace_back(name);
    names.push_back(std::string(name) + "_r");
  }
  return names;
}

// Strictly monotonic; diverging maps up to the middle and down again.
void check_order(const std::vector<double>& lightness, bool diverging) {
  const std::size_t n = lightness.size();
  if (!diverging) {
    const double direction = lightness.back() > lightness.front() ? 1.0 : -1.0;
    for (std::size_t i = 1; i < n; ++i) {
      CAPTURE(i);
      CHECK(direction * (lightness[i] - lightness[i - 1]) > 0.0);
    }
    return;
  }
  REQUIRE(n % 2 == 1);
  for (std::size_t i = 1; i <= n / 2; ++i) {
    CAPTURE(i);
    CHECK(lightness[i] > lightness[i - 1]);
    CHECK(lightness[n - 1 - i] > lightness[n - i]);
  }
}

// The 16 colours with foreground codes 30 to 37 and 90 to 97, as shown by common programs.
struct Scheme {
  const char* name;
  Rgb colors[16];
};

constexpr Scheme kSchemes[] = {{"xterm",
                                {{0, 0, 0},
                                 {205, 0, 0},
                                 {0, 205, 0},
                                 {205, 205, 0},
                                 {0, 0, 238},
                                 {205, 0, 205},
                                 {0, 205, 205},
                                 {229, 229, 229},
                                 {127, 127, 127},
                                 {255, 0, 0},
                                 {0, 255, 0},
                                 {255, 255, 0},
                                 {92, 92, 255},
                                 {255, 0, 255},
                                 {0, 255, 255},
                                 {255, 255, 255}}},
                               {"VGA",
                                {{0, 0, 0},
                                 {170, 0, 0},
                                 {0, 170, 0},
                                 {170, 85, 0},
                                 {0, 0, 170},
                                 {170, 0, 170},
                                 {0, 170, 170},
                                 {170, 170, 170},
                                 {85, 85, 85},
                                 {255, 85, 85},
                                 {85, 255, 85},
                                 {255, 255, 85},
                                 {85, 85, 255},
                                 {255, 85, 255},
                                 {85, 255, 255},
                                 {255, 255, 255}}},
                               {"Windows",
                                {{12, 12, 12},
                                 {197, 15, 31},
                                 {19, 161, 14},
                                 {193, 156, 0},
                                 {0, 55, 218},
                                 {136, 23, 152},
                                 {58, 150, 221},
                                 {204, 204, 204},
                                 {118, 118, 118},
                                 {231, 72, 86},
                                 {22, 198, 12},
                                 {249, 241, 165},
                                 {59, 120, 255},
                                 {180, 0, 158},
                                 {97, 214, 214},
                                 {242, 242, 242}}},
                               {"Tango",
                                {{0, 0, 0},
                                 {204, 0, 0},
                                 {78, 154, 6},
                                 {196, 160, 0},
                                 {52, 101, 164},
                                 {117, 80, 123},
                                 {6, 152, 154},
                                 {211, 215, 207},
                                 {85, 87, 83},
                                 {239, 41, 41},
                                 {138, 226, 52},
                                 {252, 233, 79},
                                 {114, 159, 207},
                                 {173, 127, 168},
                                 {52, 226, 226},
                                 {238, 238, 236}}}};

Rgb scheme_color(const Scheme& scheme, int background) {
  return scheme.colors[background < 100 ? background - 40 : background - 100 + 8];
}

}  // namespace

TEST_CASE("TerminalPalette: true colour is the colour map") {
  const TerminalPalette palette(Colormap(), ColorDepth::kTrueColor);
  CHECK(palette.color(0.0f).rgb == Rgb{68, 1, 84});
  CHECK(palette.color(1.0f).rgb == Rgb{253, 231, 37});
}

TEST_CASE("TerminalPalette: 256 colours keep every map's order of lightness, near its colours") {
  for (const std::string& name : all_names()) {
    CAPTURE(name);
    const Colormap colormap(name);
    const std::vector<PaletteColor> colors = steps(colormap, ColorDepth::k256);
    CHECK(colors.size() >= 8);
    std::vector<double> lightness;
    for (std::size_t i = 0; i < colors.size(); ++i) {
      const Rgb shown = xterm_color(colors[i].index);
      CHECK(colors[i].rgb == shown);
      const Rgb wanted =
          colormap((static_cast<float>(i) + 0.5f) / static_cast<float>(colors.size()));
      lightness.push_back(cielab_lightness(shown));
      CHECK(std::abs(lightness.back() - cielab_lightness(wanted)) < 20.0);
    }
    check_order(lightness, colormap.diverging());
  }
}

TEST_CASE("TerminalPalette: 16 colours keep every map's order of lightness on common palettes") {
  for (const std::string& name : all_names()) {
    CAPTURE(name);
    const Colormap colormap(name);
    const std::vector<PaletteColor> colors = steps(colormap, ColorDepth::k16);
    CHECK(colors.size() >= 4);
    for (const Scheme& scheme : kSchemes) {
      CAPTURE(std::string(scheme.name));
      std::vector<double> lightness;
      lightness.reserve(colors.size());
      for (const PaletteColor& color : colors) {
        lightness.push_back(cielab_lightness(scheme_color(scheme, color.index)));
      }
      check_order(lightness, colormap.diverging());
    }
  }
}

TEST_CASE("TerminalPalette: reversed maps are the same colours from the other end") {
  for (const ColorDepth depth : {ColorDepth::k16, ColorDepth::k256}) {
    for (const std::string_view name : colormap_names()) {
      CAPTURE(name);
      std::vector<PaletteColor> reversed = steps(Colormap(std::string(name) + "_r"), depth);
      std::reverse(reversed.begin(), reversed.end());
      CHECK(reversed == steps(Colormap(name), depth));
    }
  }
}

TEST_CASE("TerminalPalette: 16 colours go from blue to bright yellow and clamp") {
  const TerminalPalette palette(Colormap(), ColorDepth::k16);
  CHECK(palette.color(0.0f).index == 44);
  CHECK(palette.color(-3.0f).index == 44);
  CHECK(palette.color(0.3f).index == 46);
  CHECK(palette.color(7.0f).index == 103);
}

TEST_CASE("TerminalPalette: NaN has its own colour") {
  for (const ColorDepth depth : {ColorDepth::k16, ColorDepth::k256, ColorDepth::kTrueColor}) {
    for (const std::string& name : all_names()) {
      CAPTURE(name);
      const Colormap colormap(name);
      const PaletteColor nan =
          TerminalPalette(colormap, depth).color(std::numeric_limits<float>::quiet_NaN());
      const std::vector<PaletteColor> colors = steps(colormap, depth);
      CHECK(std::find(colors.begin(), colors.end(), nan) == colors.end());
    }
  }
}

TEST_CASE("TerminalPalette: inks are legible on black and on white") {
  constexpr Rgb kBlack{0, 0, 0};
  constexpr Rgb kWhite{255, 255, 255};
  for (const std::string& name : all_names()) {
    CAPTURE(name);
    const TerminalPalette true_color(Colormap(name), ColorDepth::kTrueColor);
    const TerminalPalette colors_256(Colormap(name), ColorDepth::k256);
    for (int i = 0; i <= 50; ++i) {
      CAPTURE(i);
      const float t = static_cast<float>(i) / 50.0f;
      const Rgb cube = xterm_color(colors_256.ink(t).index);
      CHECK(contrast(cube, kBlack) >= 3.0);
      CHECK(contrast(cube, kWhite) >= 3.0);
      const Rgb exact = true_color.ink(t).rgb;
      CHECK(contrast(exact, kBlack) >= 3.0);
      CHECK(contrast(exact, kWhite) >= 3.0);
    }
  }
}

}  // namespace attnviz
