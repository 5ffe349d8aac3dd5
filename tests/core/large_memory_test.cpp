#include "attnviz/core/mapped_file.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace attnviz {
namespace {

// Around the size from which whole pages are used, and odd ones.
constexpr std::size_t kMegabyte = std::size_t{1} << 20;
constexpr std::size_t kSizes[] = {1, 63, 64, 1000, 2 * kMegabyte - 1, 2 * kMegabyte, 5000001};

}  // namespace

TEST_CASE("allocate_zeroed: zeros, aligned, also where memory was used before") {
  for (const std::size_t size : kSizes) {
    CAPTURE(size);
    for (int round = 0; round < 3; ++round) {
      auto* const bytes = static_cast<unsigned char*>(allocate_zeroed(size));
      REQUIRE(bytes != nullptr);
      CHECK(reinterpret_cast<std::uintptr_t>(bytes) % 64 == 0);
      CHECK(std::all_of(bytes, bytes + size, [](unsigned char byte) { return byte == 0; }));
      std::fill(bytes, bytes + size, static_cast<unsigned char>(0xFF));
      free_zeroed(bytes, size);
    }
  }
}

TEST_CASE("allocate_zeroed: nullptr if the memory is not available") {
  CHECK(allocate_zeroed(SIZE_MAX) == nullptr);
  CHECK(allocate_zeroed(SIZE_MAX / 2) == nullptr);
}

TEST_CASE("ZeroedAllocator: a vector starts with zeros, keeps its values and copies them") {
  std::vector<std::uint8_t, ZeroedAllocator<std::uint8_t>> bytes(3 * kMegabyte);
  CHECK(std::count(bytes.begin(), bytes.end(), std::uint8_t{0}) == 3 * kMegabyte);
  bytes.assign(2 * kMegabyte, 7);
  bytes.push_back(9);
  const auto copy = bytes;
  CHECK(copy.size() == 2 * kMegabyte + 1);
  CHECK(copy.front() == 7);
  CHECK(copy.back() == 9);
  using Huge = std::vector<double, ZeroedAllocator<double>>;
  CHECK_THROWS(Huge(SIZE_MAX / 8));
}

}  // namespace attnviz
