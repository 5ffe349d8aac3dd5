#include "attnviz/formats/npy_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/float16.h"
#include "attnviz/core/message.h"

namespace attnviz {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
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
        fail(fmt::format("its header has an unexpected key {}", attnviz::quoted(key)));
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

std::size_t little_endian(std::string_view bytes) noexcept {
  std::size_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

struct ElementType {
  char kind;  // f: float, i: integer, u: unsigned integer, b: boolean
  std::size_t size;
  bool swapped;
};

ElementType element_type(const std::string& type, std::string_view name) {
  constexpr char kNative = std::endian::native == std::endian::little ? '<' : '>';
  constexpr std::array<std::string_view, 12> kTypes = {"f2", "f4", "f8", "i1", "i2", "i4",
                                                       "i8", "u1", "u2", "u4", "u8", "b1"};
  const std::string_view order = "<>=|";
  if (type.size() == 3 && order.find(type[0]) != std::string_view::npos &&
      std::find(kTypes.begin(), kTypes.end(), type.substr(1)) != kTypes.end()) {
    const auto size = static_cast<std::size_t>(type[2] - '0');
    const bool has_order = type[0] == '<' || type[0] == '>';
    return {type[1], size, size > 1 && has_order && type[0] != kNative};
  }
  throw Error(ErrorKind::kUnsupported,
              fmt::format("{}: expected an array of floats or whole numbers, found type {}", name,
                          attnviz::quoted(type)));
}

// The bits of a number of some size, the highest ones 0.
std::uint64_t load(const char* from, const ElementType& type) noexcept {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < type.size; ++i) {
    // Most significant byte first.
    const bool little = (std::endian::native == std::endian::little) != type.swapped;
    const std::size_t byte = little ? type.size - 1 - i : i;
    bits = bits << 8 | static_cast<unsigned char>(from[byte]);
  }
  return bits;
}

double element(const char* from, const ElementType& type) noexcept {
  const std::uint64_t bits = load(from, type);
  if (type.kind == 'u' || type.kind == 'b') {
    return static_cast<double>(bits);
  }
  if (type.kind == 'i') {
    switch (type.size) {
      case 1:
        return static_cast<double>(static_cast<std::int8_t>(bits));
      case 2:
        return static_cast<double>(static_cast<std::int16_t>(bits));
      case 4:
        return static_cast<double>(static_cast<std::int32_t>(bits));
      default:
        return static_cast<double>(static_cast<std::int64_t>(bits));
    }
  }
  switch (type.size) {
    case 2:
      return static_cast<double>(float_from_half(static_cast<std::uint16_t>(bits)));
    case 4:
      return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    default:
      return std::bit_cast<double>(bits);
  }
}

// Where element `index`, counted in C order, lies in Fortran order, where the first axis is the
// fastest.
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

}  // namespace

ConstMatrix NpyArray::matrix(std::size_t index) const noexcept {
  const std::size_t rows = shape.size() < 2 ? 1 : shape[shape.size() - 2];
  return values.view().row_block(index * rows, rows);
}

bool is_npy(std::string_view bytes) noexcept {
  return bytes.starts_with(kMagic);
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
  const std::size_t header_size = little_endian(bytes.substr(kVersionEnd, length_size));
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
                       fmt::join(header.shape, ", "), data.size()));
    }
    count *= size;
  }
  if (count != data.size() / type.size || data.size() % type.size != 0) {
    fail(fmt::format("the shape [{}] of {}-byte numbers does not fit its {} bytes of data",
                     fmt::join(header.shape, ", "), type.size, data.size()));
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
