// The hues of query, key and value, the same in every step, on a terminal and in a picture.
#pragma once

#include "attnviz/color/colormap.h"

namespace attnviz {

enum class InspectionRole { kPlain, kQuery, kKey, kValue };

/// Blue, orange, green: told apart by colour-blind eyes (after Okabe and Ito 2008), and at least
/// 3 : 1 in contrast with white and with black. kPlain: the text colour of a white page.
Rgb role_color(InspectionRole role) noexcept;

/// The same on terminals of 256 and of 16 colours: a palette's index, and the code of a foreground.
struct RoleColor {
  Rgb rgb;
  int index256 = 0;
  int code16 = 0;
};
const RoleColor& role_colors(InspectionRole role) noexcept;

}  // namespace attnviz
