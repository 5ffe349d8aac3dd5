// The colours of a picture of few colours, by number.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "attnviz/color/colormap.h"

namespace attnviz {

/// Up to 256 colours in the order in which they were first asked for.
class PixelPalette {
 public:
  static constexpr std::size_t kMostColors = 256;

  /// The colour's number, a new one when it has none; nothing when the numbers are used up.
  std::optional<std::uint8_t> number(Rgb color) {
    const std::uint32_t key =
        1 + (std::uint32_t{color.r} << 16 | std::uint32_t{color.g} << 8 | std::uint32_t{color.b});
    constexpr std::uint32_t kGoldenRatio = 0x9E3779B1;  // Knuth's multiplicative hashing
    std::size_t slot = key * kGoldenRatio >> (32 - kSlotBits);
    while (keys_[slot] != 0 && keys_[slot] != key) {
      slot = (slot + 1) % kSlots;
    }
    if (keys_[slot] == 0) {
      if (colors_.size() == kMostColors) {
        return std::nullopt;
      }
      keys_[slot] = key;
      numbers_[slot] = static_cast<std::uint8_t>(colors_.size());
      colors_.push_back(color);
    }
    return numbers_[slot];
  }

  std::span<const Rgb> colors() const noexcept { return colors_; }

 private:
  // An open hash table that is never more than a quarter full.
  static constexpr unsigned kSlotBits = 10;
  static constexpr std::size_t kSlots = std::size_t{1} << kSlotBits;

  std::array<std::uint32_t, kSlots> keys_{};  // 0: free
  std::array<std::uint8_t, kSlots> numbers_{};
  std::vector<Rgb> colors_;
};

}  // namespace attnviz
