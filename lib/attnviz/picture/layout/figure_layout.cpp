#include "attnviz/picture/layout/figure_layout.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "attnviz/color/color_ticks.h"
#include "attnviz/core/error.h"
#include "attnviz/core/utf8.h"
#include "attnviz/picture/fonts/text_box.h"
#include "attnviz/picture/layout/figure_labels.h"
#include "attnviz/picture/layout/figure_swatches.h"
#include "attnviz/picture/layout/figure_texts.h"

namespace attnviz {

namespace {

// Lengths are pixels at 96 dpi.
constexpr std::size_t kMostTitleLines = 3;
constexpr std::size_t kMostBarNameLines = 3;  // beside the colour bar
constexpr int kLeastWidth = 420;
constexpr int kTickLength = 4;
constexpr int kLabelGap = 3;  // between a tick and its label
constexpr int kBarWidth = 14;
constexpr int kShortestBar = 120;
constexpr int kLongestBar = 480;
constexpr int kTickDistance = 56;
constexpr int kSwatch = 12;
constexpr int kNumberColumns[] = {8, 7, 6};  // widths that numbers in cells may have
constexpr int kSmallestNumber = 5;           // the same where there is nothing but numbers
constexpr int kAroundNumber = 4;             // what a cell has besides

int columns_of_numbers(const Heatmap& heatmap) {
  return static_cast<int>(cell_numbers(heatmap.scale.low, heatmap.scale.high).columns);
}

// In pixels at 96 dpi.
int least_cell(const Heatmap& heatmap, const FigureStyle& style) {
  return style.cells == CellStyle::kNumbers
             ? columns_of_numbers(heatmap) * kSmallestNumber + kAroundNumber + 2
             : 1;
}

FigureGrid grid_of(const Heatmap& heatmap, const FigureStyle& style, std::optional<int> room) {
  FigureGrid grid = choose_grid(heatmap.panels.size(), heatmap.n_queries(), heatmap.n_keys(),
                                heatmap.panels_together, style, room, least_cell(heatmap, style));
  grid.queries.tokens.first = heatmap.first_query;
  grid.keys.tokens.first = heatmap.first_key;
  return grid;
}

// Lays a figure out from the top left to the bottom right; each step uses what those before it set.
class FigureBuilder {
 public:
  FigureBuilder(const Heatmap& heatmap, const FigureStyle& style, const FigureSwatches& swatches,
                const FigureGrid& grid)
      : heatmap_(heatmap), style_(style), texts_(style), grid_(grid), swatches_(swatches) {
    layout_.grid = grid_;
    layout_.margin = px(kFigureMargin);
    layout_.line = px(1);
    queries_ =
        query_axis_labels(grid_.queries, heatmap.query_labels, style, !heatmap.has_numbered_labels);
    keys_ = key_axis_labels(grid_.keys, heatmap.key_labels, style, queries_,
                            !heatmap.has_numbered_labels);
    if (has_bar()) {
      ticks_ = color_ticks(heatmap.scale,
                           static_cast<std::size_t>(bar_height() / px(kTickDistance)) + 1);
      bar_name_ = style.fonts->wrap(printable_message(heatmap.value_name),
                                    static_cast<std::size_t>(bar_height() / text_column_),
                                    kMostBarNameLines);
    }
    measure_width();
  }

  // The least that everything takes.
  int needed_width() const noexcept { return needed_width_; }
  // What of it stands to the left and to the right of the panels.
  int around() const noexcept { return around_; }
  // All panels and the gaps between them.
  int body_width() const {
    const auto columns = static_cast<int>(grid_.columns);
    return columns * panel_width() + (columns - 1) * px(kPanelMargin);
  }

  FigureLayout build() {
    place_title();
    const int body_top = y_;
    place_panels();
    const int grid_bottom = y_;
    place_legend(body_top);
    place_axis_names(body_top, grid_bottom);
    place_notes();
    choose_value_size();
    layout_.texts = texts_.take();
    layout_.width = width_;
    layout_.height = y_ + layout_.margin;
    check_size(layout_.width, layout_.height, style_);
    return std::move(layout_);
  }

 private:
  int px(double at_96_dpi) const noexcept { return style_.pixels(at_96_dpi); }

  int panel_width() const { return grid_.keys.length(); }
  int panel_height() const { return grid_.queries.length(); }

  bool has_bar() const {
    return style_.cells == CellStyle::kColors || style_.cells == CellStyle::kDots;
  }

  int bar_height() const {
    return std::clamp(panel_height() * static_cast<int>(std::min<std::size_t>(grid_.rows, 2)),
                      px(kShortestBar), px(kLongestBar));
  }

  // From the edge of a panel or the colour bar to a label: outline, tick, gap.
  int tick_room() const { return layout_.line + px(kTickLength) + px(kLabelGap); }

  int text_width(std::string_view text) const { return texts_.width(text, text_column_); }

  // The label's text at (x, y), its index behind it along the same line.
  void add_label(TextRole role, const AxisLabels& axis, const AxisLabel& label, double x,
                 double y) {
    const double slope = axis.angle == TextAngle::kLevel ? 0.0 : kSlope;
    const double along = axis.angle == TextAngle::kLevel ? 1.0 : kSlope;
    const auto place = [&](TextRole piece, const std::string& text, std::size_t column) {
      const double offset = static_cast<double>(column) * axis.column_width;
      texts_.add(piece, text, axis.column_width, static_cast<int>(std::lround(x + offset * along)),
                 static_cast<int>(std::lround(y - offset * slope)), axis.angle);
    };
    place(role, label.text, 0);
    if (!label.index.empty()) {
      place(TextRole::kIndex, label.index, label.text_columns + 1);
    }
  }

  void measure_width() {
    const int name = line_height(text_column_) + px(kSpace) / 2;
    int labels = static_cast<int>(queries_.longest) * queries_.column_width + tick_room();
    if (keys_.angle == TextAngle::kRising) {
      // The first key labels reach to the left of their panel.
      for (std::size_t i = 0; i < keys_.labels.size(); ++i) {
        const double anchor = (static_cast<double>(i * keys_.step) + 0.5) * grid_.keys.pitch;
        const auto wide = static_cast<double>(keys_.labels[i].columns) * keys_.column_width;
        const double reach = (wide + line_height(keys_.column_width) / 2.0) * kSlope;
        labels = std::max(labels, ceiled(reach - anchor) + 1);
      }
    }
    std::size_t tick_columns = 0;
    for (const ColorTick& tick : ticks_) {
      tick_columns = std::max(tick_columns, tick.label.size());
    }
    const int bar = !has_bar()
                        ? 0
                        : px(kBarWidth) + tick_room() +
                              static_cast<int>(tick_columns) * text_column_ + px(kSpace) / 2 +
                              static_cast<int>(bar_name_.size()) * line_height(text_column_);
    int swatches = 0;
    for (const std::string& its_name : swatches_.names(heatmap_)) {
      swatches = std::max(swatches, px(kSwatch) + px(kSpace) / 2 + text_width(its_name));
    }
    const int legend = 2 * px(kSpace) + std::max(bar, swatches);

    const int content = name + labels + body_width() + legend;
    // The name of the keys ends before the legend.
    const int key_name = text_width(heatmap_.key_axis) + legend - px(kSpace);
    around_ = content - body_width() + 2 * layout_.margin;
    needed_width_ = std::max(content, key_name) + 2 * layout_.margin;
    width_ = style_.width ? style_.width_pixels()
                          : std::max(px(kLeastWidth), content + 2 * layout_.margin);
    name_x_ = (width_ - content) / 2;
    body_x_ = name_x_ + name + labels;
    legend_x_ = body_x_ + body_width() + 2 * px(kSpace);
  }

  // Below what was placed so far.
  TextArea lines_area() const { return {layout_.margin, y_, width_ - 2 * layout_.margin}; }

  void place_title() {
    y_ = layout_.margin;
    y_ = texts_.add_title(heatmap_.title, kMostTitleLines, lines_area());
    // Where cells are lower than text, the first query's label rises above them.
    y_ += std::max(0, (line_height(queries_.column_width) - grid_.queries.pitch) / 2 + 1);
  }

  void place_panels() {
    const std::size_t n_panels = heatmap_.panels.size();
    const bool titled = std::any_of(heatmap_.panels.begin(), heatmap_.panels.end(),
                                    [](const HeatmapPanel& panel) { return !panel.title.empty(); });
    for (std::size_t row = 0; row < grid_.rows; ++row) {
      const std::size_t first = row * grid_.columns;
      const std::size_t end = std::min(first + grid_.columns, n_panels);
      // A row that lacks a panel under one of its own shows its keys itself.
      const bool labelled = first + 2 * grid_.columns > n_panels;
      y_ += titled ? px(kPanelTitleHeight) : 0;
      for (std::size_t i = first; i < end; ++i) {
        const int x = body_x_ + static_cast<int>(i - first) * (panel_width() + px(kPanelMargin));
        const PixelRect panel = {x, y_, panel_width(), panel_height()};
        layout_.panels.push_back(panel);
        place_panel_title(panel, heatmap_.panels[i].title);
        if (labelled) {
          place_key_labels(panel);
        }
      }
      place_query_labels(layout_.panels[first]);
      y_ += panel_height();
      if (labelled) {
        y_ += tick_room() + keys_.height();
      }
      y_ += row + 1 < grid_.rows ? px(kPanelMargin) : 0;
    }
  }

  void place_panel_title(const PixelRect& panel, const std::string& title) {
    const int room =
        grid_.columns == 1 ? std::max(panel.width, px(160)) : panel.width + px(kPanelMargin) / 2;
    const int column_width = px(panel.width < px(80) ? 6 : 8);
    const auto columns = static_cast<std::size_t>(room / column_width);
    if (title.empty() || columns < 2) {
      return;
    }
    texts_.add_centred(TextRole::kPanelTitle,
                       style_.fonts->shorten(printable_message(title), columns), column_width,
                       panel.x, panel.width, panel.y - line_height(column_width) - px(2));
  }

  void place_query_labels(const PixelRect& panel) {
    const int half_line = line_height(queries_.column_width) / 2;
    for (std::size_t i = 0; i < queries_.labels.size(); ++i) {
      const int middle = panel.y + grid_.queries.middle(i * queries_.step);
      layout_.ticks.push_back({panel.x - layout_.line - px(kTickLength), middle - layout_.line / 2,
                               px(kTickLength), layout_.line});
      const AxisLabel& label = queries_.labels[i];
      const int wide = static_cast<int>(label.columns) * queries_.column_width;
      add_label(TextRole::kQueryLabel, queries_, label, panel.x - tick_room() - wide,
                middle - half_line);
    }
  }

  void place_key_labels(const PixelRect& panel) {
    const double half_line = line_height(keys_.column_width) / 2.0;
    for (std::size_t i = 0; i < keys_.labels.size(); ++i) {
      const int middle = panel.x + grid_.keys.middle(i * keys_.step);
      const int top = panel.bottom() + tick_room();
      layout_.ticks.push_back({middle - layout_.line / 2, panel.bottom() + layout_.line,
                               layout_.line, px(kTickLength)});
      const AxisLabel& label = keys_.labels[i];
      const double wide = static_cast<double>(label.columns) * keys_.column_width;
      if (keys_.angle == TextAngle::kLevel) {
        add_label(TextRole::kKeyLabel, keys_, label, middle - std::floor(wide / 2), top);
        continue;
      }
      // The end of the text is what points at the column: its upper right corner lies on top, half
      // a line to the left of the tick.
      add_label(TextRole::kKeyLabel, keys_, label, middle - (half_line + wide) * kSlope,
                top - px(kLabelGap) / 2.0 + wide * kSlope);
    }
  }

  // Returns where it ends.
  int place_bar(int top) {
    const PixelRect bar = {legend_x_, layout_.panels.front().y, px(kBarWidth), bar_height()};
    layout_.color_bar = bar;
    const int line = line_height(text_column_);
    const int labels_x = bar.right() + tick_room();
    int widest = 0;
    for (ColorTick& tick : ticks_) {
      const int y =
          bar.bottom() - 1 - static_cast<int>(std::lround(tick.position * (bar.height - 1)));
      layout_.ticks.push_back(
          {bar.right() + layout_.line, y - layout_.line / 2, px(kTickLength), layout_.line});
      widest = std::max(widest, static_cast<int>(tick.label.size()) * text_column_);
      texts_.add(TextRole::kLegend, std::move(tick.label), text_column_, labels_x,
                 std::max(y - line / 2, top));
    }
    int name_x = labels_x + widest + px(kSpace) / 2;
    for (const std::string& name : bar_name_) {
      texts_.add(TextRole::kLegend, name, text_column_, name_x,
                 bar.y + (bar.height + text_width(name)) / 2, TextAngle::kUp);
      name_x += line;
    }
    return bar.bottom() + line / 2;
  }

  void place_legend(int top) {
    const int line = line_height(text_column_);
    int bottom = has_bar() ? place_bar(top) : layout_.panels.front().y - px(kSpace);
    const auto add_swatch = [&](PixelRect& swatch, const std::string& name) {
      const int size = px(kSwatch);
      const int y = bottom + px(kSpace);
      swatch = {legend_x_, y, size, size};
      texts_.add(TextRole::kLegend, name, text_column_, legend_x_ + size + px(kSpace) / 2,
                 y + (size - line) / 2);
      bottom = y + (size + line) / 2;
    };
    if (swatches_.visible) {
      add_swatch(layout_.visible_swatch, FigureSwatches::kSeen);
    }
    if (swatches_.masked) {
      add_swatch(layout_.masked_swatch, heatmap_.masked_name);
    }
    if (swatches_.nan) {
      add_swatch(layout_.nan_swatch, FigureSwatches::kNan);
    }
    y_ = std::max(y_, bottom);
  }

  void place_axis_names(int top, int grid_bottom) {
    const int query_length = text_width(heatmap_.query_axis);
    const int first_y = layout_.panels.front().y;
    const int last_y = layout_.panels.back().bottom();
    const int bottom = std::max((first_y + last_y + query_length) / 2, top + query_length);
    texts_.add(TextRole::kAxisName, heatmap_.query_axis, text_column_, name_x_, bottom,
               TextAngle::kUp);

    const int key_length = text_width(heatmap_.key_axis);
    const int key_y = std::max(grid_bottom, bottom) + px(kSpace) / 2;
    // Under a narrow panel the name would reach below the legend.
    const int key_x =
        std::min(body_x_ + (body_width() - key_length) / 2, legend_x_ - px(kSpace) - key_length);
    texts_.add(TextRole::kAxisName, heatmap_.key_axis, text_column_, key_x, key_y);
    y_ = std::max(y_, key_y + line_height(text_column_));
  }

  void place_notes() {
    const PoolAxis& queries = grid_.queries.tokens;
    const PoolAxis& keys = grid_.keys.tokens;
    std::string pooled;
    if (grid_.pooled()) {
      pooled = fmt::format("pooled: {} x {} weights on {} x {} cells, each the {} of {} x {}",
                           queries.size, keys.size, queries.cells(), keys.cells(),
                           pool_name(heatmap_.pool), queries.block, keys.block);
    }
    y_ = texts_.add_notes(heatmap_.notes, std::move(pooled), lines_area());
  }

  bool value_fits(int column_width) const {
    return columns_of_numbers(heatmap_) * column_width + px(kAroundNumber) <=
               grid_.keys.pitch - grid_.keys.gap &&
           line_height(column_width) <= grid_.queries.pitch - grid_.queries.gap;
  }

  void choose_value_size() {
    const bool nothing_else = style_.cells == CellStyle::kNumbers;
    if (!style_.values || (grid_.pooled() && !nothing_else) || style_.cells == CellStyle::kDots ||
        style_.cells == CellStyle::kMask) {
      return;
    }
    std::vector<int> widths(std::begin(kNumberColumns), std::end(kNumberColumns));
    if (nothing_else) {
      widths.push_back(kSmallestNumber);
    }
    for (const int width : widths) {
      if (value_fits(px(width))) {
        layout_.value_column_width = px(width);
        return;
      }
    }
    if (nothing_else) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("picture: numbers need cells of {} pixels or more",
                              least_cell(heatmap_, style_)),
                  "picture");
    }
  }

  const Heatmap& heatmap_;
  const FigureStyle& style_;
  FigureTexts texts_;
  const int text_column_ = style_.pixels(kTextColumn);
  FigureGrid grid_;
  AxisLabels queries_;
  AxisLabels keys_;
  std::vector<ColorTick> ticks_;
  std::vector<std::string> bar_name_;  // in lines
  FigureSwatches swatches_;
  FigureLayout layout_;
  int needed_width_ = 0;
  int around_ = 0;
  int width_ = 0;
  int name_x_ = 0;
  int body_x_ = 0;
  int legend_x_ = 0;
  int y_ = 0;  // below what was placed so far
};

}  // namespace

namespace {

// Labels take more room where cells are larger: what is left for the cells shrinks until all fits.
FigureGrid chosen_grid(const Heatmap& heatmap, const FigureStyle& style,
                       const FigureSwatches& swatches) {
  if (!style.width) {
    return grid_of(heatmap, style, {});
  }
  const int width = style.width_pixels();
  FigureGrid grid = grid_of(heatmap, style, 0);
  const FigureBuilder smallest(heatmap, style, swatches, grid);
  check_fits(smallest.needed_width(), style);
  int around = smallest.around();
  for (int room = width - around; room > smallest.body_width(); room = width - around) {
    const FigureGrid larger = grid_of(heatmap, style, room);
    const int needed = FigureBuilder(heatmap, style, swatches, larger).needed_width();
    if (needed <= width) {
      return larger;
    }
    around += needed - width;
  }
  return grid;
}

}  // namespace

int least_width(const Heatmap& heatmap, const FigureStyle& style) {
  return FigureBuilder(heatmap, style, FigureSwatches(heatmap, style), grid_of(heatmap, style, 0))
      .needed_width();
}

FigureGrid heatmap_grid(const Heatmap& heatmap, const FigureStyle& style) {
  return style.width ? chosen_grid(heatmap, style, FigureSwatches(heatmap, style))
                     : grid_of(heatmap, style, {});
}

FigureLayout lay_out_figure(const Heatmap& heatmap, const FigureStyle& style) {
  const FigureSwatches swatches(heatmap, style);
  return FigureBuilder(heatmap, style, swatches, chosen_grid(heatmap, style, swatches)).build();
}

}  // namespace attnviz
