// Writes GGUF files, valid and broken ones, for tests.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/formats/gguf.h"

namespace attnviz::test {

/// One file. Nothing is checked: the given values are written to the file.
class GgufBuilder {
 public:
  explicit GgufBuilder(bool big_endian = false) : big_endian_(big_endian) {}

  std::string magic = "GGUF";
  std::uint32_t version = 3;
  std::size_t alignment = 32;              // of the tensors; does not write its key
  std::optional<std::uint64_t> n_keys;     // if the header gives a number other than the actual one
  std::optional<std::uint64_t> n_tensors;  // likewise

  /// A number in the file's byte order.
  template <class T>
  std::string number(T value) const {
    auto bytes = std::bit_cast<std::array<char, sizeof(T)>>(value);
    if (big_endian_ != (std::endian::native == std::endian::big)) {
      std::reverse(bytes.begin(), bytes.end());
    }
    return std::string(bytes.data(), bytes.size());
  }
  template <class T>
  std::string numbers(std::initializer_list<T> values) const {
    std::string bytes;
    for (const T value : values) {
      bytes += number(value);
    }
    return bytes;
  }
  /// Length and bytes.
  std::string string(std::string_view text) const;
  std::string strings(std::initializer_list<std::string_view> texts) const;
  /// Type, count and elements, given as bytes.
  std::string array(GgufType type, std::uint64_t count, std::string_view elements) const;

  /// A key with its value's bytes.
  GgufBuilder& add(std::string_view key, GgufType type, std::string_view value);
  GgufBuilder& add_string(std::string_view key, std::string_view text) {
    return add(key, GgufType::kString, string(text));
  }
  GgufBuilder& add_u32(std::string_view key, std::uint32_t value) {
    return add(key, GgufType::kU32, number(value));
  }
  GgufBuilder& add_u16(std::string_view key, std::uint16_t value) {
    return add(key, GgufType::kU16, number(value));
  }
  /// Bytes instead of a key.
  GgufBuilder& add_raw_key(std::string_view bytes);

  struct Tensor {
    std::string name;
    std::vector<std::uint64_t> dimensions;     // innermost first, as in the file
    std::uint32_t type = 0;                    // ggml's number
    std::string bytes;                         // in the file's order
    std::optional<std::uint64_t> offset = {};  // as given in the file; by default that of its bytes
  };
  std::vector<Tensor> tensors;
  std::string tail;  // bytes after the last tensor

  std::string bytes() const;

 private:
  bool big_endian_;
  std::uint64_t keys_there_ = 0;
  std::string keys_;
};

}  // namespace attnviz::test
