#include "attnviz/terminal/page/role_style.h"

namespace attnviz {

Style role_style(InspectionRole role, ColorDepth depth) {
  if (role == InspectionRole::kPlain) {
    return {};
  }
  constexpr int kBackground = 10;  // behind the code of a foreground
  const RoleColor& color = role_colors(role);
  const int index = depth == ColorDepth::k16 ? color.code16 + kBackground : color.index256;
  return {.ink = PaletteColor{index, color.rgb}};
}

}  // namespace attnviz
