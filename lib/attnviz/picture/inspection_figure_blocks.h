// What the steps of a figure are put together from: vectors and matrices as cells, tables of keys.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "attnviz/analysis/inspection.h"
#include "attnviz/color/role_colors.h"
#include "attnviz/document/inspection_page.h"
#include "attnviz/document/inspection_rows.h"
#include "attnviz/document/inspection_words.h"
#include "attnviz/picture/layout/figure_sheet.h"
#include "attnviz/picture/layout/figure_style.h"

namespace attnviz {

/// A sheet with the place where the next block begins. The page must outlive it.
class FigureBlocks {
 public:
  static constexpr Rgb kText{0x1A, 0x1A, 0x1A};
  static constexpr Rgb kNote{0x55, 0x55, 0x55};
  static constexpr int kWidth = 1080;
  static constexpr int kMargin = 28;
  static constexpr int kLabel = 150;  // the column of labels
  static constexpr int kRow = 18;

  FigureBlocks(const InspectionPage& page, const FigureStyle& style);

  static int room() noexcept { return kWidth - 2 * kMargin; }
  static int cells_x() noexcept { return kMargin + kLabel; }
  static int cells_room() noexcept { return room() - kLabel; }

  const TokenNames& names() const noexcept { return names_; }
  FigureSheet& sheet() noexcept { return sheet_; }
  int y() const noexcept { return y_; }
  void skip(int height) noexcept { y_ += height; }

  /// Vectors of one size below each other, on one scale; cells for numbers of at least
  /// `number_columns`.
  void vectors(const std::vector<VectorRow>& rows, std::size_t number_columns = 0);
  /// A matrix whose columns stand over those of the vector that it makes.
  void matrix(std::string_view name, ConstMatrix values, InspectionRole role,
              std::size_t number_columns);
  /// Those of the shown keys out of `keys`, and what is said of the others.
  void keys(const Inspection& head, ConstMatrix keys, std::size_t number_columns);
  /// What each shown key's score goes through, as numbers in columns, and a bar for its weight.
  void table(const Inspection& head);
  /// A value, its weight, and the share that the context takes of it.
  void shares(const Inspection& head);

 private:
  void label(std::string_view text, InspectionRole role, int y);
  void left_out(const ShownKeys& shown);
  void bars(const Inspection& head, const ShownKeys& shown, int x);

  const InspectionPage& page_;
  TokenNames names_;
  FigureSheet sheet_;
  int y_ = 0;
};

}  // namespace attnviz
