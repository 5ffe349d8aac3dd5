#include "attnviz/picture/raster/png_encode.h"

#include <doctest/doctest.h>
#include <libdeflate.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace attnviz {
namespace {

using Bytes = std::vector<std::uint8_t>;

// By an independent decompressor, which also checks the checksum; empty if the stream is invalid.
Bytes decompressed(const std::string& zlib, std::size_t size) {
  const std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> reader(
      libdeflate_alloc_decompressor(), &libdeflate_free_decompressor);
  Bytes data(size);
  const auto result = libdeflate_zlib_decompress(reader.get(), zlib.data(), zlib.size(),
                                                 data.data(), size, nullptr);
  return result == LIBDEFLATE_SUCCESS ? data : Bytes{};
}

// Undoes the filters "none" (0) and "up" (2) according to PNG's specification; empty if there are
// others.
Bytes unfiltered(const Bytes& rows, std::size_t row_bytes) {
  Bytes pixels;
  for (std::size_t begin = 0; begin < rows.size(); begin += 1 + row_bytes) {
    const std::uint8_t filter = rows[begin];
    if (filter != 0 && filter != 2) {
      return {};
    }
    for (std::size_t i = 0; i < row_bytes; ++i) {
      const bool has_above = filter == 2 && pixels.size() >= row_bytes;
      const std::uint8_t above = has_above ? pixels[pixels.size() - row_bytes] : std::uint8_t{0};
      pixels.push_back(static_cast<std::uint8_t>(rows[begin + 1 + i] + above));
    }
  }
  return pixels;
}

bool comes_back(const Bytes& pixels, std::size_t row_bytes) {
  const std::string zlib = compress_rows(pixels, row_bytes);
  const std::size_t height = pixels.size() / row_bytes;
  return unfiltered(decompressed(zlib, height * (1 + row_bytes)), row_bytes) == pixels;
}

// Uniformly distributed bytes below `most`.
Bytes noise(std::size_t size, unsigned most) {
  Bytes bytes(size);
  std::uint32_t state = 7;
  for (std::uint8_t& byte : bytes) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<std::uint8_t>((state >> 16) % most);
  }
  return bytes;
}

}  // namespace

TEST_CASE("compress_rows: pictures of any size are read back") {
  for (const std::size_t width : {1U, 2U, 3U, 7U, 300U, 33'000U, 600'000U}) {
    for (const std::size_t height : {1U, 2U, 9U}) {
      CAPTURE(width);
      CAPTURE(height);
      const std::size_t size = width * height;
      CHECK(comes_back(noise(size, 256), width));
      CHECK(comes_back(noise(size, 2), width));
      CHECK(comes_back(Bytes(size, 9), width));
    }
  }
}

TEST_CASE("compress_rows: runs of every length are read back, alone and in many blocks") {
  Bytes all;
  for (std::size_t length = 1; length < 1100; ++length) {
    Bytes pixels = {1, 2, 3};
    pixels.insert(pixels.end(), 3 * length, 7);
    pixels.insert(pixels.end(), {4, 5, 6});
    REQUIRE(comes_back(pixels, pixels.size()));
    all.insert(all.end(), pixels.begin(), pixels.end());
  }
  CHECK(comes_back(all, all.size()));
  CHECK(comes_back(all, 6));
}

TEST_CASE("compress_rows: repetitions are found as far back as deflate allows, and no further") {
  const Bytes piece = noise(1000, 256);
  const auto size_with = [&](std::size_t between) {
    Bytes pixels = piece;
    const Bytes other(between, 9);
    pixels.insert(pixels.end(), other.begin(), other.end());
    pixels.insert(pixels.end(), piece.begin(), piece.end());
    CHECK(comes_back(pixels, pixels.size()));
    return compress_rows(pixels, pixels.size()).size() - compress_rows(other, other.size()).size();
  };
  CHECK(size_with(31'768) < 1500);
  CHECK(size_with(31'776) > 1900);
}

TEST_CASE("compress_rows: rows that repeat the one above take a few bytes") {
  const Bytes row = noise(3000, 200);
  Bytes pixels;
  for (int y = 0; y < 500; ++y) {
    pixels.insert(pixels.end(), row.begin(), row.end());
  }
  CHECK(comes_back(pixels, row.size()));
  CHECK(compress_rows(pixels, row.size()).size() < 3200 + 500 * 24);
}

TEST_CASE("compress_rows: a smoothly changing pattern takes less than half of its pixels") {
  Bytes pixels;
  for (int y = 0; y < 500; ++y) {
    for (int x = 0; x < 500; ++x) {
      const double wave = std::sin(0.13 * y) * std::cos(0.17 * x) + std::sin(0.11 * (y + 2 * x));
      pixels.push_back(static_cast<std::uint8_t>(100.0 + 20.0 * wave));
    }
  }
  CHECK(comes_back(pixels, 500));
  CHECK(compress_rows(pixels, 500).size() < pixels.size() / 2);
}

TEST_CASE("compress_rows: a long run takes two bits for each 258 bytes") {
  const Bytes flat(258 * 8000, 0);
  CHECK(comes_back(flat, flat.size()));
  CHECK(compress_rows(flat, flat.size()).size() < 2300);
}

TEST_CASE("compress_rows: noise grows by a hundredth at most") {
  const Bytes pixels = noise(500'000, 256);
  CHECK(compress_rows(pixels, 1000).size() < pixels.size() + pixels.size() / 80);
}

TEST_CASE("compress_rows: the rarest possible symbols still get a code") {
  // Fibonacci numbers: the counts with the longest Huffman codes, here within one block.
  Bytes pixels;
  std::size_t count = 1;
  std::size_t before = 1;
  for (unsigned symbol = 1; symbol <= 17; ++symbol) {
    for (std::size_t i = 0; i < count; ++i) {
      pixels.push_back(static_cast<std::uint8_t>(symbol));
      pixels.insert(pixels.end(), 5, static_cast<std::uint8_t>(100));
    }
    count += std::exchange(before, count);
  }
  CHECK(comes_back(pixels, pixels.size()));
}

TEST_CASE("compress_rows: no pixels give an empty stream") {
  const std::string zlib = compress_rows({}, 1);
  CHECK(decompressed(zlib, 0).empty());
  CHECK(zlib.size() > 6);
}

}  // namespace attnviz
