// The colours of weights: one perceptually even scale from dark violet to bright yellow.
#pragma once

#include <cstdint>

namespace attnviz {

/// One sRGB colour, 8 bits a channel.
struct Rgb {
  std::uint8_t r = 0;
  std::uint8_t g = 0;
  std::uint8_t b = 0;

  bool operator==(const Rgb&) const = default;
};

/// What colormap() gives for NaN: a red that the scale does not have.
inline constexpr Rgb kNanColor{0xE0, 0x20, 0x20};

/// The colour of `t`, clamped to [0, 1]. Lightness grows strictly over 256 even steps, so the scale
/// survives grey print and colour-blind eyes. NaN gives kNanColor.
///
/// Source  nine colours along viridis (van der Walt and Smith 2015, CC0), interpolated in OKLab
///         (Ottosson 2020).
Rgb colormap(float t) noexcept;

/// Whether black text contrasts more with `background` than white text does.
///
/// Source  contrast ratio and relative luminance of WCAG 2.1.
bool dark_text_on(Rgb background) noexcept;

}  // namespace attnviz
