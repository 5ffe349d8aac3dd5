#include "attnviz/picture/figure_painter.h"

#include <fmt/core.h>

#include <cstdlib>

#include "attnviz/color/color_ticks.h"
#include "attnviz/core/utf8.h"
#include "attnviz/document/pooling.h"
#include "attnviz/picture/raster/png_chunks.h"
#include "attnviz/picture/raster/png_encode.h"

namespace attnviz {

namespace {

// Pixels at 96 dpi.
constexpr int kHatchSpacing = 6;
constexpr int kSmallestHatched = 12;  // cells smaller than this are grey

// Whether a colour of the scale could be taken for `color`.
bool resembles(const Colormap& colormap, Rgb color) {
  constexpr int kSteps = 32;
  constexpr int kAlike = 60;  // sum of the channels' distances
  for (int step = 0; step <= kSteps; ++step) {
    const Rgb other = colormap(static_cast<float>(step) / kSteps);
    const int distance =
        std::abs(other.r - color.r) + std::abs(other.g - color.g) + std::abs(other.b - color.b);
    if (distance < kAlike) {
      return true;
    }
  }
  return false;
}

class Painter {
 public:
  Painter(const Heatmap& heatmap, const FigureLayout& layout, const FigureStyle& style,
          FigureCanvas& figure)
      : heatmap_(heatmap),
        layout_(layout),
        style_(style),
        colors_(theme_colors(style.theme)),
        canvas_(figure.canvas),
        text_(figure.text) {
    const int smallest = std::min(layout.grid.queries.pitch, layout.grid.keys.pitch);
    hatched_ = smallest >= style.pixels(kSmallestHatched) ||
               resembles(heatmap.scale.colormap, colors_.masked);
  }

  void paint() {
    for (std::size_t i = 0; i < layout_.panels.size(); ++i) {
      paint_panel(heatmap_.panels[i], layout_.panels[i]);
    }
    if (!layout_.color_bar.empty()) {
      paint_legend();
    }
    for (const PixelRect& tick : layout_.ticks) {
      canvas_.fill(tick, colors_.tick);
    }
    for (const PlacedText& text : layout_.texts) {
      const bool aside = text.role == TextRole::kNote || text.role == TextRole::kIndex;
      canvas_.draw(text_.rasterize(text.text, text.column_width, text.angle), text.x, text.y,
                   aside ? colors_.note : colors_.text);
    }
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
      // Cells of one colour that touch each other, as masked ones do, are painted at once.
      PixelRect run{panel.x, y, 0, 1};
      Rgb run_color{};
      for (std::size_t col = 0; col < cells.cols; ++col) {
        const int x = panel.x + static_cast<int>(col) * keys.pitch;
        const Rgb color = cells.is_visible(row, col) ? heatmap_.scale.color(cells.shown(row, col))
                                                     : colors_.masked;
        if (color != run_color || run.right() != x) {
          canvas_.fill(run, run_color);
          run = {x, y, 0, 1};
          run_color = color;
        }
        run.width = x + keys.pitch - keys.gap - run.x;
      }
      canvas_.fill(run, run_color);
      canvas_.repeat_top_row({panel.x, y, panel.width, queries.pitch - queries.gap});
    }
    if (hatched_) {
      hatch_masked(cells, panel);
    }
    if (layout_.value_column_width != 0) {
      paint_values(cells, panel);
    }
  }

  void hatch_masked(const PooledMatrix& cells, const PixelRect& panel) {
    const CellAxis& queries = layout_.grid.queries;
    const CellAxis& keys = layout_.grid.keys;
    for (std::size_t row = 0; row < cells.rows; ++row) {
      for (std::size_t col = 0; col < cells.cols; ++col) {
        if (!cells.is_visible(row, col)) {
          hatch({panel.x + static_cast<int>(col) * keys.pitch,
                 panel.y + static_cast<int>(row) * queries.pitch, keys.pitch - keys.gap,
                 queries.pitch - queries.gap});
        }
      }
    }
  }

  void hatch(const PixelRect& rect) {
    canvas_.hatch(rect, colors_.hatch, style_.pixels(kHatchSpacing), layout_.line);
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
        const int wide = static_cast<int>(text.size()) * column_width;
        const int x = panel.x + static_cast<int>(col) * keys.pitch;
        const int y = panel.y + static_cast<int>(row) * queries.pitch;
        const bool dark = dark_text_on(heatmap_.scale.color(cells.shown(row, col)));
        canvas_.draw(text_.rasterize(text, column_width, TextAngle::kLevel),
                     x + (keys.pitch - keys.gap - wide) / 2,
                     y + (queries.pitch - queries.gap - line_height(column_width)) / 2,
                     dark ? kDarkNumber : kLightNumber);
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
      canvas_.fill(layout_.masked_swatch, colors_.masked);
      if (hatched_) {
        hatch(layout_.masked_swatch);
      }
    }
    if (!layout_.nan_swatch.empty()) {
      outline(layout_.nan_swatch);
      canvas_.fill(layout_.nan_swatch, kNanColor);
    }
  }

  // A line around the rectangle, which is painted over it next.
  void outline(const PixelRect& rect) {
    const int line = layout_.line;
    canvas_.fill({rect.x - line, rect.y - line, rect.width + 2 * line, rect.height + 2 * line},
                 colors_.outline);
  }

  const Heatmap& heatmap_;
  const FigureLayout& layout_;
  const FigureStyle& style_;
  const ThemeColors& colors_;
  bool hatched_ = false;
  Canvas& canvas_;
  TextRasterizer& text_;
};

std::string figure_facts(const FigureStyle& style) {
  return fmt::format(R"({{"theme": "{}", "cell": {}, "dpi": {}}})", theme_name(style.theme),
                     style.cell == 0 ? "null" : std::to_string(style.cell), style.dpi);
}

}  // namespace

FigureCanvas::FigureCanvas(int width, int height, const FigureStyle& style)
    : canvas(width, height, theme_colors(style.theme).background), text(*style.fonts) {}

void FigureCanvas::paint(const Heatmap& heatmap, const FigureLayout& layout,
                         const FigureStyle& style) {
  Painter(heatmap, layout, style, *this).paint();
}

std::string FigureCanvas::png(const std::string& title, std::string facts,
                              const FigureStyle& style) const {
  return with_facts(encode_png(canvas), {style.dpi,
                                         {{"Title", printable_message(title)},
                                          {"Software", "attnviz"},
                                          {"attnviz", std::move(facts)},
                                          {"attnviz-figure", figure_facts(style)}}});
}

}  // namespace attnviz
