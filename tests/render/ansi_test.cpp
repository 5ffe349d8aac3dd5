#include "attnviz/render/ansi.h"

#include <doctest/doctest.h>

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
  const TerminalColor dark = terminal_color(0.0f, ColorDepth::kTrueColor);
  CHECK(dark.background == "48;2;68;1;84");
  CHECK(dark.foreground == "38;2;68;1;84");
  CHECK(dark.text_on_it == "38;5;231");
  const TerminalColor bright = terminal_color(1.0f, ColorDepth::kTrueColor);
  CHECK(bright.background == "48;2;253;231;37");
  CHECK(bright.text_on_it == "38;5;16");
}

TEST_CASE("terminal_color: 256 colours take the nearest of the cube") {
  // (68, 1, 84) is nearest to (95, 0, 95); (253, 231, 37) to (255, 215, 0): 16 + 36 r + 6 g + b.
  CHECK(terminal_color(0.0f, ColorDepth::k256).background == "48;5;53");
  CHECK(terminal_color(1.0f, ColorDepth::k256).foreground == "38;5;220");
}

TEST_CASE("terminal_color: 16 colours go from blue to bright yellow and clamp") {
  CHECK(terminal_color(0.0f, ColorDepth::k16).background == "44");
  CHECK(terminal_color(-3.0f, ColorDepth::k16).background == "44");
  CHECK(terminal_color(0.5f, ColorDepth::k16).background == "46");
  CHECK(terminal_color(0.5f, ColorDepth::k16).foreground == "36");
  CHECK(terminal_color(7.0f, ColorDepth::k16).background == "103");
  CHECK(terminal_color(7.0f, ColorDepth::k16).foreground == "93");
}

}  // namespace attnviz
