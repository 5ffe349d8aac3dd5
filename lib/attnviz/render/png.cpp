#include "attnviz/render/png.h"

#include <map>
#include <string>

#include "attnviz/render/canvas.h"
#include "attnviz/render/color_ticks.h"
#include "attnviz/render/figure_layout.h"
#include "attnviz/render/font.h"
#include "attnviz/render/png_encode.h"
#include "attnviz/render/png_style.h"
#include "attnviz/render/pooling.h"

namespace attnviz {

namespace {

class Painter {
 public:
  Painter(const Heatmap& heatmap, const FigureLayout& layout, const FigureStyle& style)
      : heatmap_(heatmap),
        layout_(layout),
        canvas_(layout.width, layout.height),
        text_(*style.fonts) {}

  std::string paint() {
    for (std::size_t i = 0; i < layout_.panels.size(); ++i) {
      paint_panel(heatmap_.panels[i], layout_.panels[i]);
    }
    paint_legend();
    for (const PixelRect& tick : layout_.ticks) {
      canvas_.fill(tick, kTickColor);
    }
    for (const PlacedText& text : layout_.texts) {
      const Rgb color = text.role == TextRole::kNote ? kNoteColor : kTextColor;
      canvas_.draw(text_.rasterize(text.text, text.column_width, text.angle), text.x, text.y,
                   color);
    }
    return encode_png(canvas_.pixels(), static_cast<std::size_t>(canvas_.width()),
                      static_cast<std::size_t>(canvas_.height()));
  }

 private:
  void paint_panel(const HeatmapPanel& from, const PixelRect& panel) {
    const CellAxis& queries = layout_.grid.queries;
    const CellAxis& keys = layout_.grid.keys;
    const PooledMatrix cells = pool(heatmap_, from, queries.tokens, keys.tokens);
    if (queries.gap == 0) {
      outline(panel);
    }
    for (std::size_t row = 0; row < cells.rows; ++row) {
      const int y = panel.y + static_cast<int>(row) * queries.pitch;
      for (std::size_t col = 0; col < cells.cols; ++col) {
        const int x = panel.x + static_cast<int>(col) * keys.pitch;
        canvas_.fill({x, y, keys.pitch - keys.gap, 1},
                     cells.is_visible(row, col) ? heatmap_.scale.color(cells.shown(row, col))
                                                : kMaskedColor);
      }
      canvas_.repeat_top_row({panel.x, y, panel.width, queries.pitch - queries.gap});
    }
    if (layout_.value_column_width != 0) {
      paint_values(cells, panel);
    }
  }

  void paint_values(const PooledMatrix& cells, const PixelRect& panel) {
    const CellAxis& queries = layout_.grid.queries;
    const CellAxis& keys = layout_.grid.keys;
    const CellNumbers numbers = cell_numbers(heatmap_.scale.low, heatmap_.scale.high);
    const int column_width = layout_.value_column_width;
    for (std::size_t row = 0; row < cells.rows; ++row) {
      for (std::size_t col = 0; col < cells.cols; ++col) {
        const std::string text = numbers.format(cells.value(row, col));
        if (!cells.is_visible(row, col) || text.size() > numbers.columns) {
          continue;
        }
        const auto [found, is_new] = values_.try_emplace(text);
        if (is_new) {
          found->second = text_.rasterize(text, column_width, TextAngle::kLevel);
        }
        const int wide = static_cast<int>(text.size()) * column_width;
        const int x = panel.x + static_cast<int>(col) * keys.pitch;
        const int y = panel.y + static_cast<int>(row) * queries.pitch;
        const bool dark = dark_text_on(heatmap_.scale.color(cells.shown(row, col)));
        canvas_.draw(found->second, x + (keys.pitch - keys.gap - wide) / 2,
                     y + (queries.pitch - queries.gap - line_height(column_width)) / 2,
                     dark ? kTextColor : kWhite);
      }
    }
  }

  void paint_legend() {
    const PixelRect& bar = layout_.color_bar;
    outline(bar);
    for (int i = 0; i < bar.height; ++i) {
      const float along = static_cast<float>(i) / static_cast<float>(bar.height - 1);
      canvas_.fill({bar.x, bar.bottom() - 1 - i, bar.width, 1}, heatmap_.scale.colormap(along));
    }
    if (!layout_.masked_swatch.empty()) {
      outline(layout_.masked_swatch);
      canvas_.fill(layout_.masked_swatch, kMaskedColor);
    }
  }

  // A line of one pixel around the rectangle, which is painted over it next.
  void outline(const PixelRect& rect) {
    canvas_.fill({rect.x - 1, rect.y - 1, rect.width + 2, rect.height + 2}, kOutlineColor);
  }

  const Heatmap& heatmap_;
  const FigureLayout& layout_;
  Canvas canvas_;
  TextRasterizer text_;
  std::map<std::string, InkMap> values_;
};

}  // namespace

std::string render_png(const Heatmap& heatmap, const FigureStyle& style) {
  check(heatmap);
  const FigureLayout layout = lay_out_figure(heatmap, style);
  return Painter(heatmap, layout, style).paint();
}

}  // namespace attnviz
