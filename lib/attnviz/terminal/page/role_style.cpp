#include "attnviz/terminal/page/role_style.h"

#include <fmt/core.h>

namespace attnviz {

std::string role_style(InspectionRole role, ColorDepth depth) {
  const RoleColor& color = role_colors(role);
  if (role == InspectionRole::kPlain || depth == ColorDepth::kNone) {
    return {};
  }
  if (depth == ColorDepth::k16) {
    return fmt::format("{}", color.code16);
  }
  if (depth == ColorDepth::k256) {
    return fmt::format("38;5;{}", color.index256);
  }
  return fmt::format("38;2;{};{};{}", color.rgb.r, color.rgb.g, color.rgb.b);
}

}  // namespace attnviz
