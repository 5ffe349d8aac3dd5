#include "attnviz/picture/layout/figure_sheet.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/picture/fonts/glyphs.h"
#include "attnviz/picture/layout/figure_grid.h"
#include "attnviz/picture/layout/figure_labels.h"

namespace attnviz {

namespace {

constexpr Rgb kCellBorder{0xD8, 0xD8, 0xD8};
constexpr Rgb kDarkCellBorder{0x44, 0x48, 0x50};
constexpr int kHighest = 16384;

int columns_of(int pixels, int column_width) {
  constexpr int kLeast = 2;
  return std::max(kLeast, pixels / column_width);
}

}  // namespace

CellRow::CellRow(int left, int room, std::size_t values, std::size_t number_columns,
                 const FigureStyle& style)
    : x(left), n_values(values), n_cells(values) {
  constexpr int kPadding = 6;
  constexpr int kWidest = 24;     // of cells without numbers
  constexpr int kNarrowest = 26;  // of cells with numbers
  const int for_number =
      std::max(style.pixels(kNarrowest),
               static_cast<int>(number_columns) * style.pixels(FigureSheet::kSmallText) +
                   style.pixels(kPadding));
  has_numbers = values * static_cast<std::size_t>(for_number) <= static_cast<std::size_t>(room);
  if (has_numbers) {
    cell_width = for_number;
    return;
  }
  n_cells = std::min(values, static_cast<std::size_t>(std::max(1, room)));
  cell_width = std::clamp(room / static_cast<int>(n_cells), 1, style.pixels(kWidest));
}

int FigureSheet::add_text(std::string text, int x, int y, int column_width, Rgb color) {
  const std::size_t columns = style_.fonts->columns(text);
  texts_.emplace_back(TextRun{TextRole::kPlain, std::move(text), columns, column_width,
                              TextAngle::kLevel, x, y, color});
  return static_cast<int>(columns) * column_width;
}

std::string FigureSheet::fitted(std::string_view text, int room, int column_width) const {
  return style_.fonts->shorten(text, static_cast<std::size_t>(columns_of(room, column_width)));
}

int FigureSheet::text(std::string_view text, int x, int y, int room, Rgb color, int column_width) {
  column_width = column_width > 0 ? column_width : text_;
  return add_text(fitted(text, room, column_width), x, y, column_width, color);
}

void FigureSheet::text_to(std::string_view text, int right, int y, Rgb color, int column_width) {
  column_width = column_width > 0 ? column_width : text_;
  const int taken = static_cast<int>(style_.fonts->columns(text)) * column_width;
  add_text(std::string(text), right - taken, y, column_width, color);
}

int FigureSheet::paragraph(std::string_view text, int x, int y, int room, Rgb color,
                           int column_width) {
  constexpr std::size_t kMostLines = 12;
  column_width = column_width > 0 ? column_width : text_;
  const auto most = static_cast<std::size_t>(columns_of(room, column_width));
  int height = 0;
  for (std::string& line : style_.fonts->wrap(text, most, kMostLines)) {
    add_text(std::move(line), x, y + height, column_width, color);
    height += line_height(column_width);
  }
  return height;
}

// Around zero: white on a light sheet; on a dark one the background, since white would stand out
// the most.
std::vector<Rgb> FigureSheet::palette() const {
  std::vector<Rgb> colors = signed_colors_.step_colors();
  if (style_.theme == FigureTheme::kLight) {
    return colors;
  }
  constexpr float kBright = 0.36f;  // from the middle of the map: its ends are too dark
  for (std::size_t step = 0; step < Colormap::kSteps; ++step) {
    const float t = static_cast<float>(step) / static_cast<float>(Colormap::kSteps - 1);
    const Rgb end = signed_colors_(t < 0.5f ? 0.5f - kBright : 0.5f + kBright);
    colors[step] = mixed(kDarkColors.cell, end, static_cast<double>(std::abs(2.0f * t - 1.0f)));
  }
  return colors;
}

void FigureSheet::cell_border(const CellRow& row, int y, int height) {
  const bool is_dark = style_.theme == FigureTheme::kDark;
  box({row.x - 1, y - 1, row.width() + 2 - row.gap(), height + 1},
      is_dark ? kDarkCellBorder : kCellBorder);
}

void FigureSheet::cells(const CellRow& row, int y, int height, std::span<const float> values,
                        float largest, const NumberGroup& numbers) {
  const int low_gap = height > 4 ? 1 : 0;  // lower rows have no gap
  auto colors = std::make_shared<CellColors>();
  colors->rows = 1;
  colors->cols = row.n_cells;
  colors->palette = palette();
  for (std::size_t cell = 0; cell < row.n_cells; ++cell) {
    const float share = 0.5f + 0.5f * values[row.value_of(cell)] / largest;
    colors->numbers.push_back(static_cast<std::uint8_t>(signed_colors_.step(share)));
  }
  const CellImage image = {{row.x, y, row.width() - row.gap(), height - low_gap},
                           row.cell_width,
                           height,
                           row.gap(),
                           low_gap,
                           colors};
  shapes_.emplace_back(image);
  for (std::size_t cell = 0; row.has_numbers && cell < row.n_cells; ++cell) {
    TextRun number = cell_number(TextRole::kPlain, numbers.text(values[row.value_of(cell)]),
                                 style_.pixels(kSmallText), image.cell(0, cell));
    number.color = ink_on(colors->at(0, cell));
    texts_.push_back(std::move(number));
  }
}

Scene FigureSheet::scene(int height) && {
  if (height > style_.pixels(kHighest)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("picture: {} pixels high, at most {}: choose fewer heads or steps",
                            height, style_.pixels(kHighest)));
  }
  Scene scene;
  scene.width = width_;
  scene.height = height;
  check_size(width_, height, style_);
  scene.dpi = style_.dpi;
  scene.background = theme_colors(style_.theme).background;
  scene.items = std::move(shapes_);
  std::move(texts_.begin(), texts_.end(), std::back_inserter(scene.items));
  return scene;
}

float largest_size(ConstMatrix values) noexcept {
  float largest = std::numeric_limits<float>::min();
  for (std::size_t row = 0; row < values.rows; ++row) {
    for (const float value : values.row(row)) {
      largest = std::isfinite(value) ? std::max(largest, std::abs(value)) : largest;
    }
  }
  return largest;
}

}  // namespace attnviz
