#include "attnviz/picture/fonts/font_face.h"

#include <doctest/doctest.h>

#include <string>

#include "attnviz/core/error.h"
#include "attnviz/picture/fonts/font_data.h"

namespace attnviz {
namespace {

std::string embedded_bytes() {
  return {reinterpret_cast<const char*>(kFontData.data()), kFontData.size()};
}

void check(const std::string& bytes, unsigned face = 0) {
  check_font_file({"a.ttf", bytes, nullptr, face});
}

}  // namespace

TEST_CASE("check_font_file: accepts a font") {
  CHECK_NOTHROW(check(embedded_bytes()));
}

TEST_CASE("check_font_file: refuses files that are not fonts, and names the file") {
  CHECK_THROWS_WITH_AS(check("hello, this is a text and not a font"),
                       "a.ttf: expected a TrueType or OpenType font, found something else", Error);
  CHECK_THROWS_WITH_AS(
      check(""), "a.ttf: expected a TrueType or OpenType font, found 0 bytes of something else",
      Error);
  CHECK_THROWS_AS(check("wOF2 and more of it"), Error);
  CHECK_THROWS_AS(check("ttcf"), Error);
  CHECK_THROWS_AS(check(std::string("ttcf\0\2\0\0\0\0\0\1\xFF\xFF\xFF\xFF", 16)), Error);
  CHECK_THROWS_AS(check(std::string("\0\1\0\0\0\0\0\0\0\0\0\0", 12)), Error);  // no tables
}

TEST_CASE("check_font_file: refuses a font that is cut off anywhere") {
  const std::string whole = embedded_bytes();
  // Short of the last table's padding.
  for (std::size_t size = 0; size + 4 < whole.size(); size = size * 2 + 1) {
    CAPTURE(size);
    CHECK_THROWS_AS(check(whole.substr(0, size)), Error);
  }
  CHECK_THROWS_AS(check(whole.substr(0, whole.size() - 100)), Error);
}

}  // namespace attnviz
