#include "attnviz/html/blobs.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "html/page_data.h"
#include "support/naive.h"

namespace attnviz {
namespace {

using Bytes = std::vector<std::uint8_t>;

// Of a page with this one part.
Bytes unpacked(const auto& numbers) {
  Blobs blobs;
  REQUIRE(blobs.add(std::span(numbers)) == 0);
  return test::blob_bytes(blobs.texts().front());
}

}  // namespace

TEST_CASE("Blobs: parts are numbered in their order") {
  Blobs blobs;
  const std::vector<std::uint8_t> one = {1};
  const std::vector<std::uint8_t> two = {2, 2};
  CHECK(blobs.add(std::span(one)) == 0);
  CHECK(blobs.add(std::span(two)) == 1);
  REQUIRE(blobs.texts().size() == 2);
  CHECK(test::blob_bytes(blobs.texts()[0]) == one);
  CHECK(test::blob_bytes(blobs.texts()[1]) == two);
}

TEST_CASE("Blobs: bytes of any number come back") {
  for (const std::size_t size : {0U, 1U, 2U, 3U, 255U, 70'000U}) {
    CAPTURE(size);
    Bytes same(size, 7);
    CHECK(unpacked(same) == same);
    Bytes mixed;
    for (const float value : test::random_values(size, /*seed=*/size)) {
      mixed.push_back(static_cast<std::uint8_t>(128.0f * value + 128.0f));
    }
    CHECK(unpacked(mixed) == mixed);
  }
}

TEST_CASE("Blobs: what repeats takes little room") {
  Blobs blobs;
  const Bytes zeros(1'000'000);
  blobs.add(std::span(zeros));
  CHECK(blobs.texts().front().size() < 3000);
}

TEST_CASE("Blobs: of numbers of two bytes the lower ones come first") {
  const std::vector<std::uint16_t> numbers = {0x0000, 0x0102, 0xFFFE, 0x8000};
  CHECK(unpacked(numbers) == Bytes{0x00, 0x02, 0xFE, 0x00, 0x00, 0x01, 0xFF, 0x80});
}

TEST_CASE("Blobs: floats are IEEE 754 single precision, the lowest byte first") {
  const std::vector<float> numbers = {1.0f,
                                      -2.5f,
                                      0.1f,
                                      -0.0f,
                                      std::numeric_limits<float>::infinity(),
                                      std::numeric_limits<float>::denorm_min()};
  CHECK(unpacked(numbers) == Bytes{0x00, 0x00, 0x80, 0x3F, 0x00, 0x00, 0x20, 0xC0,
                                   0xCD, 0xCC, 0xCC, 0x3D, 0x00, 0x00, 0x00, 0x80,
                                   0x00, 0x00, 0x80, 0x7F, 0x01, 0x00, 0x00, 0x00});
  const std::vector<float> nan = {std::numeric_limits<float>::quiet_NaN()};
  CHECK(std::isnan(test::floats_of(unpacked(nan)).at(0)));
}

TEST_CASE("Blobs: colours are red, green, blue") {
  const std::vector<Rgb> colors = {{1, 2, 3}, {255, 0, 128}};
  CHECK(unpacked(colors) == Bytes{1, 2, 3, 255, 0, 128});
}

}  // namespace attnviz
