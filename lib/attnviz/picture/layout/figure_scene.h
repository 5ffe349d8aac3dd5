// Figures of attention as scenes. How cells show their values: filled with colours, as discs, as
// numbers, or only that they exist.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attnviz/color/color_scale.h"
#include "attnviz/document/heatmap.h"
#include "attnviz/document/overview.h"
#include "attnviz/picture/layout/figure_grid.h"
#include "attnviz/picture/layout/figure_style.h"
#include "attnviz/picture/scene/scene.h"

namespace attnviz {

/// A grid of panels with titles, labels, named axes and one colour bar. Throws Error{kUsage} for
/// what check() refuses, and as lay_out_figure.
Scene figure_scene(const Heatmap& heatmap, const FigureStyle& style = {});

/// The thumbnails, the chosen one framed, and the chosen head large, as figure_scene draws one.
/// Throws as figure_scene.
Scene overview_scene(const Overview& overview, const FigureStyle& style = {});

/// Cells narrower than this, in pixels at 96 dpi, have no discs: shades stand for them.
constexpr int kLeastDisc = 5;

/// How wide the discs of the highest value are, in pixels of the figure; 0 where there are none.
int largest_disc(const FigureStyle& style, const FigureGrid& grid) noexcept;

/// The cells of one figure. `scale` must outlive it.
class CellLook {
 public:
  CellLook(const ColorScale& scale, const FigureStyle& style, const FigureGrid& grid,
           bool has_numbers);

  /// A fill for each of Colormap::kSteps steps of the scale, then of NaN, then of cells that do not
  /// exist.
  std::vector<Rgb> palette() const;
  static constexpr auto kMasked = static_cast<std::uint8_t>(Colormap::kSteps + 1);
  /// Which fill stands for what is shown of a visible cell.
  std::uint8_t fill(float shown) const noexcept;

  /// The ink of a cell's number, on its fill.
  Rgb number_ink(float shown, Rgb fill) const noexcept;

  bool has_discs() const noexcept { return has_discs_; }
  /// The discs of the visible cells of `image`: their area is how far the value lies from the low
  /// end of the scale, or from the middle of a scale around zero, whose halves have colours of
  /// their own. Nothing of NaN, which has a fill.
  void add_discs(const PooledMatrix& cells, const CellImage& image,
                 std::vector<SceneItem>& items) const;
  /// The scale from its low end at the bottom, or on the left of a level bar: fills in a line, or
  /// at each of the bar's `ticks` a disc as large as in the cells.
  void add_bar(const PixelRect& bar, std::span<const PixelRect> ticks, int line,
               std::vector<SceneItem>& items) const;

 private:
  enum class Fill { kScale, kShades, kGround, kInk };

  Rgb step_fill(std::size_t step) const noexcept;
  Rgb disc_ink(float t) const noexcept;

  const ColorScale& scale_;
  const ThemeColors& theme_;
  bool has_discs_;
  double disc_;  // the width of the largest
  Fill fill_;
};

}  // namespace attnviz
