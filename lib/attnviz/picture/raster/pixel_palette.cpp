#include "attnviz/picture/raster/pixel_palette.h"

namespace attnviz {

std::optional<std::uint8_t> PixelPalette::number(Rgb color) {
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

}  // namespace attnviz
