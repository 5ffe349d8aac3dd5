// An 8-bit sRGB picture in memory, with rectangles and text; pictures with few colours have a
// palette.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "attnviz/color/colormap.h"
#include "attnviz/core/mapped_file.h"
#include "attnviz/picture/fonts/glyphs.h"
#include "attnviz/picture/scene/scene.h"

namespace attnviz {

/// Up to 256 colours, numbered in the order of their first use.
class PixelPalette {
 public:
  static constexpr std::size_t kMostColors = 256;

  /// Returns the colour's number, a new one if necessary; nothing when all numbers are used.
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

/// Initially of one colour. Everything drawn is clipped at the edges.
///
/// While at most 256 colours have been drawn, a pixel is the number of its colour; afterwards it is
/// three channels. Numbers take a third of the memory, and the colours of a PNG need not be
/// counted.
class Canvas {
 public:
  /// The pixel value of a colour, for painting with the same few colours repeatedly.
  using Code = std::uint32_t;
  /// Never current.
  static constexpr Code kNoCode = Code{2} << 24;

  /// Throws Error{kUsage} when a side is not positive or the bytes overflow.
  Canvas(int width, int height, Rgb background = {255, 255, 255});

  int width() const noexcept { return width_; }
  int height() const noexcept { return height_; }
  /// Precondition: inside the picture.
  Rgb at(int x, int y) const noexcept;

  bool has_palette() const noexcept { return channels_ == 1; }
  /// The colours that pixels refer to, when there is a palette.
  std::span<const Rgb> palette() const noexcept { return palette_.colors(); }
  /// Shape [height, width] with a palette, [height, width, 3] without.
  std::span<const std::uint8_t> pixels() const noexcept { return pixels_; }

  void fill(const PixelRect& rect, Rgb color);

  /// Returns the code of a colour. A colour that exceeds the palette converts the picture to
  /// channels.
  Code code(Rgb color);
  /// Whether the code is still valid: codes from before the conversion to channels are not.
  bool is_current(Code code) const noexcept { return code >> 24 == (has_palette() ? 0u : 1u); }
  /// Fills a row `width` pixels long. Precondition: the code is current.
  void fill_row(int x, int y, int width, Code code) noexcept;

  /// Draws lines from the lower left to the upper right, `thickness` wide to the right and
  /// `spacing` apart, which continue in other rectangles with the same hatching.
  void hatch(const PixelRect& rect, Rgb color, int spacing, int thickness);

  /// Copies the topmost row of `rect` over its other rows.
  void repeat_top_row(const PixelRect& rect) noexcept;

  /// Mixes `color` into each pixel of `rect`, which lies inside the picture, by its share of 255:
  /// shape [rect.height, rect.width].
  void blend(const PixelRect& rect, std::span<const std::uint8_t> shares, Rgb color);

  /// Draws ink in `color`, mixed with the pixels below by its amount in fifteenths, and its image
  /// over it, with the origin of the ink at (x, y). Mixed in sRGB: in linear light, small dark text
  /// would become too thin.
  void draw(const InkMap& ink, int x, int y, Rgb color);

 private:
  using Pixels = std::vector<std::uint8_t, ZeroedAllocator<std::uint8_t>>;
  PixelRect clipped(const PixelRect& rect) const noexcept;
  /// Precondition: the area lies inside the picture, and is not empty.
  void repeat_first_row(const PixelRect& area) noexcept;
  std::uint8_t* pixel(int x, int y) noexcept { return pixels_.data() + offset(x, y); }
  std::size_t offset(int x, int y) const noexcept {
    return (static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) +
            static_cast<std::size_t>(x)) *
           channels_;
  }
  /// A pixel's bytes, the first one lowest: with a palette only one, otherwise three, followed by
  /// 1.
  static Code code_of(std::uint8_t first, std::uint8_t second, std::uint8_t third) noexcept {
    return first | Code{second} << 8 | Code{third} << 16 | Code{1} << 24;
  }
  Code code_at(const std::uint8_t* pixel) const noexcept {
    return has_palette() ? pixel[0] : code_of(pixel[0], pixel[1], pixel[2]);
  }
  /// Converts the palette to channels; pointers to pixels become invalid.
  void widen();
  void paint(std::uint8_t* pixel, Code code) const noexcept {
    pixel[0] = static_cast<std::uint8_t>(code);
    if (!has_palette()) {
      pixel[1] = static_cast<std::uint8_t>(code >> 8);
      pixel[2] = static_cast<std::uint8_t>(code >> 16);
    }
  }
  void paint_pixel(int x, int y, Code code) noexcept { paint(pixel(x, y), code); }
  void paint_row(int x, int y, int count, Code code) noexcept;

  int width_;
  int height_;
  std::size_t channels_ = 1;
  PixelPalette palette_;
  Pixels pixels_;
};

}  // namespace attnviz
