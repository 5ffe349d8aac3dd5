#include "attnviz/picture/raster/png_encode.h"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "picture/decoded_png.h"

namespace attnviz {

TEST_CASE("PngFacts: resolution and texts come after IHDR, and the pixels are unchanged") {
  const std::array<std::uint8_t, 12> rgb = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const std::string plain = encode_png(rgb, 2, 2);
  const std::string bytes = encode_png(
      rgb, 2, 2, {300, {{"Title", "naïve 猫"}, {"Empty", ""}, {"attnviz", "{\"a\": 1}"}}});
  CHECK(test::has_sound_chunks(bytes));
  const std::vector<test::PngChunk> chunks = test::chunks_of(bytes);
  REQUIRE(chunks.size() == test::chunks_of(plain).size() + 3);
  CHECK(chunks[0].type == "IHDR");
  CHECK(chunks[1].type == "pHYs");
  // 300 dots per inch are 11811.02 per metre: 0x2E23, twice, and the unit metre.
  CHECK(chunks[1].data == std::string("\0\0\x2E\x23\0\0\x2E\x23\x01", 9));
  CHECK(chunks[2].type == "iTXt");
  CHECK(chunks[2].data == std::string("Title\0\0\0\0\0naïve 猫", 20));
  CHECK(chunks[3].data == std::string("attnviz\0\0\0\0\0{\"a\": 1}", 20));
  CHECK(test::decode_png(bytes).rgb == std::vector<std::uint8_t>(rgb.begin(), rgb.end()));
}

TEST_CASE("PngFacts: without facts the file has only pixels") {
  const std::array<std::uint8_t, 3> rgb = {1, 2, 3};
  std::string types;
  for (const test::PngChunk& chunk : test::chunks_of(encode_png(rgb, 1, 1))) {
    types += chunk.type + " ";
  }
  CHECK(types == "IHDR IDAT IEND ");
}

}  // namespace attnviz
