#include "attnviz/picture/layout/layouts.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/core/utf8.h"
#include "attnviz/picture/fonts/text_box.h"
#include "attnviz/picture/layout/figure_grid.h"
#include "attnviz/picture/layout/figure_labels.h"

namespace attnviz {

namespace {

// Lengths are pixels at 96 dpi.
constexpr int kMargin = 16;
constexpr int kLeastArcsWidth = 480;
constexpr int kWidestArcs = 1500;  // of panels beside each other,
constexpr int kWidestTall = 4096;  // and of panels higher than
constexpr int kTall = 1000;
constexpr int kHighestArcs = 4000;  // of a panel, while rows have a pixel
constexpr int kPanelGap = 40;
constexpr int kLabelSpace = 7;  // between a label and its lines
constexpr int kSample = 26;     // a line in a legend
constexpr int kSampleSpace = 6;
constexpr int kItemSpace = 18;  // between the items of a legend
constexpr std::size_t kMostLinesOfTitle = 3;
constexpr std::size_t kLongestName = 48;  // columns

// So few kinds of lines keep a file small, and are more than eyes tell apart.
constexpr std::size_t kLevels = 16;

std::size_t level_of(float strength) {
  const float level = std::ceil(strength * static_cast<float>(kLevels));
  return static_cast<std::size_t>(std::clamp(level, 1.0f, static_cast<float>(kLevels)));
}

// A sample of lines, and what it stands for.
struct LegendItem {
  std::string text;
  Rgb color;
  std::size_t level = 0;  // of the sample; 0: it shows a colour alone
};

class ArcsLayout {
 public:
  ArcsLayout(const ArcsFigure& figure, const FigureStyle& style)
      : figure_(figure),
        style_(style),
        texts_(style),
        line_(line_height(style.pixels(kTextColumn))),
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
    int y = px(kMargin);
    const int room = width_ - 2 * px(kMargin);
    y = texts_.add_title(figure_.title, kMostLinesOfTitle, {px(kMargin), y, room});
    y = add_legend(group_items(), "", y);
    for (std::size_t first = 0; first < n_panels(); first += columns_) {
      y = add_row(first, std::min(columns_, n_panels() - first), y + px(kSpace));
    }
    y = add_legend(scale_items(), figure_.value_name + ":", y + px(kSpace));
    const int notes_y = y;
    y = texts_.add_notes(figure_.notes, weaker_note(figure_, figure_.least),
                         {px(kMargin), y, room});
    Scene scene = {width_, y + px(kMargin), style_.dpi, theme().background, {}};
    check_size(scene.width, scene.height, style_, y - notes_y);
    scene.items = std::move(items_);
    std::ranges::move(texts_.take(), std::back_inserter(scene.items));
    return scene;
  }

 private:
  int px(double length) const { return style_.pixels(length); }
  const ThemeColors& theme() const { return theme_colors(style_.theme); }
  std::size_t n_panels() const { return figure_.panels.size(); }
  bool is_dark() const { return style_.theme == FigureTheme::kDark; }
  Rgb color_of(std::size_t number) const {
    return is_dark() ? group_color(number).dark : group_color(number).light;
  }

  std::size_t n_groups() const { return figure_.panels.front().groups.size(); }
  // Groups beside each other in a row, each in a lane of its own.
  std::size_t n_lanes() const { return figure_.is_signed() ? 1 : n_groups(); }

  // Thin lines that are faint, too, would be lost on paper: what has a tenth of the scale is to be
  // seen. What has less is most lines of long texts, and many groups are more lines: these must not
  // add up to a surface.
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

  // Rows of few tokens have air between them, and of many as much as they need to be read; more
  // where they have many lanes.
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
    for (const CellAxis& axis : {left_, right_}) {  // before lengths are whole pixels
      check_size(1.0, static_cast<double>(axis.n_cells()) * axis.pitch, style_);
    }
    height_ = std::max(left_.length(), right_.length());
    // Labels of rows that are lower than text stand out at both ends.
    overhang_ = std::max(0, line_height(left_labels_.column_width) - left_.pitch + 1) / 2;
    const int text = px(kTextColumn);
    left_width_ = std::max(labels_width(left_labels_), texts_.width(figure_.query_axis, text));
    right_width_ = std::max(labels_width(right_labels_), texts_.width(figure_.key_axis, text));
    constexpr int kLeastLines = 220;
    constexpr int kMostLines = 460;
    lines_width_ = std::clamp(height_ * 2 / 5, px(kLeastLines), px(kMostLines));
    if (style_.width) {
      return fit();
    }
    panel_width_ = labels_and_spaces() + lines_width_;
    const int widest = px(height_ > px(kTall) ? kWidestTall : kWidestArcs) - 2 * px(kMargin);
    const int fitting = (widest + px(kPanelGap)) / (panel_width_ + px(kPanelGap));
    columns_ =
        std::clamp<std::size_t>(static_cast<std::size_t>(std::max(fitting, 1)), 1, n_panels());
    const auto n = static_cast<int>(columns_);
    panels_width_ = n * panel_width_ + (n - 1) * px(kPanelGap);
    width_ = std::max(panels_width_ + 2 * px(kMargin), px(kLeastArcsWidth));
    check_size(width_, height_, style_);
  }

  int labels_and_spaces() const { return left_width_ + right_width_ + 2 * px(kLabelSpace); }

  // Lines as long as panels that fill the given width leave room for.
  void fit() {
    constexpr int kShortestLines = 80;
    constexpr int kUsualLines = 200;  // of panels beside each other
    width_ = style_.width_pixels();
    const int room = width_ - 2 * px(kMargin);
    check_fits(labels_and_spaces() + px(kShortestLines) + 2 * px(kMargin), style_);
    const int usual = labels_and_spaces() + px(kUsualLines);
    const int fitting = (room + px(kPanelGap)) / (usual + px(kPanelGap));
    columns_ =
        std::clamp<std::size_t>(static_cast<std::size_t>(std::max(fitting, 1)), 1, n_panels());
    const auto n = static_cast<int>(columns_);
    panel_width_ = (room + px(kPanelGap)) / n - px(kPanelGap);
    lines_width_ = panel_width_ - labels_and_spaces();
    panels_width_ = n * panel_width_ + (n - 1) * px(kPanelGap);
    check_size(width_, height_, style_);
  }

  std::vector<LegendItem> group_items() const {
    std::vector<LegendItem> items;
    for (const ArcsGroup& group : figure_.panels.front().groups) {
      items.push_back({style_.fonts->shorten(printable_message(group.name), kLongestName),
                       color_of(group.color)});
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
    return px(kSample) + px(kSampleSpace) + texts_.width(item.text, px(kTextColumn));
  }

  // Centred rows of samples, behind `name` where it is not empty. Returns where it goes on.
  int add_legend(const std::vector<LegendItem>& items, const std::string& name, int y) {
    const int room = width_ - 2 * px(kMargin);
    const int name_width = name.empty() ? 0 : texts_.width(name, px(kTextColumn)) + px(kItemSpace);
    for (std::size_t first = 0, count = 0; first < items.size(); first += count) {
      int taken = first == 0 ? name_width : 0;
      for (count = 0; first + count < items.size(); ++count) {
        const int more = item_width(items[first + count]) + (count > 0 ? px(kItemSpace) : 0);
        if (count > 0 && taken + more > room) {
          break;
        }
        taken += more;
      }
      int x = px(kMargin) + std::max(0, (room - taken) / 2);
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

  // Panels beside each other. Returns where the figure goes on.
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
               x + left_width_ - texts_.width(figure_.query_axis, text), above);
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
          add_strokes(std::move(of_group), color_of(panel.groups[i].color), level);
        }
      }
    }
  }

  // From the top of a panel to where lines of a row begin.
  double middle(std::size_t row) const { return (static_cast<double>(row) + 0.5) * left_.pitch; }

  // Groups whose lines would hide each other lie a little above or below the middle.
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

  // Ending at `x` on the left, beginning there on the right.
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
  const FigureStyle& style_;
  FigureTexts texts_;
  int line_;  // the height of text
  CellAxis left_, right_;
  AxisLabels left_labels_, right_labels_;
  int height_ = 0;  // of a panel's rows, and what follows of its parts
  int overhang_ = 0;
  int left_width_ = 0;
  int right_width_ = 0;
  int lines_width_ = 0;
  int panel_width_ = 0;
  int panels_width_ = 0;  // of those beside each other
  std::size_t columns_ = 1;
  int width_ = 0;
  std::vector<SceneItem> items_;
};

}  // namespace

Scene arcs_scene(const ArcsFigure& figure, const FigureStyle& style) {
  check(style);
  return ArcsLayout(figure, style).make();
}

}  // namespace attnviz
