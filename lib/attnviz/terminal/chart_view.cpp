#include "attnviz/terminal/views.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/core/utf8.h"
#include "attnviz/terminal/page/page.h"

namespace attnviz {

namespace {

constexpr std::size_t kLeastPlot = 8;  // columns
constexpr std::size_t kMostPlot = 64;
constexpr std::size_t kChartsGap = 4;
constexpr std::size_t kLeastChart = 56;  // columns of a chart beside another

// Signs of lines in 7 bits, in the order of their colours, avoiding the characters of formulas and
// axes.
constexpr char kSigns[] = {'#', 'o', '@', '%', '&', '$'};
constexpr char kReferenceSign = '.';
constexpr std::size_t kReferencePeriod = 3;  // cells from one sign to the next

// One chart with its own width.
class ChartDrawing {
 public:
  ChartDrawing(const LineChart& chart, const TerminalOptions& options, std::size_t rows)
      : chart_(chart), options_(options), charset_(options.style), rows_(rows) {
    for (const ChartTick& tick : up_ticks()) {
      left_ = std::max(left_, display_width(charset_.formula(tick.label)));
    }
    std::size_t names = 0;
    for (const ChartSeries& series : chart.series) {
      names = std::max(names, display_width(text_of(series)) + 1);
    }
    const std::size_t frame = left_ + 2;
    names_ = std::min(names, options.columns / 3);
    const std::size_t room = options.columns - std::min(options.columns, frame + names_);
    plot_ = std::clamp(room, kLeastPlot, kMostPlot);
    names_ = options.columns - std::min(options.columns, frame + plot_);
  }

  std::vector<Line> draw() {
    std::vector<Line> lines;
    Line title(fitted(charset_.formula(chart_.title)), kBold);
    // Most titles name the vertical axis.
    if (chart_.title.find(chart_.y.name) == std::string::npos) {
      const std::size_t used = title.width();
      const std::string name = charset_.formula(chart_.y.name);
      const std::string beside = used == 0 ? name : fmt::format(" ({})", name);
      if (used + display_width(beside) <= options_.columns) {
        title.put(beside, kDim);
      }
    }
    lines.push_back(std::move(title));
    std::vector<Line> plot = charset_.is_ascii() ? in_signs() : in_dots();
    const std::vector<Span> names = names_at_rows();
    for (std::size_t row = 0; row < rows_; ++row) {
      Line line;
      const std::string label = up_label(row);
      line.space(left_ - display_width(label));
      line.put(label);
      line.put(charset_.is_ascii() ? (label.empty() ? " |" : " +")
               : label.empty()     ? " │"
                                   : " ┤",
               kDim);
      line.put(std::move(plot[row]));
      line.put(names[row].text, names[row].style);
      lines.push_back(std::move(line));
    }
    add_foot(lines);
    return lines;
  }

 private:
  std::string fitted(const std::string& text) const {
    return charset_.fitted(text, options_.columns);
  }
  std::vector<ChartTick> up_ticks() const {
    return chart_ticks(chart_.y, std::max<std::size_t>(2, (rows_ + 1) / 2));
  }

  // The row of cells at a relative height.
  std::size_t row_of(double position) const {
    const auto row = std::lround((1.0 - position) * static_cast<double>(rows_ - 1));
    return static_cast<std::size_t>(std::clamp<long>(row, 0, static_cast<long>(rows_) - 1));
  }

  std::string up_label(std::size_t row) const {
    for (const ChartTick& tick : up_ticks()) {
      if (row_of(chart_.y.position(tick.value)) == row) {
        return charset_.formula(tick.label);
      }
    }
    return {};
  }

  char sign_of(const ChartSeries& series) const {
    return series.is_reference ? kReferenceSign : kSigns[series.color % std::size(kSigns)];
  }

  // "* measured".
  std::string text_of(const ChartSeries& series) const {
    const std::string name = charset_.formula(series.name);
    return charset_.is_ascii() ? std::string(1, sign_of(series)) + " " + name : name;
  }

  Style style_of(const ChartSeries& series) const {
    if (series.is_reference) {
      return kDim;
    }
    return group_ink(series.color % kMostGroups, options_.color);
  }

  std::vector<ChartPoint> drawn_points(const ChartSeries& series) const {
    std::vector<ChartPoint> points;
    for (const ChartPoint& point : series.points) {
      if (is_drawn(chart_, point)) {
        points.push_back({std::clamp(chart_.x.position(point.x), 0.0, 1.0),
                          std::clamp(chart_.y.position(point.y), 0.0, 1.0)});
      }
    }
    return points;
  }

  std::vector<const ChartSeries*> references_first() const {
    std::vector<const ChartSeries*> order;
    for (const bool reference : {true, false}) {
      for (const ChartSeries& series : chart_.series) {
        if (series.is_reference == reference) {
          order.push_back(&series);
        }
      }
    }
    return order;
  }

  // Sparse signs on top remain visible where they coincide with a line.
  std::vector<const ChartSeries*> references_last() const {
    std::vector<const ChartSeries*> order = references_first();
    std::stable_partition(order.begin(), order.end(),
                          [](const ChartSeries* series) { return !series->is_reference; });
    return order;
  }

  std::vector<Line> in_dots() const {
    BrailleCanvas canvas(plot_, rows_);
    const auto across = static_cast<double>(canvas.dots_across() - 1);
    // Ticks are in the middle of their row, and so are the ends of the axis.
    const auto down = static_cast<double>(4 * (rows_ - 1));
    const auto dot = [&](const ChartPoint& point) {
      return DotPoint{static_cast<std::size_t>(std::lround(point.x * across)),
                      static_cast<std::size_t>(std::lround((1.0 - point.y) * down + 1.5))};
    };
    for (const ChartSeries* series : references_first()) {
      const std::vector<ChartPoint> points = drawn_points(*series);
      const std::size_t period = series->is_reference                  ? 3
                                 : options_.color == ColorDepth::kNone ? 1 + series->color % 2
                                                                       : 1;
      for (std::size_t i = 0; i < points.size(); ++i) {
        canvas.line(dot(points[i > 0 ? i - 1 : 0]), dot(points[i]), period, false,
                    style_of(*series));
      }
    }
    std::vector<Line> lines;
    for (std::size_t row = 0; row < rows_; ++row) {
      lines.push_back(canvas.row(row));
    }
    return lines;
  }

  std::vector<Line> in_signs() const {
    std::vector<std::vector<const ChartSeries*>> cells(
        rows_, std::vector<const ChartSeries*>(plot_, nullptr));
    for (const ChartSeries* series : references_last()) {
      const std::vector<ChartPoint> points = drawn_points(*series);
      for (std::size_t i = 0; i < points.size(); ++i) {
        const ChartPoint from = points[i > 0 ? i - 1 : 0];
        const ChartPoint to = points[i];
        const auto column = [this](double x) {
          return static_cast<std::size_t>(std::lround(x * static_cast<double>(plot_ - 1)));
        };
        for (std::size_t at = column(from.x); at <= column(to.x); ++at) {
          if (series->is_reference && at % kReferencePeriod != 1) {
            continue;
          }
          const double x = static_cast<double>(at) / static_cast<double>(plot_ - 1);
          const double share =
              to.x > from.x ? std::clamp((x - from.x) / (to.x - from.x), 0.0, 1.0) : 1.0;
          cells[row_of(from.y + share * (to.y - from.y))][at] = series;
        }
      }
    }
    std::vector<Line> lines;
    for (const auto& row : cells) {
      Line line;
      for (const ChartSeries* series : row) {
        line.put(series == nullptr ? std::string(" ") : std::string(1, sign_of(*series)),
                 series == nullptr ? Style{} : style_of(*series));
      }
      lines.push_back(std::move(line));
    }
    return lines;
  }

  // Names in the rows where their lines end, or as close as possible.
  std::vector<Span> names_at_rows() const {
    std::vector<Span> names(rows_);
    struct End {
      const ChartSeries* series;
      std::size_t row;
    };
    std::vector<End> ends;
    for (const ChartSeries& series : chart_.series) {
      if (const std::vector<ChartPoint> points = drawn_points(series); !points.empty()) {
        ends.push_back({&series, row_of(points.back().y)});
      }
    }
    std::ranges::stable_sort(ends, {}, &End::row);
    for (std::size_t i = 1; i < ends.size(); ++i) {
      ends[i].row = std::max(ends[i].row, ends[i - 1].row + 1);
    }
    std::size_t most = rows_ - 1;
    for (std::size_t i = ends.size(); i-- > 0;) {
      ends[i].row = std::min(ends[i].row, most);
      most = ends[i].row - std::min<std::size_t>(ends[i].row, 1);
    }
    for (const End& end : ends) {
      names[end.row] = {charset_.fitted(" " + text_of(*end.series), names_), style_of(*end.series)};
    }
    return names;
  }

  void add_foot(std::vector<Line>& lines) const {
    std::string rule(plot_, '-');
    std::string labels(left_ + 2 + plot_ + names_, ' ');
    std::vector<bool> marks(plot_, false);
    std::size_t free_from = 0;
    const std::size_t most = std::max<std::size_t>(2, plot_ / 6);
    for (const ChartTick& tick : chart_ticks(chart_.x, most)) {
      const auto at = static_cast<std::size_t>(std::lround(
          std::clamp(chart_.x.position(tick.value), 0.0, 1.0) * static_cast<double>(plot_ - 1)));
      const std::size_t middle = left_ + 2 + at;
      const std::size_t begin = middle - std::min(middle, tick.label.size() / 2);
      if (begin >= free_from && begin + tick.label.size() <= labels.size()) {
        labels.replace(begin, tick.label.size(), tick.label);
        free_from = begin + tick.label.size() + 1;
        marks[at] = true;
      }
    }
    Line axis;
    axis.space(left_);
    std::string signs = charset_.is_ascii() ? " +" : " └";
    for (std::size_t at = 0; at < plot_; ++at) {
      signs += charset_.is_ascii() ? (marks[at] ? "+" : "-") : marks[at] ? "┬" : "─";
    }
    axis.put(signs, kDim);
    lines.push_back(std::move(axis));
    labels.erase(labels.find_last_not_of(' ') + 1);
    Line foot(labels);
    const std::string name = " " + charset_.formula(chart_.x.name);
    if (labels.size() + display_width(name) <= options_.columns) {
      foot.put(name, kDim);
    }
    lines.push_back(std::move(foot));
  }

  const LineChart& chart_;
  TerminalOptions options_;
  Charset charset_;
  std::size_t rows_;
  std::size_t left_ = 0;   // columns of the vertical axis labels
  std::size_t plot_ = 0;   // of the plot
  std::size_t names_ = 0;  // of the lines' names
};

}  // namespace

Page chart_page(const ChartFigure& figure, const TerminalOptions& given, std::size_t rows) {
  const TerminalOptions options = wide_enough(given);
  const std::size_t n = figure.charts.size();
  const std::size_t each =
      (options.columns + kChartsGap) / n - std::min(kChartsGap, options.columns);
  const bool is_beside = n > 1 && each >= kLeastChart;
  TerminalOptions one = options;
  one.columns = is_beside ? each : options.columns;
  Page page;
  std::vector<std::vector<Line>> beside;
  for (const LineChart& chart : figure.charts) {
    std::vector<Line> lines = ChartDrawing(chart, one, rows).draw();
    if (is_beside) {
      beside.push_back(std::move(lines));
      continue;
    }
    for (Line& line : lines) {
      page.add(std::move(line));
    }
  }
  for (std::size_t row = 0; is_beside && row < beside.front().size(); ++row) {
    Line line;
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t width = beside[i][row].width();
      line.put(std::move(beside[i][row]));
      line.space(i + 1 < n ? each + kChartsGap - std::min(each, width) : 0);
    }
    page.add(std::move(line));
  }
  return page;
}

}  // namespace attnviz
