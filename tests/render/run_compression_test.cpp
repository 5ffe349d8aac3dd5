#include "attnviz/render/run_compression.h"

#include <doctest/doctest.h>
#include <libdeflate.h>

#include <cstddef>
#include <cstdint>
#include <memory>
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

}  // namespace

TEST_CASE("compress_runs: runs of every length come back") {
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

TEST_CASE("compress_runs: every byte comes back, alone and as a run") {
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

TEST_CASE("compress_runs: a long run takes two bits for each 258 bytes") {
  const Bytes zeros(258 * 8000 + 1, 0);
  const auto zlib = compress_runs(zeros, zeros.size());
  REQUIRE(zlib);
  CHECK(zlib->size() < 2300);
  CHECK(decompressed(*zlib, zeros.size()) == zeros);
}

TEST_CASE("compress_runs: symbols as rare as they can be against others still get a code") {
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

TEST_CASE("compress_runs: nothing when it would take more than allowed") {
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
