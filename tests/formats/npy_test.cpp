#include "attnviz/formats/npy.h"

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

namespace attnviz {

TEST_CASE("npy_header: equals what NumPy 1.26 writes for a float32 array with four axes") {
  // np.lib.format.write_array_header_1_0(f, {"descr": "<f4", "fortran_order": False,
  //                                          "shape": (1, 4, 10, 10)})
  std::string expected("\x93NUMPY\x01\x00\x76\x00", 10);
  expected += "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 4, 10, 10), }";
  expected += std::string(127 - expected.size(), ' ') + '\n';
  CHECK(npy_header(std::array<std::size_t, 4>{1, 4, 10, 10}) == expected);
}

TEST_CASE("npy_header: one axis is a Python tuple of one, none an empty tuple") {
  CHECK(npy_header(std::array<std::size_t, 1>{3}).find("'shape': (3,), }") != std::string::npos);
  CHECK(npy_header({}).find("'shape': (), }") != std::string::npos);
}

TEST_CASE("npy_header: is a multiple of 64 bytes with the right length field, for any shape") {
  std::vector<std::size_t> shape;
  for (int axes = 0; axes < 32; ++axes) {
    const std::string header = npy_header(shape);
    CHECK(header.size() % 64 == 0);
    const auto low = static_cast<unsigned char>(header[8]);
    const auto high = static_cast<unsigned char>(header[9]);
    CHECK(low + 256u * high + 10u == header.size());
    CHECK(header.back() == '\n');
    shape.push_back(SIZE_MAX);
  }
}

TEST_CASE("write_npy_values: writes a part of a matrix row after row") {
  const std::array<float, 6> values = {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f};
  std::string bytes;
  const ByteSink sink = [&](std::string_view part) { bytes += part; };
  write_npy_values({values.data(), 2, 2, 3}, sink);  // the first two of three columns
  write_npy_values({values.data(), 1, 3, 3}, sink);
  const std::array<float, 7> expected = {1.0f, 2.0f, 4.0f, 5.0f, 1.0f, 2.0f, 3.0f};
  REQUIRE(bytes.size() == sizeof expected);
  std::array<float, 7> written{};
  std::memcpy(written.data(), bytes.data(), sizeof written);
  CHECK(written == expected);
}

}  // namespace attnviz
