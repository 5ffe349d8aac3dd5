// Lines on a terminal, in dots: 2 by 4 of them in a column's cell. The colours of groups on a
// terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attnviz/color/group_colors.h"
#include "attnviz/terminal/page/page.h"
#include "attnviz/terminal/page/terminal_options.h"

namespace attnviz {

/// A place among the dots: x to the right, y down.
struct DotPoint {
  std::size_t x = 0;
  std::size_t y = 0;
};

/// Dots of U+2800 to U+28FF. A cell has one style: that of the last line through it.
class BrailleCanvas {
 public:
  BrailleCanvas(std::size_t columns, std::size_t rows);

  std::size_t dots_across() const noexcept { return 2 * columns_; }

  /// A straight line with every `period`-th dot of it, at least 1; `thick`: two dots across. What
  /// lies outside is left out.
  void line(DotPoint from, DotPoint to, std::size_t period, bool thick, const Style& style);

  /// One row of cells; those without dots are blank.
  Line row(std::size_t row) const;

 private:
  void dot(std::size_t x, std::size_t y, const Style& style);

  struct Cell {
    std::uint8_t dots = 0;
    Style style;
  };

  std::size_t columns_;
  std::size_t rows_;
  std::vector<Cell> cells_;  // [rows, columns]
};

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
