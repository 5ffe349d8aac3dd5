// The hues of query, key and value, the same in every step, on a terminal and in a picture.
#pragma once

#include <array>
#include <cstddef>

#include "attnviz/color/colormap.h"

namespace attnviz {

enum class InspectionRole { kPlain, kQuery, kKey, kValue };

/// A hue, and the same on terminals of 256 and of 16 colours: a palette's index, and the code of a
/// foreground (bright blue, red and green, whose shades themes choose).
struct RoleColor {
  Rgb rgb;
  int index256 = 0;
  int code16 = 0;
};

/// Blue, orange, green: told apart by colour-blind eyes (after Okabe and Ito 2008), and at least
/// 3 : 1 in contrast with white and with black. kPlain: the text colour of a white page.
inline const RoleColor& role_colors(InspectionRole role) noexcept {
  static constexpr std::array kColors = {
      RoleColor{{0x1A, 0x1A, 0x1A}, 0, 0}, RoleColor{{0x00, 0x78, 0xC8}, 32, 94},
      RoleColor{{0xCC, 0x5A, 0x00}, 166, 31}, RoleColor{{0x00, 0x8C, 0x60}, 29, 32}};
  return kColors[static_cast<std::size_t>(role)];
}
inline Rgb role_color(InspectionRole role) noexcept {
  return role_colors(role).rgb;
}

}  // namespace attnviz
