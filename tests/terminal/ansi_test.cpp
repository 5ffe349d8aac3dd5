#include "attnviz/terminal/page/ansi.h"

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

}  // namespace attnviz
