// The layout of a whole picture, for each kind of figure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/color/group_colors.h"
#include "attnviz/picture/fonts/glyphs.h"
#include "attnviz/picture/layout/figure_grid.h"
#include "attnviz/picture/layout/figure_labels.h"
#include "attnviz/picture/layout/figure_layout.h"
#include "attnviz/picture/layout/figure_style.h"
#include "attnviz/picture/scene/scene.h"
#include "attnviz/report/figures.h"
#include "attnviz/report/heatmap.h"
#include "attnviz/report/lessons/line_chart.h"
#include "attnviz/report/patterns/focus_bars.h"

namespace attnviz {

/// Title, the colours of the groups, panels beside each other as far as they fit, the meaning of
/// widths and opacities, and notes. style.cell is the distance between tokens; without it, tokens
/// are as far apart as a picture of a usual size allows, at least a pixel. Throws Error{kUsage} for
/// a style that check() refuses and as check_size().
Scene arcs_scene(const ArcsFigure& figure, const FigureStyle& style = {});

/// Title, lists of bars beside each other as far as they fit, and notes. Each list shows one head:
/// a row for each token in the order of the text, with its label (once for all lists of a band),
/// its bar and its percentage; all bars have one scale. `focus` comes from focus_heatmap(). Throws
/// Error{kUsage} for a style that check() refuses, and as check_size().
Scene bars_scene(const Heatmap& focus, const BarsSubject& subject, const FigureStyle& style = {});

/// Title, charts beside each other as far as they fit, and notes. Each chart has its title, a frame
/// with ticks and faint lines across, the names of its axes, and each line's name at its end.
/// Throws Error{kUsage} for a style that check() refuses and as check_size().
Scene chart_scene(const ChartFigure& figure, const FigureStyle& style = {});

/// All lengths are in the figure's own pixels.
struct OverviewLayout {
  int width = 0;
  int height = 0;
  FigureLayout thumbnails;  // without a colour bar; has all texts except those of `large`
  FigureLayout large;
  PixelRect chosen;               // the thumbnail that is framed
  PixelRect swatch;               // the sample of the frame beside the caption
  std::vector<PixelRect> blanks;  // of layers without attention
};

/// The thickness of the frame around the chosen thumbnail, in pixels at 96 dpi. It stands one pixel
/// outside of the panel's outline.
constexpr int kFrameWidth = 2;

/// How thumbnails of [n_queries, n_keys] weights are divided into cells, in a grid of this many
/// rows and columns of thumbnails. A thumbnail has a side of 24 to 96 pixels at 96 dpi, so that the
/// grid takes about 900 by 900 where possible; more tokens than that are pooled. style.cell does
/// not apply to thumbnails.
FigureGrid thumbnail_figure_grid(std::size_t rows, std::size_t columns, const Heatmap& thumbnails,
                                 const FigureStyle& style);

/// How both parts are divided and sized. In a figure of a given width thumbnails fill it, too, and
/// have a side of at least 8 pixels at 96 dpi. Does not depend on weights, or on which head is
/// large. Throws as check_fits.
struct OverviewPlan {
  FigureGrid thumbnails;
  FigureStyle large;           // style for the large head
  std::optional<bool> beside;  // absent: depends on the shapes of both parts
};
OverviewPlan plan_overview(const Overview& overview, const FigureStyle& style);

/// The thumbnails on the left and the chosen head on their right or, where that is closer to 3:2,
/// below (in a figure of a given width, beside each other if it is wide); title above, notes below.
/// Texts do not touch each other or a panel. Throws as check_size.
OverviewLayout lay_out_overview(const Overview& overview, const FigureStyle& style = {});

// A figure of panels beside each other and in rows below each other, laid out from top to bottom.

class PanelFigure {
 protected:
  /// The style must outlive it.
  explicit PanelFigure(const FigureStyle& style)
      : style_(style), texts_(style), line_(line_height(style.pixels(kTextColumn))) {}

  /// A length at 96 dpi in pixels of the figure, as all lengths here.
  int px(double length) const { return style_.pixels(length); }
  const ThemeColors& theme() const { return theme_colors(style_.theme); }
  int text_width(std::string_view text) const { return texts_.width(text, px(kTextColumn)); }
  Rgb color_of_group(std::size_t number) const {
    const GroupColor& color = group_color(number);
    return style_.theme == FigureTheme::kDark ? color.dark : color.light;
  }
  int margin() const {
    constexpr int kMargin = 16;
    return px(kMargin);
  }
  /// Width between the margins.
  int room() const { return width_ - 2 * margin(); }

  /// Places as many of `n_panels` beside each other as fit `widest` pixels or, in a figure of a
  /// given width, fill it. Returns the width of each panel.
  int place_columns(std::size_t n_panels, int panel, int gap, int widest) {
    width_ = style_.width ? style_.width_pixels() : widest;
    const int fitting = (room() + gap) / (panel + gap);
    columns_ = std::clamp(static_cast<std::size_t>(std::max(fitting, 1)), std::size_t{1}, n_panels);
    const auto n = static_cast<int>(columns_);
    if (style_.width) {
      return (room() + gap) / n - gap;
    }
    width_ = n * panel + (n - 1) * gap + 2 * margin();
    return panel;
  }

  /// Adds the title's lines. Returns where the figure continues.
  int add_title(std::string_view title) {
    constexpr std::size_t kMostLines = 3;
    return texts_.add_title(title, kMostLines, {margin(), margin(), room()});
  }

  /// Returns the scene of everything that was added, with notes from `y` on; texts lie on top.
  /// Throws as check_size().
  Scene finish(int y, std::vector<std::string> notes, std::string last_note = "") {
    const int end = texts_.add_notes(std::move(notes), std::move(last_note), {margin(), y, room()});
    Scene scene = {width_, end + margin(), style_.dpi, theme().background, {}};
    check_size(scene.width, scene.height, style_, end - y);
    scene.items = std::move(items_);
    std::ranges::move(texts_.take(), std::back_inserter(scene.items));
    return scene;
  }

  const FigureStyle& style_;
  FigureTexts texts_;
  int line_;  // height of a line of text
  std::size_t columns_ = 1;
  int width_ = 0;
  std::vector<SceneItem> items_;
};

}  // namespace attnviz
