#include "attnviz/render/ansi.h"

#include <doctest/doctest.h>

#include <string>

namespace attnviz {

TEST_CASE("AnsiLine: a coloured run ends in a reset, a following one starts from nothing") {
  AnsiLine line;
  line.put("a");
  line.put("b", "41");
  line.put("c", "41");
  line.put("d", "42");
  line.put("e");
  CHECK(line.finish() == "a\x1b[41mbc\x1b[0;42md\x1b[0me");
  line.put("f", "41");
  CHECK(line.finish() == "\x1b[41mf\x1b[0m");
}

TEST_CASE("AnsiLine: plain spaces at the end are dropped, coloured ones stay") {
  AnsiLine line;
  line.put("a  ");
  CHECK(line.finish() == "a");
  line.put("   ");
  CHECK(line.finish().empty());
  line.put("  ", "41");
  CHECK(line.finish() == "\x1b[41m  \x1b[0m");
}

TEST_CASE("terminal_color: true colour is the colour map, with text that contrasts") {
  const TerminalColor dark = terminal_color(Colormap(), 0.0f, ColorDepth::kTrueColor);
  CHECK(dark.background == "48;2;68;1;84");
  CHECK(dark.foreground == "38;2;68;1;84");
  CHECK(dark.text_on_it == "38;5;231");
  const TerminalColor bright = terminal_color(Colormap(), 1.0f, ColorDepth::kTrueColor);
  CHECK(bright.background == "48;2;253;231;37");
  CHECK(bright.text_on_it == "38;5;16");
}

TEST_CASE("terminal_color: 256 colours grow lighter from violet to yellow") {
  const auto luminance = [](int index) {  // of colour 16 + 36 r + 6 g + b of the cube, about
    const auto level = [](int step) { return step == 0 ? 0.0 : (55.0 + 40.0 * step) / 255.0; };
    const double r = level((index - 16) / 36);
    const double g = level((index - 16) / 6 % 6);
    const double b = level((index - 16) % 6);
    return 0.2126 * r * r + 0.7152 * g * g + 0.0722 * b * b;
  };
  double darkest_left = 0.0;
  for (const float t : {0.0f, 0.2f, 0.3f, 0.4f, 0.6f, 0.7f, 0.8f, 1.0f}) {
    CAPTURE(t);
    const std::string background = terminal_color(Colormap(), t, ColorDepth::k256).background;
    REQUIRE(background.starts_with("48;5;"));
    const double light = luminance(std::stoi(background.substr(5)));
    CHECK(light > darkest_left);
    darkest_left = light;
  }
  CHECK(terminal_color(Colormap(), 0.0f, ColorDepth::k256).text_on_it == "38;5;231");
  CHECK(terminal_color(Colormap(), 1.0f, ColorDepth::k256).text_on_it == "38;5;16");
}

TEST_CASE("terminal_color: 16 colours go from blue to bright yellow and clamp") {
  CHECK(terminal_color(Colormap(), 0.0f, ColorDepth::k16).background == "44");
  CHECK(terminal_color(Colormap(), -3.0f, ColorDepth::k16).background == "44");
  CHECK(terminal_color(Colormap(), 0.5f, ColorDepth::k16).background == "46");
  CHECK(terminal_color(Colormap(), 0.5f, ColorDepth::k16).foreground == "36");
  CHECK(terminal_color(Colormap(), 7.0f, ColorDepth::k16).background == "103");
  CHECK(terminal_color(Colormap(), 7.0f, ColorDepth::k16).foreground == "93");
}

}  // namespace attnviz
