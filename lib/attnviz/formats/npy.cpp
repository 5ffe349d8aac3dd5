#include "attnviz/formats/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/stored_matrix.h"

namespace attnviz {

namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr std::size_t kMostAxes = 32;  // as NumPy allows

struct Header {
  std::string type;  // "<f4"
  bool fortran_order = false;
  std::vector<std::size_t> shape;
};

// Reads the Python dictionary that describes the array: three keys, in any order.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  Header parse() {
    Header header;
    bool seen[3] = {};
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr" && !std::exchange(seen[0], true)) {
        header.type = descr();
      } else if (key == "fortran_order" && !std::exchange(seen[1], true)) {
        header.fortran_order = boolean();
      } else if (key == "shape" && !std::exchange(seen[2], true)) {
        header.shape = shape();
      } else {
        fail(fmt::format("its header has an unexpected key {}", in_quotes(key)));
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    for (std::size_t i = 0; i < 3; ++i) {
      if (!seen[i]) {
        constexpr const char* kKeys[] = {"descr", "fortran_order", "shape"};
        fail(fmt::format("its header has no {}", kKeys[i]));
      }
    }
    skip_blanks();
    if (position_ != text_.size()) {
      fail("its header goes on after the dictionary");
    }
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorKind::kMalformed, fmt::format("{}: no .npy array: {}", name_, what));
  }

  void skip_blanks() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\n')) {
      ++position_;
    }
  }

  bool accept(char c) {
    skip_blanks();
    if (position_ < text_.size() && text_[position_] == c) {
      ++position_;
      return true;
    }
    return false;
  }

  void expect(char c) {
    if (!accept(c)) {
      fail(fmt::format("expected {} at byte {} of its header", c, position_));
    }
  }

  std::string string() {
    skip_blanks();
    const char quote = position_ < text_.size() ? text_[position_] : '\0';
    const std::size_t end =
        quote == '\'' || quote == '"' ? text_.find(quote, position_ + 1) : std::string_view::npos;
    if (end == std::string_view::npos) {
      fail(fmt::format("expected a string at byte {} of its header", position_));
    }
    std::string value(text_.substr(position_ + 1, end - position_ - 1));
    position_ = end + 1;
    return value;
  }

  // A structured type is written as a list.
  std::string descr() {
    skip_blanks();
    if (position_ < text_.size() && text_[position_] == '[') {
      throw Error(ErrorKind::kUnsupported,
                  fmt::format("{}: expected an array of floats, found one of records", name_));
    }
    return string();
  }

  bool boolean() {
    skip_blanks();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(position_).starts_with(word)) {
        position_ += word.size();
        return value;
      }
    }
    fail(fmt::format("expected True or False at byte {} of its header", position_));
  }

  std::vector<std::size_t> shape() {
    std::vector<std::size_t> sizes;
    expect('(');
    while (!accept(')')) {
      skip_blanks();
      std::size_t size = 0;
      const char* begin = text_.data() + position_;
      const auto result = std::from_chars(begin, text_.data() + text_.size(), size);
      if (result.ec != std::errc()) {
        fail(fmt::format("expected a size at byte {} of its header", position_));
      }
      position_ += static_cast<std::size_t>(result.ptr - begin);
      sizes.push_back(size);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return sizes;
  }

  std::string_view text_;
  std::string_view name_;
  std::size_t position_ = 0;
};

struct ElementType {
  char kind;  // f: float, i: integer, u: unsigned integer, b: boolean
  std::size_t size;
  bool big_endian;
};

ElementType element_type(const std::string& type, std::string_view name) {
  constexpr std::array<std::string_view, 12> kNumbers = {"f2", "f4", "f8", "i1", "i2", "i4",
                                                         "i8", "u1", "u2", "u4", "u8", "b1"};
  const std::string_view order = "<>=|";
  if (type.size() == 3 && order.find(type[0]) != std::string_view::npos &&
      std::find(kNumbers.begin(), kNumbers.end(), type.substr(1)) != kNumbers.end()) {
    const auto size = static_cast<std::size_t>(type[2] - '0');
    const bool is_native = type[0] == '=' || type[0] == '|';
    return {type[1], size, is_native ? std::endian::native == std::endian::big : type[0] == '>'};
  }
  throw Error(ErrorKind::kUnsupported,
              fmt::format("{}: expected an array of floats or whole numbers, found type {}", name,
                          in_quotes(type)));
}

double element(const char* from, const ElementType& type) noexcept {
  const auto as = [&](auto type_of_number) {
    return static_cast<double>(load_number<decltype(type_of_number)>(from, type.big_endian));
  };
  const bool is_signed = type.kind == 'i';
  const bool is_float = type.kind == 'f';
  switch (type.size) {
    case 1:
      return is_signed ? as(std::int8_t{}) : as(std::uint8_t{});
    case 2:
      return is_float ? double{float_from_half(load_number<std::uint16_t>(from, type.big_endian))}
             : is_signed ? as(std::int16_t{})
                         : as(std::uint16_t{});
    case 4:
      return is_float ? as(float{}) : is_signed ? as(std::int32_t{}) : as(std::uint32_t{});
    default:
      return is_float ? as(double{}) : is_signed ? as(std::int64_t{}) : as(std::uint64_t{});
  }
}

// The position in Fortran order, where the first axis varies fastest, of element `index` in C
// order.
std::size_t fortran_position(std::size_t index, const std::vector<std::size_t>& shape,
                             std::size_t count) noexcept {
  std::size_t position = 0;
  std::size_t stride = count;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    stride /= shape[axis];
    position += index % shape[axis] * stride;
    index /= shape[axis];
  }
  return position;
}

std::string_view bytes_of(const float* data, std::size_t count) noexcept {
  return {reinterpret_cast<const char*>(data), count * sizeof(float)};
}

}  // namespace

std::string npy_header(std::span<const std::size_t> shape) {
  std::string sizes;
  for (const std::size_t size : shape) {
    sizes += fmt::format("{}, ", size);
  }
  if (shape.size() > 1) {
    sizes.resize(sizes.size() - 2);  // Python requires a comma in a tuple of one
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

void append_npy_row(std::string& out, std::span<const float> row) {
  out += bytes_of(row.data(), row.size());
}

void write_npy_values(ConstMatrix values, const ByteSink& sink) {
  if (values.stride == values.cols) {
    sink(bytes_of(values.data, values.rows * values.cols));
    return;
  }
  for (std::size_t i = 0; i < values.rows; ++i) {
    sink(bytes_of(values.row_data(i), values.cols));
  }
}

ConstMatrix NpyArray::matrix(std::size_t index) const noexcept {
  const std::size_t rows = shape.size() < 2 ? 1 : shape[shape.size() - 2];
  return values.view().row_block(index * rows, rows);
}

bool is_npy(std::string_view bytes) noexcept {
  return bytes.starts_with(kNpyMagic);
}

NpyArray read_npy(std::string_view bytes, std::string_view name) {
  const auto fail = [name](const std::string& what) {
    throw Error(ErrorKind::kMalformed, fmt::format("{}: no .npy array: {}", name, what));
  };
  constexpr std::size_t kVersionEnd = 8;
  if (!is_npy(bytes) || bytes.size() < kVersionEnd) {
    fail("it does not begin as one");
  }
  const auto version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}: expected .npy format version 1, 2 or 3, found {}", name, version));
  }
  const std::size_t length_size = version == 1 ? 2 : 4;
  const std::size_t header_begin = kVersionEnd + length_size;
  if (bytes.size() < header_begin) {
    fail("it ends within its header");
  }
  const char* const length = bytes.data() + kVersionEnd;
  const std::size_t header_size =
      version == 1 ? load_number<std::uint16_t>(length) : load_number<std::uint32_t>(length);
  if (bytes.size() - header_begin < header_size) {
    fail("it ends within its header");
  }
  Header header = HeaderParser(bytes.substr(header_begin, header_size), name).parse();
  const ElementType type = element_type(header.type, name);
  if (header.shape.empty() || header.shape.size() > kMostAxes) {
    fail(fmt::format("expected 1 to {} axes, found {}", kMostAxes, header.shape.size()));
  }
  const std::string_view data = bytes.substr(header_begin + header_size);
  std::size_t count = 1;
  for (const std::size_t size : header.shape) {
    if (size == 0 || count > data.size() / size) {
      fail(fmt::format("the shape [{}] does not fit its {} bytes of data",
                       joined_by(header.shape, ", "), data.size()));
    }
    count *= size;
  }
  if (count != data.size() / type.size || data.size() % type.size != 0) {
    fail(fmt::format("the shape [{}] of {}-byte numbers does not fit its {} bytes of data",
                     joined_by(header.shape, ", "), type.size, data.size()));
  }
  const std::size_t cols = header.shape.back();
  NpyArray array{std::move(header.shape), MatrixBuffer(count / cols, cols)};
  float* values = array.values.view().data;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t from = header.fortran_order ? fortran_position(i, array.shape, count) : i;
    const double value = element(data.data() + from * type.size, type);
    values[i] = static_cast<float>(value);
    if (std::isinf(values[i]) && !std::isinf(value)) {
      fail(fmt::format("element {} is larger than a 32-bit float can be", i));
    }
  }
  return array;
}

}  // namespace attnviz
