// Binary parts of a page: packed, and written as text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "attnviz/color/colormap.h"

namespace attnviz {

/// Numbered parts. Each is compressed as raw DEFLATE (RFC 1951), which browsers unpack, and written
/// in base64 (RFC 4648). Floats are little-endian; of 16-bit numbers all lower bytes come first,
/// then all upper ones, which are alike and so take less room side by side.
class Blobs {
 public:
  /// Takes a part's bytes and gives its number. Throws std::bad_alloc.
  std::size_t add(std::span<const std::uint8_t> bytes);
  std::size_t add(std::span<const std::uint16_t> numbers);
  std::size_t add(std::span<const float> numbers);
  std::size_t add(std::span<const Rgb> colors);

  /// In base64, by number.
  const std::vector<std::string>& texts() const noexcept { return texts_; }

 private:
  std::vector<std::string> texts_;
};

}  // namespace attnviz
