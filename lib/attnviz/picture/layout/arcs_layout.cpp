#include "attnviz/picture/layout/layouts.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/core/utf8.h"

namespace attnviz {

namespace {

// Lengths are pixels at 96 dpi.
constexpr int kLeastArcsWidth = 480;
constexpr int kWidestArcs = 1500;  // for panels beside each other,
constexpr int kWidestTall = 4096;  // and for panels higher than
constexpr int kTall = 1000;
constexpr int kHighestArcs = 4000;  // of a panel, while rows have a pixel
constexpr int kPanelGap = 40;
constexpr int kLabelSpace = 7;  // between a label and its lines
constexpr int kSample = 26;     // a line in a legend
constexpr int kSampleSpace = 6;
constexpr int kItemSpace = 18;            // between the items of a legend
constexpr std::size_t kLongestName = 48;  // columns

// This few kinds of lines keep a file small, and are still more than the eye can distinguish.
constexpr std::size_t kLevels = 16;

std::size_t level_of(float strength) {
  const float level = std::ceil(strength * static_cast<float>(kLevels));
  return static_cast<std::size_t>(std::clamp(level, 1.0f, static_cast<float>(kLevels)));
}

// A sample of lines, and its meaning.
struct LegendItem {
  std::string text;
  Rgb color;
  std::size_t level = 0;  // of the sample; 0: only a colour
};

class ArcsLayout : PanelFigure {
 public:
  ArcsLayout(const ArcsFigure& figure, const FigureStyle& style)
      : PanelFigure(style),
        figure_(figure),
        left_(axis(figure.query_labels.size(), figure.first_query)),
        right_(axis(figure.key_labels.size(), figure.first_key)),
        left_labels_(query_axis_labels(left_, figure.query_labels, style)),
        right_labels_(query_axis_labels(right_, figure.key_labels, style)) {
    if (figure.first_query.has_sink()) {
      left_labels_.labels.front() = {};  // opposite the sink
    }
  }

  Scene make() && {
    measure();
    int y = add_title(figure_.title);
    y = add_legend(group_items(), "", y);
    for (std::size_t first = 0; first < n_panels(); first += columns_) {
      y = add_row(first, std::min(columns_, n_panels() - first), y + px(kSpace));
    }
    y = add_legend(scale_items(), figure_.value_name + ":", y + px(kSpace));
    return finish(y, figure_.notes, hidden_arcs_note(figure_, figure_.least));
  }

 private:
  std::size_t n_panels() const { return figure_.panels.size(); }
  std::size_t n_groups() const { return figure_.panels.front().groups.size(); }
  // Groups beside each other in a row, each in its own lane.
  std::size_t n_lanes() const { return figure_.is_signed() ? 1 : n_groups(); }

  // Lines that are both thin and faint would be lost on paper, so a tenth of the scale must be
  // visible. Weaker lines are the majority in long texts, and many groups mean more lines: together
  // they must not fill the area.
  double opacity_of(std::size_t level) const {
    const auto crowd = static_cast<double>(n_lanes() - 1) / (kMostGroups - 1);
    const double faintest = 0.2 - 0.1 * crowd;
    const double share = static_cast<double>(level - 1) / (kLevels - 1);
    return faintest + (1.0 - faintest) * std::pow(share, 0.5 + 0.25 * crowd);
  }

  // In pixels of the figure.
  double width_of(std::size_t level) const {
    constexpr double kThinnest = 0.8;
    constexpr double kWidestLine = 2.8;
    const double unit = style_.dpi / static_cast<double>(kUsualDpi);
    const double room = n_lanes() == 1 ? kWidestLine : 1.25 * lanes_apart() / unit;
    const double widest = std::clamp(room, kThinnest + 0.4, kWidestLine);
    const double share = static_cast<double>(level - 1) / (kLevels - 1);
    return std::round((kThinnest + (widest - kThinnest) * share) * unit * 100.0) / 100.0;
  }

  // Rows of a few tokens are spaced widely, rows of many only as far as reading needs; more where
  // they have many lanes.
  CellAxis axis(std::size_t n_tokens, const EntryNumbers& first) const {
    const int lanes = static_cast<int>(n_lanes());
    const int roomy = std::clamp(4 * lanes, 24, 48);
    const int dense = std::clamp(2 * lanes, 14, 24);
    constexpr int kRoomyHeight = 600;
    const std::size_t n_rows = std::max(figure_.query_labels.size(), figure_.key_labels.size());
    const auto fitting = [n_rows](int height) { return height / static_cast<int>(n_rows); };
    const int pitch = style_.cell > 0 ? style_.cell
                                      : std::clamp(std::max(std::min(roomy, fitting(kRoomyHeight)),
                                                            std::min(dense, fitting(kHighestArcs))),
                                                   1, roomy);
    return {{n_tokens, 1, first}, px(pitch), 0};
  }

  int labels_width(const AxisLabels& labels) const {
    return static_cast<int>(labels.longest) * labels.column_width;
  }

  void measure() {
    for (const CellAxis& axis : {left_, right_}) {  // before lengths are rounded to whole pixels
      check_size(1.0, static_cast<double>(axis.n_cells()) * axis.pitch, style_);
    }
    height_ = std::max(left_.length(), right_.length());
    // Labels of rows that are lower than text extend beyond both ends.
    overhang_ = std::max(0, line_height(left_labels_.column_width) - left_.pitch + 1) / 2;
    left_width_ = std::max(labels_width(left_labels_), text_width(figure_.query_axis));
    right_width_ = std::max(labels_width(right_labels_), text_width(figure_.key_axis));
    constexpr int kLeastLines = 220;
    constexpr int kMostLines = 460;
    constexpr int kShortestLines = 80;  // in a figure of a given width,
    constexpr int kUsualLines = 200;    // and for panels beside each other there
    const int around = left_width_ + right_width_ + 2 * px(kLabelSpace);
    int lines = std::clamp(height_ * 2 / 5, px(kLeastLines), px(kMostLines));
    if (style_.width) {
      check_fits(around + px(kShortestLines) + 2 * margin(), style_);
      lines = px(kUsualLines);
    }
    panel_width_ = place_columns(n_panels(), around + lines, px(kPanelGap),
                                 px(height_ > px(kTall) ? kWidestTall : kWidestArcs));
    lines_width_ = panel_width_ - around;
    const auto n = static_cast<int>(columns_);
    panels_width_ = n * panel_width_ + (n - 1) * px(kPanelGap);
    width_ = style_.width ? width_ : std::max(width_, px(kLeastArcsWidth));
    check_size(width_, height_, style_);
  }

  std::vector<LegendItem> group_items() const {
    std::vector<LegendItem> items;
    for (const ArcsGroup& group : figure_.panels.front().groups) {
      items.push_back({style_.fonts->shorten(printable_message(group.name), kLongestName),
                       color_of_group(group.color)});
    }
    return items;
  }

  std::vector<LegendItem> scale_items() const {
    std::vector<LegendItem> items;
    for (const float strength : {0.1f, 0.25f, 0.5f, 1.0f}) {
      const bool is_open = strength == 1.0f && figure_.has_stronger;
      items.push_back(
          {fmt::format("{}{:.3g}", is_open ? "≥ " : "", value_at(figure_.scale, strength)),
           theme().text, level_of(strength)});
    }
    return items;
  }

  int item_width(const LegendItem& item) const {
    return px(kSample) + px(kSampleSpace) + text_width(item.text);
  }

  // Adds centred rows of samples, after `name` unless it is empty. Returns where the figure
  // continues.
  int add_legend(const std::vector<LegendItem>& items, const std::string& name, int y) {
    const int name_width = name.empty() ? 0 : text_width(name) + px(kItemSpace);
    for (std::size_t first = 0, count = 0; first < items.size(); first += count) {
      int taken = first == 0 ? name_width : 0;
      for (count = 0; first + count < items.size(); ++count) {
        const int more = item_width(items[first + count]) + (count > 0 ? px(kItemSpace) : 0);
        if (count > 0 && taken + more > room()) {
          break;
        }
        taken += more;
      }
      int x = margin() + std::max(0, (room() - taken) / 2);
      if (first == 0 && !name.empty()) {
        texts_.add(TextRole::kLegend, name, px(kTextColumn), x, y);
        x += name_width;
      }
      for (std::size_t i = first; i < first + count; ++i) {
        add_item(items[i], x, y);
        x += item_width(items[i]) + px(kItemSpace);
      }
      y += line_ + px(2);
    }
    return y;
  }

  void add_item(const LegendItem& item, int x, int y) {
    constexpr int kColorSample = 4;
    const double middle = y + line_ / 2.0;
    std::vector<Curve> sample = {
        {{static_cast<double>(x), middle}, {static_cast<double>(x + px(kSample)), middle}, 0.0}};
    if (item.level == 0) {
      const double width = px(kColorSample);
      items_.emplace_back(Strokes{std::move(sample), width, item.color, 1.0});
    } else {
      add_strokes(std::move(sample), item.color, item.level);
    }
    texts_.add(TextRole::kLegend, item.text, px(kTextColumn), x + px(kSample) + px(kSampleSpace),
               y);
  }

  void add_strokes(std::vector<Curve> curves, Rgb color, std::size_t level) {
    items_.emplace_back(Strokes{std::move(curves), width_of(level), color, opacity_of(level)});
  }

  // Adds panels beside each other. Returns where the figure continues.
  int add_row(std::size_t first, std::size_t count, int y) {
    const bool has_titles = n_panels() > 1 || !figure_.panels.front().title.empty();
    const int head = (has_titles ? line_ + px(4) : 0) + line_ + px(4) + overhang_;
    int x = (width_ - panels_width_) / 2;
    for (std::size_t i = first; i < first + count; ++i) {
      const ArcsPanel& panel = figure_.panels[i];
      if (!panel.title.empty()) {
        const auto fitting = static_cast<std::size_t>(panel_width_ / px(kTextColumn));
        texts_.add_centred(TextRole::kPanelTitle,
                           style_.fonts->shorten(printable_message(panel.title), fitting),
                           px(kTextColumn), x, panel_width_, y);
      }
      add_panel(panel, x, y + head);
      x += panel_width_ + px(kPanelGap);
    }
    return y + head + height_ + overhang_;
  }

  void add_panel(const ArcsPanel& panel, int x, int y) {
    const int text = px(kTextColumn);
    const int begin = x + left_width_ + px(kLabelSpace);
    const int end = begin + lines_width_;
    const int above = y - line_ - px(4) - overhang_;
    texts_.add(TextRole::kAxisName, figure_.query_axis, text,
               x + left_width_ - text_width(figure_.query_axis), above);
    texts_.add(TextRole::kAxisName, figure_.key_axis, text, end + px(kLabelSpace), above);
    add_labels(left_, left_labels_, x + left_width_, y, /*on_left=*/true);
    add_labels(right_, right_labels_, end + px(kLabelSpace), y, /*on_left=*/false);
    std::array<std::vector<std::vector<Curve>>, kLevels> curves;  // by level, then group
    curves.fill(std::vector<std::vector<Curve>>(panel.groups.size()));
    for (std::size_t i = 0; i < panel.groups.size(); ++i) {
      const double aside = n_lanes() > 1 ? lane(i) : 0.0;
      for (const ArcsEdge& edge : panel.groups[i].edges) {
        const PixelPoint from = {static_cast<double>(begin), y + middle(edge.query) + aside};
        const PixelPoint to = {static_cast<double>(end), y + middle(edge.key) + aside};
        constexpr double kBend = 0.3;
        const double bend = edge.query == edge.key ? 0.0 : std::round(kBend * lines_width_);
        curves[level_of(edge.strength) - 1][i].push_back({from, to, bend});
      }
    }
    for (std::size_t level = 1; level <= kLevels; ++level) {
      for (std::size_t i = 0; i < panel.groups.size(); ++i) {
        if (std::vector<Curve>& of_group = curves[level - 1][i]; !of_group.empty()) {
          add_strokes(std::move(of_group), color_of_group(panel.groups[i].color), level);
        }
      }
    }
  }

  // From the top of a panel to the start of a row's lines.
  double middle(std::size_t row) const { return (static_cast<double>(row) + 0.5) * left_.pitch; }

  // Groups whose lines would hide each other lie slightly above or below the middle.
  double lane(std::size_t group) const {
    const double off = static_cast<double>(group) - static_cast<double>(n_lanes() - 1) / 2.0;
    return std::round(off * lanes_apart() * 10.0) / 10.0;
  }

  double lanes_apart() const {
    constexpr double kWidestLane = 3.0;
    constexpr double kShare = 0.75;  // of a row
    return std::min(kWidestLane * style_.dpi / kUsualDpi,
                    kShare * left_.pitch / static_cast<double>(n_lanes()));
  }

  // Adds labels that end at `x` on the left, or begin there on the right.
  void add_labels(const CellAxis& axis, const AxisLabels& labels, int x, int y, bool on_left) {
    const int column = labels.column_width;
    for (std::size_t i = 0; i < labels.labels.size(); ++i) {
      const AxisLabel& label = labels.labels[i];
      if (label.text.empty()) {
        continue;
      }
      const std::size_t row = i * labels.step;
      const int top = y + axis.middle(row) - line_height(column) / 2;
      const int index = static_cast<int>(label.index.size()) * column;
      const int gap = label.index.empty() ? 0 : column;
      const int wide = static_cast<int>(label.text_columns) * column;
      const bool is_aside =
          figure_.focus && figure_.focus->as_key != on_left && figure_.focus->token != row;
      const TextRole role = is_aside  ? TextRole::kIndex
                            : on_left ? TextRole::kQueryLabel
                                      : TextRole::kKeyLabel;
      if (!label.index.empty()) {
        texts_.add(TextRole::kIndex, label.index, column, on_left ? x - index : x, top);
      }
      texts_.add(role, label.text, column, on_left ? x - index - gap - wide : x + index + gap, top);
    }
  }

  const ArcsFigure& figure_;
  CellAxis left_, right_;
  AxisLabels left_labels_, right_labels_;
  int height_ = 0;  // of a panel's rows; the next ones of its other parts
  int overhang_ = 0;
  int left_width_ = 0;
  int right_width_ = 0;
  int lines_width_ = 0;
  int panel_width_ = 0;
  int panels_width_ = 0;  // of panels beside each other
};

}  // namespace

Scene arcs_scene(const ArcsFigure& figure, const FigureStyle& style) {
  check(style);
  return ArcsLayout(figure, style).make();
}

}  // namespace attnviz
