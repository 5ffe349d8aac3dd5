// A sheet that grows downwards: texts, rectangles and rows of coloured cells.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/color/colormap.h"
#include "attnviz/core/tensor.h"
#include "attnviz/picture/layout/figure_style.h"
#include "attnviz/picture/scene/scene.h"
#include "attnviz/report/words/number_formats.h"

namespace attnviz {

/// Position of the cells of vectors: one per dimension, side by side, with numbers where all cells
/// have room for them. If there are fewer pixels than cells, evenly chosen ones are drawn.
struct CellRow {
  int x = 0;
  int cell_width = 1;
  std::size_t n_values = 0;  // of the vector
  std::size_t n_cells = 0;   // that are drawn
  bool has_numbers = false;

  /// For vectors of `n_values` numbers, each at most `number_columns` wide, in `room` pixels.
  CellRow(int left, int room, std::size_t n_values, std::size_t number_columns,
          const FigureStyle& style = {});
  std::size_t value_of(std::size_t cell) const noexcept { return cell * n_values / n_cells; }
  int width() const noexcept { return static_cast<int>(n_cells) * cell_width; }
  int gap() const noexcept {
    return cell_width >= 5 ? 1 : 0;
  }  // between cells that are wide enough
};

class FigureSheet {
 public:
  static constexpr int kSmallText = 6;  // column widths, in pixels at 96 dpi
  static constexpr int kText = 7;
  static constexpr int kTitle = 9;

  /// The fonts of `style` must outlive it.
  FigureSheet(int width, const FigureStyle& style)
      : width_(width), style_(style), text_(style.pixels(kText)) {}

  int width() const noexcept { return width_; }
  /// In pixels of the figure, as all lengths here.
  int width_of(std::string_view text) const {
    return static_cast<int>(style_.fonts->columns(text)) * text_;
  }
  /// Returns the text cut to `room`.
  std::string fitted(std::string_view text, int room, int column_width) const;

  /// Adds the text cut to `room` pixels; returns the pixels that it takes. A column width of 0
  /// means that of kText.
  int text(std::string_view text, int x, int y, int room, Rgb color, int column_width = 0);
  /// Adds a right-aligned text that ends before `right`.
  void text_to(std::string_view text, int right, int y, Rgb color, int column_width = 0);
  /// Adds a text broken into lines of at most `room` pixels; returns the height.
  int paragraph(std::string_view text, int x, int y, int room, Rgb color, int column_width = 0);
  void box(const PixelRect& rect, Rgb color) { shapes_.emplace_back(Rectangle{rect, color}); }

  /// The background of rows of cells with a total height of `height`, visible in their gaps.
  void cell_border(const CellRow& row, int y, int height);
  /// Adds one row of cells `height` high, coloured from -largest to largest.
  void cells(const CellRow& row, int y, int height, std::span<const float> values, float largest,
             const NumberGroup& numbers);

  /// Returns a sheet of this height, with texts on top. Throws Error{kUsage} when it is too high.
  Scene scene(int height) &&;

 private:
  // Returns the pixels that the text takes.
  int add_text(std::string text, int x, int y, int column_width, Rgb color);
  std::vector<Rgb> palette() const;

  int width_;
  FigureStyle style_;
  int text_;  // the usual column width
  Colormap signed_colors_{"blue-red"};
  std::vector<SceneItem> shapes_;
  std::vector<SceneItem> texts_;
};

/// The largest absolute value among the finite ones, at least the smallest normal float.
float largest_size(ConstMatrix values) noexcept;

}  // namespace attnviz
