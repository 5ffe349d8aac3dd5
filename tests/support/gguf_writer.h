// Small GGUF files, value by value: GgufBuilder's output, by the kind of each value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/gguf_builder.h"

namespace attnviz::test {

class GgufWriter {
 public:
  GgufWriter& text(std::string_view key, std::string_view value) {
    builder_.add_string(key, value);
    return *this;
  }
  GgufWriter& u32(std::string_view key, std::uint32_t value) {
    builder_.add_u32(key, value);
    return *this;
  }
  GgufWriter& flag(std::string_view key, bool value) {
    builder_.add(key, GgufType::kBool, std::string(1, value ? '\1' : '\0'));
    return *this;
  }
  GgufWriter& number(std::string_view key, float value) {
    builder_.add(key, GgufType::kF32, builder_.number(value));
    return *this;
  }
  GgufWriter& texts(std::string_view key, const std::vector<std::string>& values) {
    std::string bytes;
    for (const std::string& value : values) {
      bytes += builder_.string(value);
    }
    return list(key, GgufType::kString, values.size(), bytes);
  }
  GgufWriter& floats(std::string_view key, const std::vector<float>& values) {
    return numbers(key, GgufType::kF32, values);
  }
  GgufWriter& i32s(std::string_view key, const std::vector<std::int32_t>& values) {
    return numbers(key, GgufType::kI32, values);
  }
  GgufWriter& bytes(std::string_view key, std::string_view values) {
    return list(key, GgufType::kU8, values.size(), values);
  }
  /// A tensor of float32 zeros; dimensions innermost first.
  GgufWriter& zeros(std::string_view name, const std::vector<std::uint64_t>& dimensions) {
    std::uint64_t n_bytes = sizeof(float);
    for (const std::uint64_t dimension : dimensions) {
      n_bytes *= dimension;
    }
    builder_.tensors.push_back(
        {std::string(name), dimensions, 0, std::string(static_cast<std::size_t>(n_bytes), '\0')});
    return *this;
  }

  /// The whole file.
  std::string file() const { return builder_.bytes(); }

 private:
  GgufWriter& list(std::string_view key, GgufType type, std::size_t size, std::string_view bytes) {
    builder_.add(key, GgufType::kArray, builder_.array(type, size, bytes));
    return *this;
  }
  template <class Number>
  GgufWriter& numbers(std::string_view key, GgufType type, const std::vector<Number>& values) {
    std::string bytes;
    for (const Number value : values) {
      bytes += builder_.number(value);
    }
    return list(key, type, values.size(), bytes);
  }

  GgufBuilder builder_;
};

}  // namespace attnviz::test
