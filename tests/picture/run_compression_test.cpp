#include "attnviz/picture/raster/run_compression.h"

#include <doctest/doctest.h>
#include <libdeflate.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace attnviz {
namespace {

using Bytes = std::vector<std::uint8_t>;

// By an independent decompressor, which also checks the sum; empty when the stream is not sound.
Bytes decompressed(const std::string& zlib, std::size_t size) {
  const std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> reader(
      libdeflate_alloc_decompressor(), &libdeflate_free_decompressor);
  Bytes data(size);
  const auto result = libdeflate_zlib_decompress(reader.get(), zlib.data(), zlib.size(),
                                                 data.data(), size, nullptr);
  return result == LIBDEFLATE_SUCCESS ? data : Bytes{};
}

std::optional<std::string> compress_runs(const Bytes& data, std::size_t most) {
  RunCompression compression(data.size(), most);
  return compression.add(data) ? compression.finish() : std::nullopt;
}

}  // namespace

TEST_CASE("RunCompression: how the data is cut makes no difference") {
  Bytes data;
  for (unsigned i = 0; i < 3000; ++i) {
    data.insert(data.end(), 1 + i * i % 11, static_cast<std::uint8_t>(i % 3));
    data.insert(data.end(), i % 500 == 0 ? 700 : 0, 0);
  }
  const auto whole = compress_runs(data, data.size());
  REQUIRE(whole);
  REQUIRE(decompressed(*whole, data.size()) == data);
  for (std::size_t piece = 1; piece < 1000; piece += 1 + piece / 8) {
    CAPTURE(piece);
    RunCompression compression(data.size(), data.size());
    for (std::size_t i = 0; i < data.size(); i += piece) {
      const std::size_t count = std::min(piece, data.size() - i);
      REQUIRE(compression.add({data.data() + i, count}));
    }
    CHECK(compression.finish() == whole);
  }
}

TEST_CASE("RunCompression: zeros are added without being written") {
  const std::vector<std::size_t> zeros = {1, 2, 3, 0, 257, 258, 259, 1, 100'000, 65521, 7'000'000};
  const Bytes between = {200, 0, 255, 255, 0};
  Bytes data;
  for (const std::size_t count : zeros) {
    data.insert(data.end(), count, 0);
    data.insert(data.end(), between.begin(), between.end());
  }
  data.insert(data.end(), 900, 0);
  RunCompression compression(data.size(), data.size());
  for (const std::size_t count : zeros) {
    REQUIRE(compression.add_zeros(count));
    REQUIRE(compression.add(between));
  }
  REQUIRE(compression.add_zeros(900));
  const auto zlib = compression.finish();
  REQUIRE(zlib);
  CHECK(decompressed(*zlib, data.size()) == data);
  CHECK(zlib == compress_runs(data, data.size()));
}

TEST_CASE("RunCompression: runs of every length come back") {
  for (std::size_t length = 1; length < 1100; ++length) {
    CAPTURE(length);
    Bytes data(5, 9);
    data.insert(data.end(), length, 0);
    data.push_back(255);
    const auto zlib = compress_runs(data, 2000);
    REQUIRE(zlib);
    CHECK(decompressed(*zlib, data.size()) == data);
  }
}

TEST_CASE("RunCompression: every byte comes back, alone and as a run") {
  Bytes data;
  for (unsigned byte = 0; byte < 256; ++byte) {
    data.push_back(static_cast<std::uint8_t>(byte));
  }
  for (unsigned byte = 0; byte < 256; ++byte) {
    data.insert(data.end(), 1 + byte % 7, static_cast<std::uint8_t>(255 - byte));
  }
  const auto zlib = compress_runs(data, 4000);
  REQUIRE(zlib);
  CHECK(decompressed(*zlib, data.size()) == data);
  const auto nothing = compress_runs({}, 200);
  REQUIRE(nothing);
  CHECK(decompressed(*nothing, 0).empty());
  CHECK(nothing->size() > 6);
}

TEST_CASE("RunCompression: a long run takes two bits for each 258 bytes") {
  const Bytes zeros(258 * 8000 + 1, 0);
  const auto zlib = compress_runs(zeros, zeros.size());
  REQUIRE(zlib);
  CHECK(zlib->size() < 2300);
  CHECK(decompressed(*zlib, zeros.size()) == zeros);
}

TEST_CASE("RunCompression: symbols as rare as they can be against others still get a code") {
  // Fibonacci's numbers: the counts that make Huffman's longest codes.
  Bytes data;
  std::size_t count = 1;
  std::size_t before = 1;
  for (unsigned symbol = 1; symbol <= 22; ++symbol) {
    for (std::size_t i = 0; i < count; ++i) {
      data.push_back(static_cast<std::uint8_t>(symbol));
      data.push_back(static_cast<std::uint8_t>(100));
    }
    count += std::exchange(before, count);
  }
  const auto zlib = compress_runs(data, data.size());
  REQUIRE(zlib);
  CHECK(decompressed(*zlib, data.size()) == data);
}

TEST_CASE("RunCompression: nothing when it would take more than allowed") {
  Bytes data;
  for (unsigned i = 0; i < 5000; ++i) {
    data.push_back(static_cast<std::uint8_t>(i * 7 + i / 9));
  }
  const std::size_t size = compress_runs(data, 10000)->size();
  CHECK(compress_runs(data, size));
  CHECK_FALSE(compress_runs(data, size - 1));
  CHECK_FALSE(compress_runs(data, 10));
  CHECK_FALSE(compress_runs(data, 0));
}

}  // namespace attnviz
