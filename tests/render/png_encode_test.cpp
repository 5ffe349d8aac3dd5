#include "attnviz/render/png_encode.h"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

#include "attnviz/core/error.h"
#include "render/decoded_png.h"

namespace attnviz {
namespace {

struct Size {
  std::size_t width;
  std::size_t height;
};

std::vector<std::uint8_t> noise(Size size) {
  std::vector<std::uint8_t> rgb(3 * size.width * size.height);
  std::uint32_t state = 7;
  for (std::uint8_t& byte : rgb) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<std::uint8_t>(state >> 24);
  }
  return rgb;
}

}  // namespace

TEST_CASE("encode_png: an independent decoder gets the same pixels back") {
  for (const Size size : {Size{1, 1}, Size{1, 7}, Size{13, 1}, Size{31, 17}, Size{640, 3}}) {
    CAPTURE(size.width);
    CAPTURE(size.height);
    const std::vector<std::uint8_t> rgb = noise(size);
    const std::string bytes = encode_png(rgb, size.width, size.height);
    const test::DecodedPng image = test::decode_png(bytes);
    CHECK(image.width == static_cast<int>(size.width));
    CHECK(image.height == static_cast<int>(size.height));
    CHECK(image.channels == 3);
    CHECK(image.rgb == rgb);
    CHECK(test::has_sound_chunks(bytes));
  }
}

TEST_CASE("encode_png: few colours get a palette, and decode to the same pixels") {
  std::vector<std::uint8_t> rgb = noise({40, 30});
  for (std::uint8_t& byte : rgb) {
    byte = byte < 128 ? 10 : 200;  // eight colours
  }
  const std::string bytes = encode_png(rgb, 40, 30);
  CHECK(bytes.substr(24, 2) == std::string("\x08\x03"));  // bit depth, colour type
  CHECK(bytes.find("PLTE") == 37);
  CHECK(test::has_sound_chunks(bytes));
  CHECK(test::decode_png(bytes).rgb == rgb);
}

TEST_CASE("encode_png: a flat picture packs into little") {
  const std::vector<std::uint8_t> white(std::size_t{3} * 1000 * 1000, 255);
  CHECK(encode_png(white, 1000, 1000).size() < 20'000);
}

TEST_CASE("encode_png: the same pixels give the same bytes, from several threads too") {
  const std::vector<std::uint8_t> rgb = noise({64, 64});
  const std::string expected = encode_png(rgb, 64, 64);
  std::vector<std::string> results(4);
  std::vector<std::thread> threads;
  threads.reserve(results.size());
  for (std::string& result : results) {
    threads.emplace_back([&rgb, &result] { result = encode_png(rgb, 64, 64); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const std::string& result : results) {
    CHECK(result == expected);
  }
}

TEST_CASE("encode_png: impossible sizes are errors that name them") {
  const std::vector<std::uint8_t> rgb(12);
  CHECK_THROWS_WITH_AS(encode_png(rgb, 0, 2), "png: a picture of 0 x 2 pixels cannot be written",
                       Error);
  CHECK_THROWS_WITH_AS(encode_png(rgb, 100'000, 100'000),
                       "png: a picture of 100000 x 100000 pixels cannot be written", Error);
  CHECK_THROWS_WITH_AS(encode_png(rgb, 3, 2), "png: expected 18 bytes for 3 x 2 pixels, found 12",
                       Error);
}

}  // namespace attnviz
