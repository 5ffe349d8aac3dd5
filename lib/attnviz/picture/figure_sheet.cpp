#include "attnviz/picture/figure_sheet.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attnviz/core/error.h"
#include "attnviz/picture/raster/canvas.h"
#include "attnviz/picture/raster/png_encode.h"
#include "attnviz/picture/raster/text_rasterizer.h"

namespace attnviz {

namespace {

constexpr Rgb kDark{0x1A, 0x1A, 0x1A};
constexpr Rgb kLight{0xFF, 0xFF, 0xFF};
constexpr Rgb kCellBorder{0xD8, 0xD8, 0xD8};
constexpr int kHighest = 16384;

int columns_of(int pixels, int column_width) {
  constexpr int kLeast = 2;
  return std::max(kLeast, pixels / column_width);
}

}  // namespace

CellRow::CellRow(int left, int room, std::size_t values, std::size_t number_columns)
    : x(left), n_values(values), n_cells(values) {
  constexpr int kPadding = 6;
  constexpr int kWidest = 24;     // of cells without numbers
  constexpr int kNarrowest = 26;  // of cells with numbers
  const int for_number =
      std::max(kNarrowest, static_cast<int>(number_columns) * FigureSheet::kSmallText + kPadding);
  has_numbers = values * static_cast<std::size_t>(for_number) <= static_cast<std::size_t>(room);
  if (has_numbers) {
    cell_width = for_number;
    return;
  }
  n_cells = std::min(values, static_cast<std::size_t>(std::max(1, room)));
  cell_width = std::clamp(room / static_cast<int>(n_cells), 1, kWidest);
}

int FigureSheet::text(std::string_view text, int x, int y, int room, Rgb color, int column_width) {
  const auto most = static_cast<std::size_t>(columns_of(room, column_width));
  std::string cut = style_.fonts->shorten(text, most);
  const int taken = static_cast<int>(style_.fonts->columns(cut)) * column_width;
  texts_.push_back({std::move(cut), x, y, column_width, color});
  return taken;
}

void FigureSheet::text_to(std::string_view text, int right, int y, Rgb color, int column_width) {
  const int taken = static_cast<int>(style_.fonts->columns(text)) * column_width;
  texts_.push_back({std::string(text), right - taken, y, column_width, color});
}

int FigureSheet::paragraph(std::string_view text, int x, int y, int room, Rgb color,
                           int column_width) {
  constexpr std::size_t kMostLines = 12;
  const auto most = static_cast<std::size_t>(columns_of(room, column_width));
  int height = 0;
  for (std::string& line : style_.fonts->wrap(text, most, kMostLines)) {
    texts_.push_back({std::move(line), x, y + height, column_width, color});
    height += line_height(column_width);
  }
  return height;
}

void FigureSheet::cell_border(const CellRow& row, int y, int height) {
  box({row.x - 1, y - 1, row.width() + 2 - row.gap(), height + 1}, kCellBorder);
}

void FigureSheet::cells(const CellRow& row, int y, int height, std::span<const float> values,
                        float largest, const NumberGroup& numbers) {
  const int gap = row.gap();
  const int low_gap = height > 4 ? 1 : 0;  // rows lower than that stand without one
  for (std::size_t cell = 0; cell < row.n_cells; ++cell) {
    const float value = values[row.value_of(cell)];
    const Rgb color = signed_colors_(0.5f + 0.5f * value / largest);
    const int x = row.x + static_cast<int>(cell) * row.cell_width;
    box({x, y, row.cell_width - gap, height - low_gap}, color);
    if (row.has_numbers) {
      const std::string number = numbers.text(value);
      const int wide = static_cast<int>(number.size()) * kSmallText;
      texts_.push_back({number, x + (row.cell_width - gap - wide) / 2,
                        y + (height - low_gap - line_height(kSmallText)) / 2, kSmallText,
                        dark_text_on(color) ? kDark : kLight});
    }
  }
}

std::string FigureSheet::paint(int height) const {
  if (height > kHighest) {
    throw Error(ErrorKind::kUsage,
                fmt::format("picture: {} pixels high, at most {}: take fewer heads or steps",
                            height, kHighest));
  }
  Canvas canvas(width_, height);
  TextRasterizer rasterizer(*style_.fonts);
  for (const SheetBox& item : boxes_) {
    canvas.fill(item.rect, item.color);
  }
  for (const SheetText& item : texts_) {
    canvas.draw(rasterizer.rasterize(item.text, item.column_width, TextAngle::kLevel), item.x,
                item.y, item.color);
  }
  return encode_png(canvas);
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
