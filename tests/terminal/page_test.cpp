#include "attnviz/terminal/page/page.h"

#include <doctest/doctest.h>

#include <string>

namespace attnviz {
namespace {

constexpr PaletteColor kRed{41, {205, 0, 0}};
constexpr PaletteColor kCyan{46, {0, 205, 205}};

std::string written(const Line& line, ColorDepth depth = ColorDepth::k16) {
  Page page;
  page.add(line);
  return to_ansi(page, depth);
}

}  // namespace

TEST_CASE("to_ansi: a styled run ends in a reset, the next one starts without a style") {
  Line line;
  line.put("a");
  line.put(" ", {.fill = kRed});
  line.put("  ", {.fill = kRed});
  line.put("d", {.ink = kCyan});
  line.put("e");
  CHECK(written(line) == "a\x1b[41m   \x1b[0;36md\x1b[0me\n");
  CHECK(written(Line("f", kBold)) == "\x1b[1mf\x1b[0m\n");
  CHECK(written(Line("f", kDim)) == "\x1b[2mf\x1b[0m\n");
}

TEST_CASE(
    "to_ansi: blank columns at the end are dropped; filled ones and a text's own spaces stay") {
  Line line("a ");
  line.put_padded("b", 4);
  line.space(2);
  CHECK(written(line) == "a b\n");
  CHECK(written(Line("a ")) == "a \n");
  CHECK(written(Line("   ")) == "\n");
  CHECK(written(Line("  ", {.fill = kRed})) == "\x1b[41m  \x1b[0m\n");
  line.put(" ", {.fill = kRed});
  line.space(3);
  CHECK(written(line) == "a b     \x1b[41m \x1b[0m\n");
  CHECK(written(line, ColorDepth::kNone) == "a b\n");
}

TEST_CASE("to_ansi: a colour is a code, an index or three numbers") {
  const PaletteColor purple{53, {95, 0, 95}};
  CHECK(written(Line("a", {.ink = kRed}), ColorDepth::k16) == "\x1b[31ma\x1b[0m\n");
  CHECK(written(Line("a", {.ink = purple}), ColorDepth::k256) == "\x1b[38;5;53ma\x1b[0m\n");
  CHECK(written(Line("a", {.ink = purple}), ColorDepth::kTrueColor) ==
        "\x1b[38;2;95;0;95ma\x1b[0m\n");
  CHECK(written(Line(" ", {.fill = purple}), ColorDepth::kTrueColor) ==
        "\x1b[48;2;95;0;95m \x1b[0m\n");
  CHECK(written(Line("▀", {.ink = kRed, .fill = kCyan})) == "\x1b[31;46m▀\x1b[0m\n");
}

TEST_CASE("to_ansi: text on a fill is black or white, whichever contrasts more") {
  const PaletteColor dark{53, {68, 1, 84}};
  const PaletteColor bright{220, {253, 231, 37}};
  CHECK(written(Line("1", {.fill = dark}), ColorDepth::k256) == "\x1b[48;5;53;38;5;231m1\x1b[0m\n");
  CHECK(written(Line("1", {.fill = bright}), ColorDepth::kTrueColor) ==
        "\x1b[48;2;253;231;37;38;5;16m1\x1b[0m\n");
  CHECK(written(Line("1", {.fill = kCyan})) == "\x1b[46;30m1\x1b[0m\n");
  CHECK(written(Line("1", {.fill = kRed})) == "\x1b[41;97m1\x1b[0m\n");
}

TEST_CASE("to_plain: no styles, and no blanks at the ends of lines") {
  Page page;
  page.add("heading", kBold);
  page.blank();
  Line line("a ");
  line.put_padded("猫", 4, {.fill = kRed});
  line.put("  ", {.fill = kRed});
  CHECK(line.width() == 8);
  page.add(line);
  CHECK(to_plain(page) == "heading\n\na 猫\n");
  CHECK(to_plain(page) == to_ansi(page, ColorDepth::kNone));
}

}  // namespace attnviz
