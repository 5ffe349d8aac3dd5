// A GGUF file taken apart, to be written as another program would.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/gguf_builder.h"

namespace attnviz::test {

/// Keys and tensors of a little-endian file of version 3 with tensors in F32, F16 or BF16.
struct GgufParts {
  struct Key {
    std::string name;
    GgufType type = GgufType::kU32;
    std::string value;  // as stored in the file
  };
  std::vector<Key> keys;
  std::vector<GgufBuilder::Tensor> tensors;

  /// Fails the test for files of another kind.
  explicit GgufParts(const std::filesystem::path& path);

  GgufBuilder::Tensor& tensor(std::string_view name);
  bool has(std::string_view name) const;
  /// Renames a key or tensor.
  void rename(std::string_view from, std::string_view to);
  /// Replaces a key's value, or adds a key.
  void set(std::string_view key, GgufType type, std::string value);
  void set_u32(std::string_view key, std::uint32_t value);
  void set_flag(std::string_view key, bool value);
  void set_list(std::string_view key, const std::vector<std::uint32_t>& values);
  std::uint32_t u32(std::string_view key) const;
  /// Drops a key.
  void erase(std::string_view key);

  std::string bytes() const;
};

/// Bytes of a number of a tensor.
std::size_t number_bytes(const GgufBuilder::Tensor& tensor);

}  // namespace attnviz::test
