// The blocks of an inspection on a sheet: vectors and matrices as cells, tables with bars.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attnviz/color/role_colors.h"
#include "attnviz/document/inspection_document.h"
#include "attnviz/picture/figure_sheet.h"
#include "attnviz/picture/layout/figure_style.h"

namespace attnviz {

/// A sheet with the place where the next block begins.
class FigureBlocks {
 public:
  static constexpr Rgb kText{0x1A, 0x1A, 0x1A};
  static constexpr Rgb kNote{0x55, 0x55, 0x55};
  static constexpr int kWidth = 1080;
  static constexpr int kMargin = 28;
  static constexpr int kLabel = 150;  // the column of labels
  static constexpr int kRow = 18;

  explicit FigureBlocks(const FigureStyle& style) : sheet_(kWidth, style) {}

  static int room() noexcept { return kWidth - 2 * kMargin; }
  static int cells_x() noexcept { return kMargin + kLabel; }
  static int cells_room() noexcept { return room() - kLabel; }

  FigureSheet& sheet() noexcept { return sheet_; }
  int y() const noexcept { return y_; }
  void skip(int height) noexcept { y_ += height; }

  /// All blocks of a step.
  void draw(const InspectedStep& step);

 private:
  void draw(const VectorBlock& block, std::size_t number_columns);
  void draw(const MatrixBlock& block, std::size_t number_columns);
  void draw(const TableBlock& block, std::size_t number_columns);
  void draw(const ShareBlock& block, std::size_t number_columns);

  void label(std::string_view text, InspectionRole role, int y);
  void remarks(const std::vector<std::string>& texts);
  void bars(const TableBlock& block, int x);

  FigureSheet sheet_;
  int y_ = 0;
};

}  // namespace attnviz
