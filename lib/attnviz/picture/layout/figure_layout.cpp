#include "attnviz/picture/layout/figure_layout.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/utf8.h"
#include "attnviz/picture/fonts/glyphs.h"
#include "attnviz/picture/layout/figure_grid.h"
#include "attnviz/picture/layout/figure_labels.h"

namespace attnviz {

namespace {

// Lengths are pixels at 96 dpi.
constexpr std::size_t kMostTitleLines = 3;
constexpr std::size_t kMostPanelTitleLines = 3;
constexpr int kLeastWidth = 420;
constexpr int kBand = 5;                     // wide
constexpr int kBandGap = 2;                  // from a panel to a band, and from there to a tick
constexpr int kNumberColumns[] = {8, 7, 6};  // possible widths of numbers in cells

// Lays a figure out from the top left to the bottom right; each step uses the results of those
// before.
class FigureBuilder {
 public:
  FigureBuilder(const Heatmap& heatmap, const FigureStyle& style, const FigureSwatches& swatches,
                const FigureGrid& grid, LegendPlace place)
      : heatmap_(heatmap),
        style_(style),
        texts_(style),
        grid_(grid),
        place_(place),
        legend_(heatmap, style, swatches, place,
                place == LegendPlace::kBelow ? body_width() : body_height(),
                largest_disc(style, grid)) {
    layout_.grid = grid_;
    layout_.margin = px(kFigureMargin);
    layout_.line = px(1);
    queries_ =
        query_axis_labels(grid_.queries, heatmap.query_labels, style, !heatmap.has_numbered_labels);
    keys_ = key_axis_labels(grid_.keys, heatmap.key_labels, style, queries_,
                            !heatmap.has_numbered_labels);
    measure_width();
  }

  // The smallest width for all parts.
  int needed_width() const noexcept { return needed_width_; }
  // The part of it left and right of the panels.
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
    if (!is_below()) {
      const TextArea area{legend_x_, layout_.panels.front().y, legend_.width()};
      y_ = std::max(y_, legend_.place(area, body_top, layout_, texts_));
    }
    place_axis_names(body_top, grid_bottom);
    if (is_below()) {
      place_legend_below();
    }
    const int notes_y = y_;
    place_notes();
    choose_value_size();
    layout_.texts = texts_.take();
    layout_.width = width_;
    layout_.height = y_ + layout_.margin;
    check_size(layout_.width, layout_.height, style_, y_ - notes_y);
    return std::move(layout_);
  }

 private:
  int px(double at_96_dpi) const noexcept { return style_.pixels(at_96_dpi); }

  int panel_width() const { return grid_.keys.length(); }
  int panel_height() const { return grid_.queries.length(); }

  // The height of at most two rows of panels.
  int body_height() const {
    return panel_height() * static_cast<int>(std::min<std::size_t>(grid_.rows, 2));
  }

  bool is_below() const noexcept { return place_ == LegendPlace::kBelow; }

  // Width of bands between a panel and the ticks beside it.
  int band_room() const {
    return heatmap_.roles.names.empty() ? 0 : px(kBand) + px(kBandGap) + layout_.line;
  }
  int text_width(std::string_view text) const { return texts_.width(text, text_column_); }

  // Adds the label's text at (x, y), followed by its index along the same line.
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

  // How far labels extend to the right of their panel.
  int reach_of_last_key() const {
    const int middle = grid_.keys.middle((keys_.labels.size() - 1) * keys_.step);
    const double reach =
        keys_.angle == TextAngle::kLevel
            ? static_cast<double>(keys_.labels.back().columns) * keys_.column_width / 2.0
            : line_height(keys_.column_width) / 2.0 * kSlope;
    return std::max(0, middle + ceiled(reach) + 1 - panel_width());
  }

  void measure_width() {
    const int name = line_height(text_column_) + px(kSpace) / 2;
    int labels = static_cast<int>(queries_.longest) * queries_.column_width + tick_room(style_) +
                 band_room();
    if (keys_.angle == TextAngle::kRising) {
      // The first key labels extend to the left of their panel.
      for (std::size_t i = 0; i < keys_.labels.size(); ++i) {
        const double anchor = (static_cast<double>(i * keys_.step) + 0.5) * grid_.keys.pitch;
        const auto wide = static_cast<double>(keys_.labels[i].columns) * keys_.column_width;
        const double reach = (wide + line_height(keys_.column_width) / 2.0) * kSlope;
        labels = std::max(labels, ceiled(reach - anchor) + 1);
      }
    }
    const int legend = is_below() ? reach_of_last_key() : 2 * px(kSpace) + legend_.width();
    const int content = name + labels + body_width() + legend;
    // The name of the keys ends before the legend.
    const int key_name = text_width(heatmap_.key_axis) + (is_below() ? 0 : legend - px(kSpace));
    around_ = content - body_width() + 2 * layout_.margin;
    needed_width_ = std::max({content, key_name, legend_.width()}) + 2 * layout_.margin;
    width_ = style_.width ? style_.width_pixels()
                          : std::max(px(kLeastWidth), content + 2 * layout_.margin);
    // In the middle, unless the name of the keys, which ends before the legend, begins left of it.
    name_x_ =
        std::max((width_ - content) / 2, is_below() ? 0 : layout_.margin + key_name - content);
    body_x_ = name_x_ + name + labels;
    legend_x_ = body_x_ + body_width() + 2 * px(kSpace);
  }

  // The area below everything placed so far.
  TextArea lines_area() const { return {layout_.margin, y_, width_ - 2 * layout_.margin}; }

  void place_title() {
    y_ = layout_.margin;
    y_ = texts_.add_title(heatmap_.title, kMostTitleLines, lines_area());
    // Where cells are lower than text, the first query's label extends above them.
    y_ += std::max(0, (line_height(queries_.column_width) - grid_.queries.pitch) / 2 + 1);
  }

  void place_panels() {
    const std::size_t n_panels = heatmap_.panels.size();
    std::vector<std::vector<std::string>> titles;
    for (const HeatmapPanel& panel : heatmap_.panels) {
      titles.push_back(title_lines(panel));
    }
    for (std::size_t row = 0; row < grid_.rows; ++row) {
      const std::size_t first = row * grid_.columns;
      const std::size_t end = std::min(first + grid_.columns, n_panels);
      // A row shows its keys itself if the row below lacks a panel under one of its own.
      const bool labelled = first + 2 * grid_.columns > n_panels;
      std::size_t n_lines = 0;
      for (std::size_t i = first; i < end; ++i) {
        n_lines = std::max(n_lines, titles[i].size());
      }
      const int more_lines = static_cast<int>(n_lines) - 1;
      y_ += n_lines == 0 ? 0 : px(kPanelTitleHeight) + more_lines * line_height(title_column());
      for (std::size_t i = first; i < end; ++i) {
        const int x = body_x_ + static_cast<int>(i - first) * (panel_width() + px(kPanelMargin));
        const PixelRect panel = {x, y_, panel_width(), panel_height()};
        layout_.panels.push_back(panel);
        place_panel_title(panel, std::move(titles[i]));
        if (labelled) {
          place_key_labels(panel);
        }
      }
      place_query_labels(layout_.panels[first]);
      y_ += panel_height();
      if (labelled) {
        y_ += tick_room(style_) + band_room() + keys_.height();
      }
      y_ += row + 1 < grid_.rows ? px(kPanelMargin) : 0;
    }
  }

  int title_room() const {
    return style_.width         ? panel_width()
           : grid_.columns == 1 ? std::max(panel_width(), px(160))
                                : panel_width() + px(kPanelMargin) / 2;
  }

  // The title's lines; empty where not even a letter fits.
  std::vector<std::string> title_lines(const HeatmapPanel& panel) const {
    const auto columns = static_cast<std::size_t>(title_room() / title_column());
    return panel.title.empty() || columns < 2
               ? std::vector<std::string>()
               : style_.fonts->wrap(printable_message(panel.title), columns, kMostPanelTitleLines);
  }

  int title_column() const { return px(panel_width() < px(80) ? 6 : 8); }

  void place_panel_title(const PixelRect& panel, std::vector<std::string> lines) {
    int y = panel.y - px(2) - static_cast<int>(lines.size()) * line_height(title_column());
    for (std::string& line : lines) {
      texts_.add_centred(TextRole::kPanelTitle, std::move(line), title_column(), panel.x,
                         panel.width, y);
      y += line_height(title_column());
    }
  }

  void place_query_labels(const PixelRect& panel) {
    const int left = panel.x - band_room();
    for (const RoleRun& run : role_runs(heatmap_.roles.queries, grid_.queries)) {
      layout_.bands.push_back({{left, panel.y + run.begin, px(kBand), run.length}, run.role});
    }
    const int half_line = line_height(queries_.column_width) / 2;
    for (std::size_t i = 0; i < queries_.labels.size(); ++i) {
      const int middle = panel.y + grid_.queries.middle(i * queries_.step);
      layout_.ticks.push_back({left - layout_.line - px(kTickLength), middle - layout_.line / 2,
                               px(kTickLength), layout_.line});
      const AxisLabel& label = queries_.labels[i];
      const int wide = static_cast<int>(label.columns) * queries_.column_width;
      add_label(TextRole::kQueryLabel, queries_, label, left - tick_room(style_) - wide,
                middle - half_line);
    }
  }

  void place_key_labels(const PixelRect& panel) {
    const int bottom = panel.bottom() + band_room();
    for (const RoleRun& run : role_runs(heatmap_.roles.keys, grid_.keys)) {
      const int y = bottom - px(kBand);
      layout_.bands.push_back({{panel.x + run.begin, y, run.length, px(kBand)}, run.role});
    }
    const double half_line = line_height(keys_.column_width) / 2.0;
    for (std::size_t i = 0; i < keys_.labels.size(); ++i) {
      const int middle = panel.x + grid_.keys.middle(i * keys_.step);
      const int top = bottom + tick_room(style_);
      layout_.ticks.push_back(
          {middle - layout_.line / 2, bottom + layout_.line, layout_.line, px(kTickLength)});
      const AxisLabel& label = keys_.labels[i];
      const double wide = static_cast<double>(label.columns) * keys_.column_width;
      if (keys_.angle == TextAngle::kLevel) {
        add_label(TextRole::kKeyLabel, keys_, label, middle - std::floor(wide / 2), top);
        continue;
      }
      // The end of the text points at the column: its upper right corner lies on top, half a line
      // to the left of the tick.
      add_label(TextRole::kKeyLabel, keys_, label, middle - (half_line + wide) * kSlope,
                top - px(kLabelGap) / 2.0 + wide * kSlope);
    }
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
    // Under a narrow panel the name would extend below the legend, or out of the figure.
    const int end = is_below() ? width_ - layout_.margin : legend_x_ - px(kSpace);
    const int key_x = std::min(body_x_ + (body_width() - key_length) / 2, end - key_length);
    texts_.add(TextRole::kAxisName, heatmap_.key_axis, text_column_, key_x, key_y);
    y_ = std::max(y_, key_y + line_height(text_column_));
  }

  // Centred below the panels, as far as the figure has room.
  void place_legend_below() {
    const int wide = legend_.width();
    const int most = width_ - layout_.margin - wide;
    const int x = std::clamp(body_x_ + (body_width() - wide) / 2, layout_.margin,
                             std::max(layout_.margin, most));
    y_ = legend_.place({x, y_ + px(kSpace), wide}, y_, layout_, texts_);
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
                  fmt::format("picture: numbers need cells of at least {} pixels",
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
  LegendPlace place_;
  FigureLegend legend_;
  FigureLayout layout_;
  int needed_width_ = 0;
  int around_ = 0;
  int width_ = 0;
  int name_x_ = 0;
  int body_x_ = 0;
  int legend_x_ = 0;
  int y_ = 0;  // below everything placed so far
};

// Labels take more room where cells are larger: the room for the cells shrinks until everything
// fits. Throws what check_fits() throws.
FigureGrid fitting_grid(const Heatmap& heatmap, const FigureStyle& style,
                        const FigureSwatches& swatches, LegendPlace place) {
  const int width = style.width_pixels();
  FigureGrid grid = grid_of(heatmap, style, 0);
  const FigureBuilder smallest(heatmap, style, swatches, grid, place);
  check_fits(smallest.needed_width(), style);
  int around = smallest.around();
  for (int room = width - around; room > smallest.body_width(); room = width - around) {
    FigureGrid larger = grid_of(heatmap, style, room);
    const int needed = FigureBuilder(heatmap, style, swatches, larger, place).needed_width();
    if (needed <= width) {
      return larger;
    }
    around += needed - width;
  }
  return grid;
}

struct Plan {
  FigureGrid grid;
  LegendPlace place = LegendPlace::kBeside;
};

Plan fitting_plan(const Heatmap& heatmap, const FigureStyle& style,
                  const FigureSwatches& swatches) {
  // A legend below the panels leaves them more width, but makes the figure higher.
  constexpr double kWorthIt = 1.2;
  const FigureGrid smallest = grid_of(heatmap, style, 0);
  const auto needed = [&](LegendPlace place) {
    return FigureBuilder(heatmap, style, swatches, smallest, place).needed_width();
  };
  const int least_beside = needed(LegendPlace::kBeside);
  const int least_below = needed(LegendPlace::kBelow);
  check_fits(std::min(least_beside, least_below), style);
  const bool fits_beside = least_beside <= style.width_pixels();
  const bool fits_below = least_below <= style.width_pixels();
  if (!fits_below) {
    return {fitting_grid(heatmap, style, swatches, LegendPlace::kBeside)};
  }
  Plan below{fitting_grid(heatmap, style, swatches, LegendPlace::kBelow), LegendPlace::kBelow};
  if (!fits_beside) {
    return below;
  }
  const Plan beside{fitting_grid(heatmap, style, swatches, LegendPlace::kBeside)};
  const auto cell = [](const Plan& plan) {
    return static_cast<double>(plan.grid.keys.length()) * static_cast<double>(plan.grid.columns);
  };
  return cell(below) > kWorthIt * cell(beside) ? below : beside;
}

Plan planned(const Heatmap& heatmap, const FigureStyle& style, const FigureSwatches& swatches) {
  if (!style.width) {
    return {grid_of(heatmap, style, {})};
  }
  Plan plan = fitting_plan(heatmap, style, swatches);
  if (must_be_whole(heatmap, style, plan.grid)) {
    plan = {whole_grid(heatmap, style), LegendPlace::kBelow};
    check_fits(FigureBuilder(heatmap, style, swatches, plan.grid, plan.place).needed_width(),
               style);
  }
  return plan;
}

}  // namespace

int least_width(const Heatmap& heatmap, const FigureStyle& style) {
  const FigureSwatches swatches(heatmap, style);
  const FigureGrid smallest = grid_of(heatmap, style, 0);
  if (must_be_whole(heatmap, style, smallest)) {
    return FigureBuilder(heatmap, style, swatches, whole_grid(heatmap, style), LegendPlace::kBelow)
        .needed_width();
  }
  return std::min(
      FigureBuilder(heatmap, style, swatches, smallest, LegendPlace::kBeside).needed_width(),
      FigureBuilder(heatmap, style, swatches, smallest, LegendPlace::kBelow).needed_width());
}

FigureGrid heatmap_grid(const Heatmap& heatmap, const FigureStyle& style) {
  return style.width ? planned(heatmap, style, FigureSwatches(heatmap, style)).grid
                     : grid_of(heatmap, style, {});
}

FigureLayout lay_out_figure(const Heatmap& heatmap, const FigureStyle& style) {
  const FigureSwatches swatches(heatmap, style);
  const Plan plan = planned(heatmap, style, swatches);
  return FigureBuilder(heatmap, style, swatches, plan.grid, plan.place).build();
}

}  // namespace attnviz
