// Colours that distinguish groups, for example heads whose lines cross in one picture. The hues of
// query, key and value, the same in every step, on a terminal and in a picture.
#pragma once

#include <array>
#include <cstddef>

#include "attnviz/color/colormap.h"

namespace attnviz {

/// The number of groups that have a colour of their own.
inline constexpr std::size_t kMostGroups = 12;
/// The colours after those of the groups: for values below zero and above zero.
inline constexpr std::size_t kBelowZero = kMostGroups;
inline constexpr std::size_t kAboveZero = kMostGroups + 1;

/// The colour of one group on each medium.
struct GroupColor {
  Rgb light;              // on white: contrast at least 2.6 : 1
  Rgb dark;               // on the dark page of figures: contrast at least 4 : 1
  Rgb terminal;           // contrast at least 2.7 : 1 with white and with black
  int terminal_256 = 0;   // `terminal` in a palette of 256
  int terminal_code = 0;  // foreground code in a palette of 16
};

/// The colour of group `number`, at most kAboveZero; the first ones are the easiest to distinguish.
///
/// Source  chosen by annealing, which maximises the smallest distance between two colours in OKLab:
///         as seen without long- or without middle-wave cones (Machado, Oliveira and Fernandes
///         2009) and, times about a half, as seen with all cones. Terminal colours are among the
///         216 that terminal palettes share.
inline const GroupColor& group_color(std::size_t number) noexcept {
  static constexpr std::array<GroupColor, kMostGroups + 2> kColors = {{
      {{0x05, 0x00, 0xFF}, {0x73, 0xB4, 0xFF}, {0x5F, 0x87, 0xFF}, 69, 94},
      {{0x1E, 0xAF, 0x00}, {0xF5, 0x9B, 0x0A}, {0xD7, 0x87, 0x00}, 172, 33},
      {{0xFA, 0x0F, 0xC8}, {0x4B, 0xFF, 0x0F}, {0xFF, 0x00, 0x5F}, 197, 91},
      {{0x0F, 0x87, 0xB9}, {0xFF, 0x0A, 0x0F}, {0x5F, 0x87, 0x5F}, 65, 32},
      {{0xF5, 0x73, 0x7D}, {0xE1, 0x8C, 0xBE}, {0xAF, 0x00, 0xAF}, 127, 35},
      {{0x8C, 0x73, 0x05}, {0x19, 0xFA, 0xFF}, {0x00, 0x5F, 0x87}, 24, 36},
      {{0x78, 0x14, 0x46}, {0x8C, 0x55, 0xFF}, {0xAF, 0x5F, 0x00}, 130, 31},
      {{0x96, 0x78, 0xFF}, {0xF0, 0xFA, 0xA5}, {0x5F, 0x87, 0xAF}, 67, 96},
      {{0x23, 0x5F, 0x00}, {0x00, 0x8C, 0x37}, {0x5F, 0x00, 0xFF}, 57, 34},
      {{0x73, 0x00, 0xB9}, {0x0F, 0x82, 0xB9}, {0xFF, 0x00, 0xD7}, 200, 95},
      {{0xA5, 0x55, 0x7D}, {0xE6, 0x0F, 0x9B}, {0xAF, 0x00, 0x5F}, 125, 93},
      {{0x28, 0x41, 0x7D}, {0x73, 0xC8, 0x7D}, {0xAF, 0x00, 0x00}, 124, 92},
      {{0x0A, 0x55, 0xC8}, {0x5A, 0xAA, 0xFF}, {0x00, 0x87, 0xFF}, 33, 94},
      {{0xC8, 0x1E, 0x28}, {0xFF, 0x6B, 0x5A}, {0xFF, 0x00, 0x00}, 196, 91},
  }};
  return kColors[number];
}

enum class InspectionRole { kPlain, kQuery, kKey, kValue };

/// A hue, and its nearest colours on terminals of 256 and of 16 colours: a palette index, and a
/// foreground code (bright blue, red and green, whose shades depend on the theme).
struct RoleColor {
  Rgb rgb;
  int index256 = 0;
  int code16 = 0;
};

/// Blue, orange, green: distinguishable with colour-blind eyes (after Okabe and Ito 2008), with a
/// contrast of at least 3 : 1 against white and against black. kPlain: the text colour of a white
/// page.
inline const RoleColor& role_colors(InspectionRole role) noexcept {
  static constexpr std::array kColors = {
      RoleColor{{0x1A, 0x1A, 0x1A}, 0, 0}, RoleColor{{0x00, 0x78, 0xC8}, 32, 94},
      RoleColor{{0xCC, 0x5A, 0x00}, 166, 31}, RoleColor{{0x00, 0x8C, 0x60}, 29, 32}};
  return kColors[static_cast<std::size_t>(role)];
}
inline Rgb role_color(InspectionRole role) noexcept {
  return role_colors(role).rgb;
}

// Colours as the eye measures them: OKLab.

/// Lightness in [0, 1], green to red, blue to yellow: equal distances look about equally far.
///
/// Source  Ottosson 2020, "A perceptual color space for image processing".
using Oklab = std::array<double, 3>;

Oklab oklab_from(Rgb color) noexcept;

/// Red, green and blue as intensities (not encoded); colours that no screen can show lie outside
/// [0, 1].
std::array<double, 3> linear_rgb_from(const Oklab& color) noexcept;

/// The intensity of one sRGB channel, in [0, 1].
double linear_intensity(std::uint8_t channel) noexcept;
/// The inverse, not rounded: in [0, 255] for intensities in [0, 1].
double encoded_intensity(double intensity) noexcept;

}  // namespace attnviz
