#include "attnviz/color/role_colors.h"

#include <array>
#include <cstddef>

namespace attnviz {

namespace {

// In the order of the roles. 16 colours: bright blue, red and green, whose shades themes choose.
constexpr std::array<RoleColor, 4> kColors = {
    RoleColor{{0x1A, 0x1A, 0x1A}, 0, 0}, RoleColor{{0x00, 0x78, 0xC8}, 32, 94},
    RoleColor{{0xCC, 0x5A, 0x00}, 166, 31}, RoleColor{{0x00, 0x8C, 0x60}, 29, 32}};

}  // namespace

Rgb role_color(InspectionRole role) noexcept {
  return role_colors(role).rgb;
}

const RoleColor& role_colors(InspectionRole role) noexcept {
  return kColors[static_cast<std::size_t>(role)];
}

}  // namespace attnviz
