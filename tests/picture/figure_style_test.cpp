#include "attnviz/picture/layout/figure_style.h"

#include <doctest/doctest.h>

#include "attnviz/color/colormap.h"
#include "attnviz/core/error.h"

namespace attnviz {
namespace {

// Contrast ratio of WCAG 2.1.
double contrast(Rgb a, Rgb b) {
  const double x = luminance(a) + 0.05;
  const double y = luminance(b) + 0.05;
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

TEST_CASE("kThemes: by name, with a suggestion for a slip") {
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

}  // namespace attnviz
