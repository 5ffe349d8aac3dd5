#include "attnviz/render/inspection_colors.h"

#include <fmt/core.h>

#include <array>
#include <cstddef>

namespace attnviz {

namespace {

struct RoleColor {
  Rgb rgb;
  int index256;
  int code16;
};

// In the order of the roles. 16 colours: bright blue, red and green, whose shades themes choose.
constexpr std::array<RoleColor, 4> kColors = {
    RoleColor{{0x1A, 0x1A, 0x1A}, 0, 0}, RoleColor{{0x00, 0x78, 0xC8}, 32, 94},
    RoleColor{{0xCC, 0x5A, 0x00}, 166, 31}, RoleColor{{0x00, 0x8C, 0x60}, 29, 32}};

}  // namespace

Rgb role_color(InspectionRole role) noexcept {
  return kColors[static_cast<std::size_t>(role)].rgb;
}

std::string role_style(InspectionRole role, ColorDepth depth) {
  const RoleColor& color = kColors[static_cast<std::size_t>(role)];
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
