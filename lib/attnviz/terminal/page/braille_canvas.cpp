#include "attnviz/terminal/page/braille_canvas.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "attnviz/core/utf8.h"

namespace attnviz {

namespace {

constexpr std::uint8_t kDotBits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};

}  // namespace

BrailleCanvas::BrailleCanvas(std::size_t columns, std::size_t rows)
    : columns_(columns), rows_(rows), cells_(columns * rows) {}

void BrailleCanvas::line(DotPoint from, DotPoint to, std::size_t period, bool thick,
                         const Style& style) {
  const auto across = static_cast<double>(to.x) - static_cast<double>(from.x);
  const auto down = static_cast<double>(to.y) - static_cast<double>(from.y);
  const double n_steps = std::max({std::abs(across), std::abs(down), 1.0});
  const bool is_steep = std::abs(down) > std::abs(across);
  for (std::size_t step = 0; step <= static_cast<std::size_t>(n_steps); step += period) {
    const double along = static_cast<double>(step) / n_steps;
    const auto x =
        static_cast<std::size_t>(std::lround(static_cast<double>(from.x) + along * across));
    const auto y =
        static_cast<std::size_t>(std::lround(static_cast<double>(from.y) + along * down));
    dot(x, y, style);
    if (thick) {
      dot(is_steep ? x + 1 : x, is_steep ? y : y + 1, style);
    }
  }
}

Line BrailleCanvas::row(std::size_t row) const {
  constexpr char32_t kNoDots = 0x2800;
  Line line;
  for (std::size_t column = 0; column < columns_; ++column) {
    const Cell& cell = cells_[row * columns_ + column];
    if (cell.dots == 0) {
      line.space(1);
      continue;
    }
    std::string sign;
    append_utf8(sign, kNoDots + cell.dots);
    line.put(sign, cell.style);
  }
  return line;
}

void BrailleCanvas::dot(std::size_t x, std::size_t y, const Style& style) {
  if (x >= 2 * columns_ || y >= 4 * rows_) {
    return;
  }
  Cell& cell = cells_[y / 4 * columns_ + x / 2];
  cell.dots = static_cast<std::uint8_t>(cell.dots | kDotBits[y % 4][x % 2]);
  cell.style = style;
}

}  // namespace attnviz
