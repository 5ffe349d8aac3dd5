// The position of everything in a heatmap figure, computed before anything is painted.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attnviz/color/colormap.h"
#include "attnviz/picture/layout/figure_grid.h"
#include "attnviz/picture/layout/figure_style.h"
#include "attnviz/picture/scene/scene.h"
#include "attnviz/report/figures.h"
#include "attnviz/report/heatmap.h"

namespace attnviz {

// Figures of attention as scenes. How cells show their values: with colours, discs or numbers, or
// only that they exist.

/// A grid of panels with titles, labels, named axes and one colour bar. Throws Error{kUsage} for
/// figures that check() refuses, and as lay_out_figure.
Scene figure_scene(const Heatmap& heatmap, const FigureStyle& style = {});

/// The thumbnails, the chosen one framed, and the chosen head large, as figure_scene draws one.
/// Throws as figure_scene.
Scene overview_scene(const Overview& overview, const FigureStyle& style = {});

/// Cells narrower than this, in pixels at 96 dpi, have shades instead of discs.
constexpr int kLeastDisc = 5;

/// Width of the discs of the highest value, in pixels of the figure; 0 without discs.
int largest_disc(const FigureStyle& style, const FigureGrid& grid) noexcept;

/// The cells of one figure. `scale` must outlive it.
class CellDesign {
 public:
  CellDesign(const ColorScale& scale, const FigureStyle& style, const FigureGrid& grid,
             bool has_numbers);

  /// A fill for each of Colormap::kSteps steps of the scale, then for NaN, then for cells that do
  /// not exist.
  std::vector<Rgb> palette() const;
  static constexpr auto kMasked = static_cast<std::uint8_t>(Colormap::kSteps + 1);
  /// Index of the fill for the shown value of a visible cell.
  std::uint8_t fill(float shown) const noexcept;

  /// The ink of a cell's number, on its fill.
  Rgb number_ink(float shown, Rgb fill) const noexcept;

  bool has_discs() const noexcept { return has_discs_; }
  /// Adds the discs of the visible cells of `image`: their area shows the distance of the value
  /// from the low end of the scale, or from the middle of a scale around zero, whose halves have
  /// different colours. NaN has a fill instead of a disc.
  void add_discs(const PooledMatrix& cells, const CellImage& image,
                 std::vector<SceneItem>& items) const;
  /// Adds the scale, with its low end at the bottom, or on the left of a level bar: fills in a
  /// line, or at each of the bar's `ticks` a disc as large as in the cells.
  void add_bar(const PixelRect& bar, std::span<const PixelRect> ticks, int line,
               std::vector<SceneItem>& items) const;

 private:
  enum class Fill { kScale, kShades, kGround, kInk };

  Rgb step_fill(std::size_t step) const noexcept;
  Rgb disc_ink(float t) const noexcept;

  const ColorScale& scale_;
  const ThemeColors& theme_;
  bool has_discs_;
  double disc_;  // width of the largest disc
  Fill fill_;
};

/// The blank margin around every figure, in pixels at 96 dpi.
constexpr int kFigureMargin = 14;

/// A tick, and the gap between it and its label, in pixels at 96 dpi.
constexpr int kTickLength = 4;
constexpr int kLabelGap = 3;

/// From the edge of a panel or the colour bar to a label: outline, tick, gap.
inline int tick_room(const FigureStyle& style) noexcept {
  return style.pixels(1) + style.pixels(kTickLength) + style.pixels(kLabelGap);
}

/// All lengths are in the figure's own pixels.
struct FigureLayout {
  int width = 0;
  int height = 0;
  int margin = 0;  // blank on all sides
  int line = 1;    // the thickness of outlines and ticks
  FigureGrid grid;
  std::vector<PixelRect> panels;  // the cells of each panel, in the heatmap's order
  PixelRect color_bar;       // low at the bottom, or on the left; empty where cells have no scale
  PixelRect visible_swatch;  // of CellStyle::kMask
  PixelRect masked_swatch;   // empty when no cell is masked
  PixelRect nan_swatch;      // empty when every visible weight is a number
  struct Band {
    PixelRect rect;
    std::size_t role = 0;  // its index in LabelRoles::names
  };
  std::vector<Band> bands;  // beside the labels of a chat, and in its legend
  std::vector<PixelRect> ticks;
  std::vector<TextRun> texts;
  int value_column_width = 0;  // of the numbers in the cells; 0: none fit
};

/// The smallest width of a heatmap's picture, in the figure's own pixels, when fitted to a width.
int least_width(const Heatmap& heatmap, const FigureStyle& style);

/// The grid of a heatmap's panels; with style.width, the largest that fits. Throws as choose_grid
/// and check_fits.
FigureGrid heatmap_grid(const Heatmap& heatmap, const FigureStyle& style);

/// Everything lies inside [0, width) x [0, height), the margin stays free, and texts do not touch
/// other texts, panels, ticks or the legend. Labels thin out evenly (every k-th, including the
/// first, each with its index) where cells are smaller than text. Precondition: at least one panel,
/// query and key, and check(style). With style.width the figure has that width. Throws as
/// heatmap_grid and check_size.
FigureLayout lay_out_figure(const Heatmap& heatmap, const FigureStyle& style = {});

}  // namespace attnviz
