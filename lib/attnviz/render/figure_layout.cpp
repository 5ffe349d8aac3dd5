#include "attnviz/render/figure_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "attnviz/core/utf8.h"
#include "attnviz/render/color_ticks.h"

namespace attnviz {

namespace {

constexpr double kSlope = 1.0 / std::numbers::sqrt2;  // sine and cosine of 45°

constexpr int kTitleColumn = 9;
constexpr int kTextColumn = 7;
constexpr int kSmallestColumn = 5;
constexpr std::size_t kLongestLabel = 20;
constexpr std::size_t kMostTitleLines = 3;
constexpr std::size_t kMostNoteLines = 4;  // of one note
constexpr int kLeastWidth = 420;
constexpr int kTickLength = 4;
constexpr int kLabelGap = 3;  // between a tick and its label
constexpr int kSpace = 10;    // between the parts of the figure
constexpr int kBarWidth = 14;
constexpr int kShortestBar = 120;
constexpr int kLongestBar = 480;
constexpr int kSwatch = 12;
constexpr const char* kMaskedName = "masked";

int ceiled(double x) {
  return static_cast<int>(std::ceil(x));
}

// The labels of one axis that are shown: every step-th cell's, in one size and direction.
struct AxisLabels {
  std::vector<std::string> texts;  // of cell 0, step, 2 * step, …
  std::vector<std::size_t> columns;
  std::size_t step = 1;
  std::size_t longest = 0;  // in columns
  int column_width = kTextColumn;
  TextAngle angle = TextAngle::kLevel;
};

std::string label_text(const std::string& raw, const FontSet& fonts) {
  const std::string safe = fonts.shorten(printable(raw), kLongestLabel);
  return safe.empty() ? "∅" : safe;
}

// The largest text that a pitch has room for, else small text at every k-th place.
int label_column_width(int room) {
  for (const int column_width : {9, 8, 7, 6, 5}) {
    const int wanted =
        column_width >= 8 ? 2 * line_height(column_width) : line_height(column_width);
    if (wanted <= room) {
      return column_width;
    }
  }
  return 6;
}

void take_labels(const CellAxis& axis, const std::vector<std::string>& raw, const FontSet& fonts,
                 AxisLabels& labels) {
  for (std::size_t cell = 0; cell < axis.n_cells(); cell += labels.step) {
    labels.texts.push_back(label_text(raw[axis.tokens.begin(cell)], fonts));
    labels.columns.push_back(fonts.columns(labels.texts.back()));
    labels.longest = std::max(labels.longest, labels.columns.back());
  }
}

std::size_t thinning(double needed, int pitch) {
  return static_cast<std::size_t>(std::max(1, ceiled(needed / pitch)));
}

AxisLabels query_labels(const CellAxis& axis, const std::vector<std::string>& raw,
                        const FontSet& fonts) {
  AxisLabels labels;
  labels.column_width = label_column_width(axis.pitch);
  labels.step = thinning(line_height(labels.column_width), axis.pitch);
  take_labels(axis, raw, fonts, labels);
  return labels;
}

AxisLabels key_labels(const CellAxis& axis, const std::vector<std::string>& raw,
                      const FontSet& fonts, int largest_column_width) {
  AxisLabels labels;
  labels.column_width = largest_column_width;
  // Slanted lines of text lie closer together than their anchors by the slope.
  const auto needed = [](int column_width) { return line_height(column_width) / kSlope; };
  if (needed(largest_column_width) > axis.pitch && needed(kSmallestColumn) <= axis.pitch) {
    labels.column_width = kSmallestColumn;
  }
  labels.step = thinning(needed(labels.column_width), axis.pitch);
  take_labels(axis, raw, fonts, labels);
  const int widest = static_cast<int>(labels.longest + 1) * largest_column_width;
  const bool level = widest <= axis.pitch;
  if (level) {
    labels.column_width = largest_column_width;
  }
  labels.angle = level ? TextAngle::kLevel : TextAngle::kRising;
  return labels;
}

int key_labels_height(const AxisLabels& labels) {
  const int high = line_height(labels.column_width);
  if (labels.angle == TextAngle::kLevel) {
    return high;
  }
  return ceiled((static_cast<double>(labels.longest) * labels.column_width + high) * kSlope) + 1;
}

bool has_masked(const HeatmapPanel& panel) {
  if (!panel.visible) {
    return false;
  }
  for (std::size_t query = 0; query < panel.values.rows; ++query) {
    for (std::size_t key = 0; key < panel.values.cols; ++key) {
      if (!panel.visible(query, key)) {
        return true;
      }
    }
  }
  return false;
}

// Lays a figure out from the top left to the bottom right; each step uses what those before it set.
class Builder {
 public:
  Builder(const Heatmap& heatmap, const FigureStyle& style)
      : heatmap_(heatmap),
        fonts_(*style.fonts),
        grid_(choose_grid(heatmap.panels.size(), heatmap.n_queries(), heatmap.n_keys(),
                          heatmap.panels_together)) {
    layout_.grid = grid_;
    queries_ = query_labels(grid_.queries, heatmap.query_labels, fonts_);
    keys_ = key_labels(grid_.keys, heatmap.key_labels, fonts_, queries_.column_width);
    ticks_ = color_ticks(heatmap.scale, static_cast<std::size_t>(bar_height() / 40) + 1);
  }

  FigureLayout build() {
    measure_width();
    place_title();
    const int body_top = y_;
    place_panels();
    const int grid_bottom = y_;
    place_legend(body_top);
    place_axis_names(body_top, grid_bottom);
    place_notes();
    choose_value_size();
    layout_.width = width_;
    layout_.height = y_ + kFigureMargin;
    return std::move(layout_);
  }

 private:
  int panel_width() const { return grid_.keys.length(); }
  int panel_height() const { return grid_.queries.length(); }

  // All panels and the gaps between them.
  int body_width() const {
    const auto columns = static_cast<int>(grid_.columns);
    return columns * panel_width() + (columns - 1) * kPanelGap;
  }

  int bar_height() const {
    return std::clamp(panel_height() * static_cast<int>(std::min<std::size_t>(grid_.rows, 2)),
                      kShortestBar, kLongestBar);
  }

  bool has_masked_cell() const {
    return std::any_of(heatmap_.panels.begin(), heatmap_.panels.end(), &has_masked);
  }

  void add(TextRole role, std::string text, int column_width, TextAngle angle, int x, int y) {
    const std::size_t columns = fonts_.columns(text);
    layout_.texts.push_back({role, std::move(text), columns, column_width, angle, x, y});
  }

  void measure_width() {
    const int name = line_height(kTextColumn) + kSpace / 2;
    int labels = static_cast<int>(queries_.longest) * queries_.column_width;
    labels += kTickLength + kLabelGap;
    if (keys_.angle == TextAngle::kRising) {
      // The first key labels reach to the left of their panel.
      for (std::size_t i = 0; i < keys_.texts.size(); ++i) {
        const double anchor = (static_cast<double>(i * keys_.step) + 0.5) * grid_.keys.pitch;
        const double reach = static_cast<double>(keys_.columns[i]) * keys_.column_width * kSlope +
                             line_height(keys_.column_width) * kSlope / 2;
        labels = std::max(labels, ceiled(reach - anchor));
      }
    }
    std::size_t tick_columns = 0;
    for (const ColorTick& tick : ticks_) {
      tick_columns = std::max(tick_columns, tick.label.size());
    }
    const int bar = kBarWidth + kTickLength + kLabelGap +
                    static_cast<int>(tick_columns) * kTextColumn + kSpace / 2 +
                    line_height(kTextColumn);
    const int swatch =
        kSwatch + kSpace / 2 + static_cast<int>(fonts_.columns(kMaskedName)) * kTextColumn;
    const int legend = 2 * kSpace + std::max(bar, swatch);

    const int content = name + labels + body_width() + legend;
    const int least = std::max(kLeastWidth, content + 2 * kFigureMargin);
    width_ = least;
    body_x_ = (width_ - content) / 2 + name + labels;
    name_x_ = (width_ - content) / 2;
    legend_x_ = body_x_ + body_width() + 2 * kSpace;
  }

  void place_lines(TextRole role, const std::string& text, int column_width,
                   std::size_t most_lines) {
    const int room = width_ - 2 * kFigureMargin;
    for (std::string& line : fonts_.wrap(
             printable_message(text), static_cast<std::size_t>(room / column_width), most_lines)) {
      const int wide = static_cast<int>(fonts_.columns(line)) * column_width;
      const int x = role == TextRole::kTitle ? (width_ - wide) / 2 : kFigureMargin;
      add(role, std::move(line), column_width, TextAngle::kLevel, x, y_);
      y_ += line_height(column_width) + 1;
    }
  }

  void place_title() {
    y_ = kFigureMargin;
    if (!heatmap_.title.empty()) {
      place_lines(TextRole::kTitle, heatmap_.title, kTitleColumn, kMostTitleLines);
      y_ += kSpace;
    }
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
      y_ += titled ? kPanelTitleHeight : 0;
      for (std::size_t i = first; i < end; ++i) {
        const int x = body_x_ + static_cast<int>(i - first) * (panel_width() + kPanelGap);
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
        y_ += kTickLength + kLabelGap + key_labels_height(keys_);
      }
      y_ += row + 1 < grid_.rows ? kPanelGap : 0;
    }
  }

  void place_panel_title(const PixelRect& panel, const std::string& title) {
    const int room = grid_.columns == 1 ? std::max(panel.width, 160) : panel.width + kPanelGap / 2;
    const int column_width = panel.width < 80 ? 6 : 8;
    const auto columns = static_cast<std::size_t>(room / column_width);
    if (title.empty() || columns < 2) {
      return;
    }
    std::string text = fonts_.shorten(printable_message(title), columns);
    const int wide = static_cast<int>(fonts_.columns(text)) * column_width;
    add(TextRole::kPanelTitle, std::move(text), column_width, TextAngle::kLevel,
        panel.x + (panel.width - wide) / 2, panel.y - line_height(column_width) - 2);
  }

  void place_query_labels(const PixelRect& panel) {
    const CellAxis& axis = grid_.queries;
    for (std::size_t i = 0; i < queries_.texts.size(); ++i) {
      const int middle =
          panel.y + static_cast<int>(i * queries_.step) * axis.pitch + (axis.pitch - axis.gap) / 2;
      layout_.ticks.push_back({panel.x - 1 - kTickLength, middle, kTickLength, 1});
      const int wide = static_cast<int>(queries_.columns[i]) * queries_.column_width;
      add(TextRole::kQueryLabel, queries_.texts[i], queries_.column_width, TextAngle::kLevel,
          panel.x - 1 - kTickLength - kLabelGap - wide,
          middle - line_height(queries_.column_width) / 2);
    }
  }

  void place_key_labels(const PixelRect& panel) {
    const CellAxis& axis = grid_.keys;
    const double half_line = line_height(keys_.column_width) / 2.0;
    for (std::size_t i = 0; i < keys_.texts.size(); ++i) {
      const int middle =
          panel.x + static_cast<int>(i * keys_.step) * axis.pitch + (axis.pitch - axis.gap) / 2;
      const int top = panel.bottom() + 1 + kTickLength + kLabelGap;
      layout_.ticks.push_back({middle, panel.bottom() + 1, 1, kTickLength});
      const double wide = static_cast<double>(keys_.columns[i]) * keys_.column_width;
      if (keys_.angle == TextAngle::kLevel) {
        add(TextRole::kKeyLabel, keys_.texts[i], keys_.column_width, TextAngle::kLevel,
            middle - static_cast<int>(wide) / 2, top);
        continue;
      }
      // The end of the text is what points at the column: its upper right corner lies on top, half
      // a line to the left of the tick.
      add(TextRole::kKeyLabel, keys_.texts[i], keys_.column_width, TextAngle::kRising,
          static_cast<int>(std::lround(middle - half_line * kSlope - wide * kSlope)),
          static_cast<int>(std::lround(top - kLabelGap / 2.0 + wide * kSlope)));
    }
  }

  void place_legend(int top) {
    const PixelRect bar = {legend_x_, layout_.panels.front().y, kBarWidth, bar_height()};
    layout_.color_bar = bar;
    int widest = 0;
    for (ColorTick& tick : ticks_) {
      const int y =
          bar.bottom() - 1 - static_cast<int>(std::lround(tick.position * (bar.height - 1)));
      layout_.ticks.push_back({bar.right() + 1, y, kTickLength, 1});
      const int wide = static_cast<int>(tick.label.size()) * kTextColumn;
      widest = std::max(widest, wide);
      add(TextRole::kLegend, std::move(tick.label), kTextColumn, TextAngle::kLevel,
          bar.right() + 1 + kTickLength + kLabelGap,
          std::max(y - line_height(kTextColumn) / 2, top));
    }
    const int name_length = static_cast<int>(fonts_.columns(heatmap_.value_name)) * kTextColumn;
    add(TextRole::kLegend, heatmap_.value_name, kTextColumn, TextAngle::kUp,
        bar.right() + 1 + kTickLength + kLabelGap + widest + kSpace / 2,
        bar.y + (bar.height + name_length) / 2);
    int bottom = bar.bottom() + line_height(kTextColumn) / 2;
    if (has_masked_cell()) {
      layout_.masked_swatch = {legend_x_, bottom + kSpace, kSwatch, kSwatch};
      add(TextRole::kLegend, kMaskedName, kTextColumn, TextAngle::kLevel,
          legend_x_ + kSwatch + kSpace / 2,
          bottom + kSpace + (kSwatch - line_height(kTextColumn)) / 2);
      bottom = layout_.masked_swatch.bottom() + 2;
    }
    y_ = std::max(y_, bottom);
  }

  void place_axis_names(int top, int grid_bottom) {
    const int query_length = static_cast<int>(fonts_.columns(heatmap_.query_axis)) * kTextColumn;
    const int first_y = layout_.panels.front().y;
    const int last_y = layout_.panels.back().bottom();
    const int bottom = std::max((first_y + last_y + query_length) / 2, top + query_length);
    add(TextRole::kAxisName, heatmap_.query_axis, kTextColumn, TextAngle::kUp, name_x_, bottom);

    const int key_length = static_cast<int>(fonts_.columns(heatmap_.key_axis)) * kTextColumn;
    const int key_y = std::max(grid_bottom, bottom) + kSpace / 2;
    // Under a narrow panel the name would reach below the legend.
    const int key_x =
        std::min(body_x_ + (body_width() - key_length) / 2, legend_x_ - kSpace - key_length);
    add(TextRole::kAxisName, heatmap_.key_axis, kTextColumn, TextAngle::kLevel, key_x, key_y);
    y_ = std::max(y_, key_y + line_height(kTextColumn));
  }

  void place_notes() {
    std::vector<std::string> notes = heatmap_.notes;
    const PoolAxis& queries = grid_.queries.tokens;
    const PoolAxis& keys = grid_.keys.tokens;
    if (queries.pooled() || keys.pooled()) {
      notes.push_back(
          fmt::format("pooled: {} x {} weights on {} x {} cells, each the {} of {} x {}",
                      queries.size, keys.size, queries.cells(), keys.cells(),
                      pool_name(heatmap_.pool), queries.block, keys.block));
    }
    if (!notes.empty()) {
      y_ += kSpace;
    }
    for (const std::string& note : notes) {
      place_lines(TextRole::kNote, note, kTextColumn, kMostNoteLines);
    }
  }

  void choose_value_size() {
    if (grid_.queries.tokens.pooled() || grid_.keys.tokens.pooled()) {
      return;
    }
    const auto columns =
        static_cast<int>(cell_numbers(heatmap_.scale.low, heatmap_.scale.high).columns);
    for (const int column_width : {8, 7, 6}) {
      const bool fits = columns * column_width + 4 <= grid_.keys.pitch - grid_.keys.gap &&
                        line_height(column_width) <= grid_.queries.pitch - grid_.queries.gap;
      if (fits) {
        layout_.value_column_width = column_width;
        return;
      }
    }
  }

  const Heatmap& heatmap_;
  const FontSet& fonts_;
  FigureGrid grid_;
  AxisLabels queries_;
  AxisLabels keys_;
  std::vector<ColorTick> ticks_;
  FigureLayout layout_;
  int width_ = 0;
  int name_x_ = 0;
  int body_x_ = 0;
  int legend_x_ = 0;
  int y_ = 0;  // below what was placed so far
};

}  // namespace

FigureLayout lay_out_figure(const Heatmap& heatmap, const FigureStyle& style) {
  return Builder(heatmap, style).build();
}

}  // namespace attnviz
