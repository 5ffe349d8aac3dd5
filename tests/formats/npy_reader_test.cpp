#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/formats/npy.h"

namespace attnviz {
namespace {

using Shape = std::vector<std::size_t>;

// A file with this dictionary; version 1.0 stores its length in two bytes, later ones in four.
std::string npy_file(const std::string& dictionary, const std::string& data, char version = 1) {
  std::string file = "\x93NUMPY";
  file += version;
  file += '\0';
  for (std::size_t i = 0; i < (version == 1 ? 2u : 4u); ++i) {
    file += static_cast<char>(dictionary.size() >> 8 * i & 0xff);
  }
  return file + dictionary + data;
}

std::string dictionary(const std::string& type, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + type + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }\n";
}

template <class Unsigned>
std::string bytes_of(const std::vector<Unsigned>& numbers, bool big_endian = false) {
  std::string bytes;
  for (const Unsigned number : numbers) {
    for (std::size_t i = 0; i < sizeof(Unsigned); ++i) {
      const std::size_t byte = big_endian ? sizeof(Unsigned) - 1 - i : i;
      bytes += static_cast<char>(static_cast<std::uint64_t>(number) >> 8 * byte & 0xff);
    }
  }
  return bytes;
}

std::string floats(const std::vector<float>& numbers) {
  std::vector<std::uint32_t> bits;
  bits.reserve(numbers.size());
  for (const float number : numbers) {
    bits.push_back(std::bit_cast<std::uint32_t>(number));
  }
  return bytes_of(bits);
}

std::vector<float> values_of(const NpyArray& array) {
  const ConstMatrix all = array.values.view();
  return {all.data, all.data + all.rows * all.cols};
}

ErrorKind kind_of_failure(const std::string& file) {
  try {
    read_npy(file, "x.npy");
  } catch (const Error& error) {
    CHECK(std::string(error.what()).find("x.npy: ") == 0);
    return error.kind();
  }
  FAIL("was read");
  return ErrorKind::kIo;
}

}  // namespace

TEST_CASE("read_npy: reads back what npy_header and write_npy_values write") {
  const std::array<float, 6> values = {1, 2, 3, 4, 5, 6};
  std::string file = npy_header(std::array<std::size_t, 3>{1, 2, 3});
  write_npy_values({values.data(), 2, 3, 3}, [&file](std::string_view bytes) { file += bytes; });
  const NpyArray array = read_npy(file, "x.npy");
  CHECK(array.shape == Shape{1, 2, 3});
  CHECK(values_of(array) == std::vector<float>(values.begin(), values.end()));
  CHECK(array.matrix(0)(1, 0) == 4.0f);
}

TEST_CASE("read_npy: float16, float32 and float64 in either byte order") {
  const std::vector<float> expected = {1.0f, -2.0f, 0.5f};
  for (const bool big : {false, true}) {
    const std::string order = big ? ">" : "<";
    CHECK(values_of(read_npy(npy_file(dictionary(order + "f2", "(3,)"),
                                      bytes_of<std::uint16_t>({0x3C00, 0xC000, 0x3800}, big)),
                             "x")) == expected);
    CHECK(values_of(
              read_npy(npy_file(dictionary(order + "f4", "(3,)"),
                                bytes_of<std::uint32_t>({0x3F800000, 0xC0000000, 0x3F000000}, big)),
                       "x")) == expected);
    CHECK(values_of(read_npy(
              npy_file(dictionary(order + "f8", "(3,)"),
                       bytes_of<std::uint64_t>(
                           {0x3FF0000000000000, 0xC000000000000000, 0x3FE0000000000000}, big)),
              "x")) == expected);
  }
}

TEST_CASE("read_npy: whole numbers and booleans are numbers too") {
  CHECK(values_of(read_npy(
            npy_file(dictionary("<i8", "(2,)"), bytes_of<std::uint64_t>({5, 0xFFFFFFFFFFFFFFFE})),
            "x")) == std::vector<float>{5.0f, -2.0f});
  CHECK(values_of(read_npy(
            npy_file(dictionary(">i2", "(2,)"), bytes_of<std::uint16_t>({300, 0xFFFF}, true)),
            "x")) == std::vector<float>{300.0f, -1.0f});
  CHECK(values_of(read_npy(npy_file(dictionary("|u1", "(2,)"), "\x01\xFF"), "x")) ==
        std::vector<float>{1.0f, 255.0f});
  CHECK(values_of(read_npy(npy_file(dictionary("|b1", "(2,)"), std::string("\x01\x00", 2)), "x")) ==
        std::vector<float>{1.0f, 0.0f});
}

TEST_CASE("read_npy: a double too large for a float is refused, infinity is not") {
  CHECK(kind_of_failure(
            npy_file(dictionary("<f8", "(1,)"), bytes_of<std::uint64_t>({0x7E37E43C8800759C}))) ==
        ErrorKind::kMalformed);  // 1e300
  CHECK(values_of(read_npy(
            npy_file(dictionary("<f8", "(1,)"), bytes_of<std::uint64_t>({0x7FF0000000000000})),
            "x"))[0] == std::numeric_limits<float>::infinity());
}

TEST_CASE("read_npy: Fortran order runs along the first axis") {
  // np.asfortranarray(np.arange(6).reshape(2, 3)) is stored as 0 3 1 4 2 5.
  const NpyArray flat =
      read_npy(npy_file(dictionary("<f4", "(2, 3)", true), floats({0, 3, 1, 4, 2, 5})), "x");
  CHECK(values_of(flat) == std::vector<float>{0, 1, 2, 3, 4, 5});
  // np.arange(8).reshape(2, 2, 2) in Fortran order: 0 4 2 6 1 5 3 7.
  const NpyArray cube = read_npy(
      npy_file(dictionary("<f4", "(2, 2, 2)", true), floats({0, 4, 2, 6, 1, 5, 3, 7})), "x");
  CHECK(values_of(cube) == std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(cube.matrix(1)(0, 1) == 5.0f);
}

TEST_CASE("read_npy: versions 2 and 3, keys in any order, no trailing comma, no line end") {
  const std::string data = floats({7.0f});
  for (const char version : {'\2', '\3'}) {
    CHECK(read_npy(npy_file(dictionary("<f4", "(1, 1)"), data, version), "x").shape == Shape{1, 1});
  }
  CHECK(read_npy(npy_file("{\"shape\":(1,1),\"fortran_order\":False,\"descr\":\"<f4\"}", data), "x")
            .shape == Shape{1, 1});
}

TEST_CASE("read_npy: other types and versions are reported as not supported") {
  const std::string data(64, '\0');
  for (const char* type : {"<c8", "|S4", "<f16", "|O", "<M8[s]", "<b1x", "<i3", "<f1", ""}) {
    CAPTURE(type);
    CHECK(kind_of_failure(npy_file(dictionary(type, "(2, 2)"), data)) == ErrorKind::kUnsupported);
  }
  CHECK(kind_of_failure(npy_file("{'descr': [('a', '<f4')], 'fortran_order': False}", data)) ==
        ErrorKind::kUnsupported);
  CHECK(kind_of_failure(npy_file(dictionary("<f4", "(1,)"), data, 9)) == ErrorKind::kUnsupported);
}

TEST_CASE("read_npy: broken files of every kind are reported as malformed") {
  const std::string four = floats({1, 2, 3, 4});
  const std::string good = dictionary("<f4", "(2, 2)");
  for (const std::string& file :
       {std::string("\x93NUMPY"),
        std::string("PK"),
        npy_file(good, four.substr(1)),
        npy_file(good, four + "x"),
        npy_file(good, ""),
        npy_file(good, four).substr(0, 30),
        npy_file(dictionary("<f4", "()"), four),
        npy_file(dictionary("<f4", "(0, 4)"), ""),
        npy_file(dictionary("<f4", "(4294967296, 4294967296, 4294967296)"), four),
        npy_file(dictionary("<f4", "(99999999999999999999,)"), four),
        npy_file(dictionary("<f4", "(-4,)"), four),
        npy_file(dictionary("<f4", "(4"), four),
        npy_file("{'descr': '<f4', 'shape': (4,)}", four),
        npy_file("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (4,)}", four),
        npy_file("{'descr': '<f4', 'fortran_order': Maybe, 'shape': (4,)}", four),
        npy_file("{'descr: 4}", four),
        npy_file("[]", four),
        npy_file("", four),
        npy_file(good + "}", four),
        npy_file("{'x': 1}", four)}) {
    CAPTURE(file);
    CHECK(kind_of_failure(file) == ErrorKind::kMalformed);
  }
}

TEST_CASE("read_npy: truncated or changed files are never read out of bounds") {
  const std::string file = npy_file(dictionary("<f4", "(2, 2)", true), floats({1, 2, 3, 4}));
  for (std::size_t size = 0; size < file.size(); ++size) {
    CHECK_THROWS_AS(read_npy(file.substr(0, size), "x"), Error);
  }
  for (std::size_t i = 0; i < file.size(); ++i) {
    for (const char byte : {'\0', '\xff', '9', ')', '\'', '{'}) {
      std::string changed = file;
      changed[i] = byte;
      try {
        const NpyArray array = read_npy(changed, "x");
        CHECK(array.values.rows() * array.values.cols() > 0);
      } catch (const Error&) {  // just as well
      }
    }
  }
}

}  // namespace attnviz
