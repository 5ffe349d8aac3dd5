#include "attnviz/picture/layout/figure_style.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "attnviz/color/colormap.h"
#include "attnviz/core/error.h"
#include "attnviz/picture/layout/figure_labels.h"

namespace attnviz {
namespace {

// Relative luminance of WCAG 2.1.
double wcag_luminance(Rgb color) {
  const auto linear = [](std::uint8_t channel) {
    const double share = channel / 255.0;
    return share <= 0.04045 ? share / 12.92 : std::pow((share + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(color.r) + 0.7152 * linear(color.g) + 0.0722 * linear(color.b);
}

// Contrast ratio of WCAG 2.1.
double contrast(Rgb a, Rgb b) {
  const double x = wcag_luminance(a) + 0.05;
  const double y = wcag_luminance(b) + 0.05;
  return x > y ? x / y : y / x;
}

}  // namespace

TEST_CASE("FigureStyle: lengths grow with the resolution and never vanish") {
  FigureStyle style;
  CHECK(style.pixels(7) == 7);
  style.dpi = 192;
  CHECK(style.pixels(7) == 14);
  CHECK(style.pixels(0) == 0);
  style.dpi = 144;
  CHECK(style.pixels(10) == 15);
  style.dpi = 30;
  CHECK(style.pixels(1) == 1);
}

TEST_CASE("FigureStyle: sizes and resolutions outside of their range are usage errors") {
  check(FigureStyle{});
  FigureStyle style;
  style.dpi = 29;
  CHECK_THROWS_WITH_AS(check(style), "picture: expected a resolution of 30 to 1200 dpi, found 29",
                       Error);
  style.dpi = 1200;
  check(style);
  style.cell = 1001;
  CHECK_THROWS_WITH_AS(check(style), "picture: expected cells of 1 to 1000 pixels, found 1001",
                       Error);
}

TEST_CASE("kThemes: by name, with a suggestion for a typo") {
  CHECK(parse_choice("theme", "light", kThemes) == FigureTheme::kLight);
  CHECK(parse_choice("theme", "dark", kThemes) == FigureTheme::kDark);
  CHECK(word_for(kThemes, FigureTheme::kDark) == "dark");
  CHECK_THROWS_WITH_AS(parse_choice("theme", "drak", kThemes),
                       "theme: expected light, dark, found \"drak\" (did you mean \"dark\"?)",
                       Error);
}

TEST_CASE("theme_colors: text and notes can be read on the background (WCAG AA: 4.5)") {
  for (const FigureTheme theme : {FigureTheme::kLight, FigureTheme::kDark}) {
    const ThemeColors& colors = theme_colors(theme);
    CHECK(contrast(colors.text, colors.background) > 10.0);
    CHECK(contrast(colors.note, colors.background) > 4.5);
    CHECK(contrast(colors.outline, colors.background) > 2.0);
    CHECK(contrast(colors.hatch, colors.masked) > 1.3);
  }
}

TEST_CASE("Length: 85 mm and 7 in in whole pixels of a resolution, pixels in any") {
  CHECK(Length{85.0, LengthUnit::kMillimetres}.pixels(300) == 1004);  // 1003.94
  CHECK(Length{85.0, LengthUnit::kMillimetres}.pixels(96) == 321);    // 321.26
  CHECK(Length{25.4, LengthUnit::kMillimetres}.pixels(72) == 72);
  CHECK(Length{7.0, LengthUnit::kInches}.pixels(300) == 2100);
  CHECK(Length{3.5, LengthUnit::kInches}.pixels(97) == 340);  // 339.5
  CHECK(Length{1200.0, LengthUnit::kPixels}.pixels(300) == 1200);
  CHECK(Length{0.01, LengthUnit::kMillimetres}.pixels(30) == 1);
  CHECK(written({85.0, LengthUnit::kMillimetres}) == "85mm");
  CHECK(written({3.25, LengthUnit::kInches}) == "3.25in");
  CHECK(FigureStyle{}.width_pixels() == 0);
}

TEST_CASE("FigureStyle: widths of 0, or larger than any picture, are usage errors") {
  FigureStyle style;
  for (const double number : {0.0, -1.0, 65537.0}) {
    style.width = Length{number, LengthUnit::kPixels};
    CHECK_THROWS_WITH_AS(check(style), doctest::Contains("width: expected at most 65536 pixels"),
                         Error);
  }
  style.width = Length{220.0, LengthUnit::kInches};
  check(style);
  style.dpi = 300;  // 66,000 pixels
  CHECK_THROWS_WITH_AS(check(style), doctest::Contains("found 220in at 300 dpi"), Error);
}

TEST_CASE("check_fits: the error gives the smallest width in the requested unit, rounded up") {
  FigureStyle style;
  style.dpi = 300;
  const auto error = [&style](const Length& width, int pixels) {
    style.width = width;
    try {
      check_fits(pixels, style);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const Length millimetres = {60.0, LengthUnit::kMillimetres};  // 708.66 pixels
  CHECK(error(millimetres, 709).empty());
  CHECK(error(millimetres, 710) ==  // 60.11 mm
        "width: 60mm is too narrow for this picture, which needs at least 60.2mm");
  CHECK(error({2.0, LengthUnit::kInches}, 709).ends_with(" at least 2.37in"));  // 2.3633
  CHECK(error({2.0, LengthUnit::kInches}, 750).ends_with(" at least 2.5in"));
  CHECK(error({708.0, LengthUnit::kPixels}, 709).ends_with(" at least 709px"));
  style.width.reset();
  check_fits(1'000'000, style);  // no width was requested
}

TEST_CASE("ink_on: numbers have a contrast of at least 4.5 on every colour of every map") {
  for (const std::string_view name : colormap_names()) {
    const Colormap colormap(name);
    for (int i = 0; i < 256; ++i) {
      const Rgb fill = colormap((static_cast<float>(i) + 0.5f) / 256.0f);
      CAPTURE(name);
      CAPTURE(i);
      CHECK(contrast(ink_on(fill), fill) >= 4.5);
    }
  }
}

}  // namespace attnviz
