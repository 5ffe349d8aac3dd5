// Any bytes as a NumPy array, and as attention stored in one: it is read according to its shape, or
// refused with an Error.

#include <cstddef>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/formats/npy.h"
#include "attnviz/report/json/attention_reader.h"
#include "fuzz/fuzz_checks.h"
#include "fuzz/fuzz_target.h"

namespace attnviz {

namespace {

using test::refused_or_done;
using test::require;

void read(std::string_view bytes) {
  refused_or_done([&] {
    const NpyArray array = read_npy(bytes, "fuzz");
    const ConstMatrix values = array.values.view();
    require(!array.shape.empty() && values.cols == array.shape.back());
    require(values.rows * values.cols == std::accumulate(array.shape.begin(), array.shape.end(),
                                                         std::size_t{1}, std::multiplies<>()));
    test::use({reinterpret_cast<const char*>(values.data), values.rows * values.cols * 4});
  });
  if (is_npy(bytes)) {
    refused_or_done([&] { require(read_attention(bytes, "fuzz", {}).size() == 1); });
  }
}

}  // namespace

namespace test {

namespace {

// An array of ones whose numbers have this many bytes.
std::string array_of(const std::string& type, const std::string& shape, const std::string& order,
                     std::size_t n_bytes, char version = 1) {
  std::string header =
      "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
  std::string bytes = "\x93NUMPY";
  bytes += {version, '\0', static_cast<char>(header.size()), '\0'};
  if (version > 1) {
    bytes += std::string(2, '\0');
  }
  return bytes + header + std::string(n_bytes, '\1');
}

}  // namespace

std::vector<std::string> fuzz_seeds() {
  std::string floats = npy_header(std::vector<std::size_t>{1, 2, 2, 2});
  append_npy_row(floats, std::vector<float>{1, 0, 0.5f, 0.5f, 1, 0, 0.25f, 0.75f});
  return {floats,
          array_of("<f2", "(2, 3)", "False", 12),
          array_of("<f8", "(1, 2, 2)", "True", 32),
          array_of(">i4", "(2, 2)", "True", 16, 2),
          array_of("|b1", "(4,)", "False", 4, 3),
          array_of("|u1", "()", "False", 1),
          array_of(">u8", "(1, 1)", "False", 8),
          array_of("<i2", "(2, 0)", "False", 0)};
}

void fuzz_input(std::string_view bytes) {
  read(bytes);
}

}  // namespace test

}  // namespace attnviz
