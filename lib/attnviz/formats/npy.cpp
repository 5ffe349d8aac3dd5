#include "attnviz/formats/npy.h"

#include <fmt/core.h>

#include <bit>
#include <string_view>

namespace attnviz {

std::string npy_header(std::span<const std::size_t> shape) {
  std::string sizes;
  for (const std::size_t size : shape) {
    sizes += fmt::format("{}, ", size);
  }
  if (shape.size() > 1) {
    sizes.resize(sizes.size() - 2);  // a Python tuple of one needs its comma, others do not
  } else if (shape.size() == 1) {
    sizes.pop_back();
  }
  constexpr char kByteOrder = std::endian::native == std::endian::little ? '<' : '>';
  std::string dict = fmt::format("{{'descr': '{}f4', 'fortran_order': False, 'shape': ({}), }}",
                                 kByteOrder, sizes);

  constexpr std::size_t kAlignment = 64;
  constexpr std::size_t kPrefix = 10;  // magic, version, length of the dictionary
  const std::size_t total = (kPrefix + dict.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  dict.resize(total - kPrefix - 1, ' ');
  dict += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(dict.size() & 0xff);
  header += static_cast<char>(dict.size() >> 8);
  return header + dict;
}

namespace {

std::string_view bytes(const float* data, std::size_t count) noexcept {
  return {reinterpret_cast<const char*>(data), count * sizeof(float)};
}

}  // namespace

void append_npy_row(std::string& out, std::span<const float> row) {
  out += bytes(row.data(), row.size());
}

void write_npy_values(ConstMatrix values, const ByteSink& sink) {
  if (values.stride == values.cols) {
    sink(bytes(values.data, values.rows * values.cols));
    return;
  }
  for (std::size_t i = 0; i < values.rows; ++i) {
    sink(bytes(values.row_data(i), values.cols));
  }
}

}  // namespace attnviz
