// Colours as the eye measures them: OKLab.
#pragma once

#include <array>

#include "attnviz/color/colormap.h"

namespace attnviz {

/// Lightness in [0, 1], green to red, blue to yellow: equal distances look about equally far.
///
/// Source  Ottosson 2020, "A perceptual color space for image processing".
using Oklab = std::array<double, 3>;

Oklab oklab_from(Rgb color) noexcept;

/// Red, green and blue as intensities (not encoded); colours that no screen shows lie outside of
/// [0, 1].
std::array<double, 3> linear_rgb_from(const Oklab& color) noexcept;

/// Of one sRGB channel: its intensity in [0, 1].
double linear_intensity(std::uint8_t channel) noexcept;
/// The reverse, not rounded: in [0, 255] for intensities in [0, 1].
double encoded_intensity(double intensity) noexcept;

}  // namespace attnviz
