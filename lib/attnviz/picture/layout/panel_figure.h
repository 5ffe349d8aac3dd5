// A figure of panels beside each other and in rows below each other: its sheet, to be laid out from
// top to bottom.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/color/group_colors.h"
#include "attnviz/picture/fonts/text_box.h"
#include "attnviz/picture/layout/figure_grid.h"
#include "attnviz/picture/layout/figure_labels.h"
#include "attnviz/picture/layout/figure_style.h"
#include "attnviz/picture/scene/scene.h"

namespace attnviz {

class PanelFigure {
 protected:
  /// The style must outlive it.
  explicit PanelFigure(const FigureStyle& style)
      : style_(style), texts_(style), line_(line_height(style.pixels(kTextColumn))) {}

  /// A length at 96 dpi in the pixels of the figure, as all lengths here.
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
  /// Between the margins.
  int room() const { return width_ - 2 * margin(); }

  /// Puts as many of `n_panels` beside each other as fit `widest` pixels or, where the figure has a
  /// given width, fill that. Returns how wide each of them is then.
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

  /// The title's lines. Returns where the figure goes on.
  int add_title(std::string_view title) {
    constexpr std::size_t kMostLines = 3;
    return texts_.add_title(title, kMostLines, {margin(), margin(), room()});
  }

  /// Everything that was added, and notes below it, from `y` on; texts lie over the rest. Throws as
  /// check_size().
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
  int line_;  // the height of text
  std::size_t columns_ = 1;
  int width_ = 0;
  std::vector<SceneItem> items_;
};

}  // namespace attnviz
