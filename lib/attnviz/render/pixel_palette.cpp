#include "attnviz/render/pixel_palette.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace attnviz {

namespace {

constexpr std::size_t kMostColors = 256;

// Colours by number, in an open hash table that is never more than a quarter full.
class ColorNumbers {
 public:
  // The colour's number, a new one when it was not seen; nothing when numbers run out.
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

  std::vector<Rgb> take_colors() { return std::move(colors_); }

 private:
  static constexpr unsigned kSlotBits = 10;
  static constexpr std::size_t kSlots = std::size_t{1} << kSlotBits;

  std::array<std::uint32_t, kSlots> keys_{};  // 0: free
  std::array<std::uint8_t, kSlots> numbers_{};
  std::vector<Rgb> colors_;
};

constexpr std::size_t kSpan = 64;  // pixels that are compared at once with those above

// False when numbers run out.
bool index_span(const std::uint8_t* rgb, std::size_t count, ColorNumbers& numbers,
                std::uint8_t* indices) {
  Rgb last;
  for (std::size_t x = 0; x < count; ++x) {
    const Rgb color{rgb[3 * x], rgb[3 * x + 1], rgb[3 * x + 2]};
    if (x > 0 && color == last) {
      indices[x] = indices[x - 1];
      continue;
    }
    const auto number = numbers.number(color);
    if (!number) {
      return false;
    }
    indices[x] = *number;
    last = color;
  }
  return true;
}

}  // namespace

std::optional<IndexedPixels> index_pixels(std::span<const std::uint8_t> rgb, std::size_t width,
                                          std::size_t height) {
  ColorNumbers numbers;
  IndexedPixels pixels;
  pixels.indices.resize(width * height);
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t first = 0; first < width; first += kSpan) {
      const std::size_t count = std::min(kSpan, width - first);
      const std::uint8_t* span = rgb.data() + (y * width + first) * 3;
      std::uint8_t* indices = pixels.indices.data() + y * width + first;
      // Cells are several pixels high: most spans repeat the one above.
      if (y > 0 && std::memcmp(span, span - width * 3, count * 3) == 0) {
        std::memcpy(indices, indices - width, count);
      } else if (!index_span(span, count, numbers, indices)) {
        return std::nullopt;
      }
    }
  }
  pixels.palette = numbers.take_colors();
  return pixels;
}

}  // namespace attnviz
