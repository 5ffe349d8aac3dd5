#include "attnviz/picture/inspection_figure_blocks.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <variant>

#include "attnviz/picture/raster/text_rasterizer.h"

namespace attnviz {

namespace {

using Role = InspectionRole;

constexpr Rgb kBar{0x6E, 0x6E, 0x6E};
constexpr Rgb kBarGround{0xF0, 0xF0, 0xF0};

constexpr int kGap = 5;      // between blocks that stand apart
constexpr int kTextTop = 1;  // of a text in its row

}  // namespace

void FigureBlocks::draw(const InspectedStep& step) {
  for (const InspectionBlock& block : step.blocks) {
    std::visit([&](const auto& some) { draw(some, step.number_columns); }, block);
  }
}

void FigureBlocks::label(std::string_view text, Role role, int y) {
  const Rgb color = role_color(role);
  if (role != Role::kPlain) {
    sheet_.box({kMargin, y, 3, kRow - 1}, color);
  }
  sheet_.text(text, kMargin + 8, y + kTextTop, kLabel - 16, color);
}

// Cells for numbers of at least `number_columns`.
void FigureBlocks::draw(const VectorBlock& block, std::size_t number_columns) {
  float largest = 0.0f;
  for (const VectorRow& row : block.rows) {
    largest = std::max(largest,
                       largest_size({row.values.data(), 1, row.values.size(), row.values.size()}));
  }
  y_ += block.is_apart ? kGap : 0;
  const CellRow cells(cells_x(), cells_room(), block.rows.front().values.size(),
                      std::max(number_columns, block.numbers.width()));
  sheet_.cell_border(cells, y_, kRow * static_cast<int>(block.rows.size()));
  for (const VectorRow& row : block.rows) {
    label(row.label, row.role, y_);
    sheet_.cells(cells, y_, kRow, row.values, largest, block.numbers);
    y_ += kRow;
  }
  remarks(block.remarks);
}

// A matrix whose columns stand over those of the vector that it makes.
void FigureBlocks::draw(const MatrixBlock& block, std::size_t number_columns) {
  constexpr int kHighest = 128;
  const ConstMatrix values = block.values;
  NumberGroup numbers;
  numbers.add(values);
  CellRow cells(cells_x(), cells_room(), values.cols, number_columns);
  const auto n_rows = static_cast<int>(std::min<std::size_t>(values.rows, kHighest));
  const bool all_rows_fit = n_rows * kRow <= kHighest;
  cells.has_numbers = cells.has_numbers && all_rows_fit;
  const int height = all_rows_fit ? kRow : std::max(1, kHighest / n_rows);
  label(block.title, block.role, y_);
  const float largest = largest_size(values);
  sheet_.cell_border(cells, y_, height * n_rows);
  for (int row = 0; row < n_rows; ++row) {
    const std::size_t source =
        static_cast<std::size_t>(row) * values.rows / static_cast<std::size_t>(n_rows);
    sheet_.cells(cells, y_, height, values.row(source), largest, numbers);
    y_ += height;
  }
  y_ += kGap;
}

void FigureBlocks::remarks(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    sheet_.text(text, kMargin + 8, y_, room(), kNote, FigureSheet::kSmallText);
    y_ += line_height(FigureSheet::kSmallText);
  }
}

// Numbers in columns, and a bar for the weight.
void FigureBlocks::draw(const TableBlock& block, std::size_t /*number_columns*/) {
  constexpr int kColumn = 108;
  constexpr int kNarrowColumn = 92;  // of so many that the bars need the room
  constexpr std::size_t kUsualColumns = 7;
  const int column_width = block.columns.size() > kUsualColumns ? kNarrowColumn : kColumn;
  int right = cells_x();
  for (const TableColumn& column : block.columns) {
    right += column_width;
    sheet_.text_to(column.heading, right, y_, kNote);
    for (std::size_t i = 0; i < block.rows.size(); ++i) {
      sheet_.text_to(column.cells[i], right, y_ + kRow * static_cast<int>(i + 1) + kTextTop,
                     block.rows[i].is_faint ? kNote : kText);
    }
  }
  if (!block.bars.empty()) {
    bars(block, right + 24);
  }
  y_ += kRow;
  for (const TableRow& row : block.rows) {
    label(row.label.text, row.label.role, y_);
    y_ += kRow;
  }
  remarks(block.remarks);
}

void FigureBlocks::bars(const TableBlock& block, int x) {
  const int wide = kWidth - kMargin - x;
  sheet_.text("0", x, y_, wide, kNote);
  sheet_.text_to(fmt::format("{:.3g}", block.bar_end), x + wide, y_, kNote);
  for (std::size_t i = 0; i < block.bars.size(); ++i) {
    const int top = y_ + kRow * static_cast<int>(i + 1) + 3;
    const double share = std::min(1.0, static_cast<double>(block.bars[i]) / block.bar_end);
    const int filled = static_cast<int>(std::lround(share * wide));
    sheet_.box({x, top, wide, kRow - 6}, kBarGround);
    sheet_.box({x, top, share > 0.0 ? std::max(1, filled) : 0, kRow - 6}, kBar);
  }
}

// A value, its weight, and the share that the context takes of it.
void FigureBlocks::draw(const ShareBlock& block, std::size_t /*number_columns*/) {
  constexpr int kWeight = 76;
  NumberGroup values, shares;
  values.add(block.values);
  shares.add(block.shares);
  const int half = (cells_room() - kWeight) / 2;
  const std::size_t wide = std::max(values.width(), shares.width());
  const CellRow left(cells_x(), half, block.values.cols, wide);
  const CellRow right(cells_x() + left.width() + kWeight, half, block.values.cols, wide);
  sheet_.text("v", left.x, y_, half, role_color(Role::kValue));
  sheet_.text_to("· weight =", right.x - 6, y_, kNote);
  sheet_.text("weight · v", right.x, y_, half, role_color(Role::kValue));
  y_ += kRow;
  const float largest = largest_size(block.values);
  const float largest_share = largest_size(block.shares);
  for (const ShareBlock::Row& row : block.rows) {
    label(row.label, Role::kValue, y_);
    sheet_.cell_border(left, y_, kRow);
    sheet_.cell_border(right, y_, kRow);
    sheet_.cells(left, y_, kRow, row.value, largest, values);
    sheet_.text_to(row.weight, right.x - 8, y_ + kTextTop, kText);
    sheet_.cells(right, y_, kRow, row.share, largest_share, shares);
    y_ += kRow;
  }
  remarks(block.remarks);
}

}  // namespace attnviz
