// The colours of groups on a terminal.
#pragma once

#include <cstddef>

#include "attnviz/color/group_colors.h"
#include "attnviz/terminal/page/page.h"
#include "attnviz/terminal/page/terminal_options.h"

namespace attnviz {

/// The ink of group_color(number); none without colours.
inline Style group_ink(std::size_t number, ColorDepth depth) noexcept {
  if (depth == ColorDepth::kNone) {
    return {};
  }
  constexpr int kFillOfInk = 10;  // codes of 16 colours are those of fills
  const GroupColor& color = group_color(number);
  return {.ink = PaletteColor{
              depth == ColorDepth::k16 ? color.terminal_code + kFillOfInk : color.terminal_256,
              color.terminal}};
}

}  // namespace attnviz
