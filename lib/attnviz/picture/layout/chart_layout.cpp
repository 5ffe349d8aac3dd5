#include "attnviz/picture/layout/layouts.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace attnviz {

namespace {

// Lengths are pixels at 96 dpi.
constexpr int kPlotWidth = 440;
constexpr int kPlotHeight = 300;
constexpr int kChartGap = 36;
constexpr int kWidestCharts = 1500;
constexpr int kChartTick = 5;
constexpr int kChartSpace = 8;
constexpr std::size_t kMostNameColumns = 24;
constexpr std::size_t kMostTicksAcross = 11;
constexpr std::size_t kMostTicksUp = 7;
constexpr double kChartLine = 2.2;
constexpr double kReferenceLine = 1.2;
constexpr int kLineSample = 14;  // of a line, before its name
constexpr double kChartMark = 6.5;
constexpr std::size_t kMostMarked = 40;  // points of a line

// The lengths of a dash, and of a dash with its gap.
struct Dashes {
  double dash;
  double period;
};
constexpr Dashes kLineDashes = {7.0, 13.0};
constexpr Dashes kSampleDashes = {5.0, 9.0};     // begins and ends with a dash
constexpr std::size_t kMostChartTitleLines = 3;  // of one chart

class ChartLayout : PanelFigure {
 public:
  ChartLayout(const ChartFigure& figure, const FigureStyle& style)
      : PanelFigure(style), figure_(figure) {}

  Scene make() && {
    measure();
    int y = add_title(figure_.title);
    const int height = chart_height();
    for (std::size_t first = 0; first < figure_.charts.size(); first += columns_) {
      int x = margin();
      for (std::size_t i = first; i < std::min(first + columns_, figure_.charts.size()); ++i) {
        add_chart(figure_.charts[i], x, y);
        x += chart_width() + px(kChartGap);
      }
      y += height + px(kSpace);
    }
    return finish(y, figure_.notes);
  }

 private:
  Rgb color_of(const ChartSeries& series) const {
    return series.is_reference ? theme().text : color_of_group(series.color % kMostGroups);
  }

  std::string name_of(const ChartSeries& series) const {
    return style_.fonts->shorten(series.name, kMostNameColumns);
  }

  // The areas left and right of a plot are as wide as the widest among all charts.
  void measure() {
    for (const LineChart& chart : figure_.charts) {
      for (const ChartTick& tick : chart_ticks(chart.y, kMostTicksUp)) {
        ticks_width_ = std::max(ticks_width_, text_width(tick.label));
      }
      for (const ChartSeries& series : chart.series) {
        names_width_ = std::max(names_width_, text_width(name_of(series)));
      }
    }
    constexpr int kNarrowestPlot = 100;  // in a figure of a given width,
    constexpr int kUsualPlot = 320;      // and for charts beside each other there
    const int around = chart_width() - plot_width_;
    if (style_.width) {
      check_fits(around + px(kNarrowestPlot) + 2 * margin(), style_);
      plot_width_ = px(kUsualPlot);
    }
    plot_width_ = place_columns(figure_.charts.size(), around + plot_width_, px(kChartGap),
                                px(kWidestCharts)) -
                  around;
    check_size(width_, px(kPlotHeight), style_);
  }

  // From a plot to the names of its lines.
  int sample_room() const {
    return px(kChartSpace) / 2 + px(kLineSample) + px(kChartSpace) - px(2);
  }
  int left_width() const { return line_ + px(kChartSpace) + ticks_width_ + 2 * px(kChartTick); }
  int chart_width() const { return left_width() + plot_width_ + sample_room() + names_width_; }
  // As wide as a chart without the area left of its plot.
  std::vector<std::string> title_lines(const LineChart& chart) const {
    const int room = plot_width_ + sample_room() + names_width_;
    return style_.fonts->wrap(chart.title, static_cast<std::size_t>(room / px(kTextColumn)),
                              kMostChartTitleLines);
  }
  int head_height() const {
    std::size_t most = 1;
    for (const LineChart& chart : figure_.charts) {
      most = std::max(most, title_lines(chart).size());
    }
    return static_cast<int>(most) * line_ + px(kChartSpace);
  }
  int chart_height() const {
    return head_height() + px(kPlotHeight) + 2 * px(kChartTick) + 2 * line_ + px(kChartSpace);
  }

  PixelPoint place(const LineChart& chart, ChartPoint point, const PixelRect& plot) const {
    return {plot.x + chart.x.position(point.x) * plot.width,
            plot.y + (1.0 - chart.y.position(point.y)) * plot.height};
  }

  void box(int x, int y, int width, int height, Rgb color) {
    items_.emplace_back(Rectangle{{x, y, width, height}, color});
  }

  void add_chart(const LineChart& chart, int x, int y) {
    const PixelRect plot = {x + left_width(), y + head_height(), plot_width_, px(kPlotHeight)};
    for (std::string& title : title_lines(chart)) {
      texts_.add(TextRole::kPanelTitle, std::move(title), px(kTextColumn), plot.x, y);
      y += line_;
    }
    add_axes(chart, plot, x);
    // Dashes come last, so that they show over a line that coincides with them.
    for (const bool reference : {false, true}) {
      for (const ChartSeries& series : chart.series) {
        if (series.is_reference == reference) {
          add_series(chart, series, plot);
        }
      }
    }
    add_names(chart, plot);
  }

  void add_axes(const LineChart& chart, const PixelRect& plot, int left) {
    const int thin = px(1);
    const int text = px(kTextColumn);
    const int bottom = plot.y + plot.height;
    for (const ChartTick& tick : chart_ticks(chart.y, kMostTicksUp)) {
      const auto at = static_cast<int>(
          std::lround(plot.y + (1.0 - chart.y.position(tick.value)) * plot.height));
      box(plot.x, at, plot.width, thin, theme().masked);
      box(plot.x - px(kChartTick), at, px(kChartTick), thin, theme().tick);
      texts_.add(TextRole::kLegend, tick.label, text,
                 plot.x - 2 * px(kChartTick) - text_width(tick.label), at - line_ / 2);
    }
    int free_from = 0;  // where the next label may begin
    for (const ChartTick& tick : chart_ticks(chart.x, kMostTicksAcross)) {
      const auto at =
          static_cast<int>(std::lround(plot.x + chart.x.position(tick.value) * plot.width));
      box(at, plot.y, thin, plot.height, theme().masked);
      box(at, bottom, thin, px(kChartTick), theme().tick);
      const int begin = at - text_width(tick.label) / 2;
      if (begin >= free_from) {
        texts_.add(TextRole::kLegend, tick.label, text, begin, bottom + px(kChartTick) + px(2));
        free_from = begin + text_width(tick.label) + text;
      }
    }
    box(plot.x, plot.y, thin, plot.height + thin, theme().outline);
    box(plot.x, bottom, plot.width + thin, thin, theme().outline);
    texts_.add_centred(TextRole::kAxisName, chart.x.name, text, plot.x, plot.width,
                       bottom + 2 * px(kChartTick) + line_ + px(2));
    const int name = text_width(chart.y.name);
    texts_.add(TextRole::kAxisName, chart.y.name, text, left, plot.y + (plot.height + name) / 2,
               TextAngle::kUp);
  }

  // In pixels of the figure.
  double wide(double at_96_dpi) const { return at_96_dpi * style_.dpi / kUsualDpi; }

  void add_series(const LineChart& chart, const ChartSeries& series, const PixelRect& plot) {
    std::vector<PixelPoint> points;
    for (const ChartPoint& point : series.points) {
      if (is_drawn(chart, point)) {
        points.push_back(place(chart, point, plot));
      }
    }
    Strokes lines{{}, line_width(series), color_of(series), 1.0};
    double along = 0.0;  // of all lines so far
    for (std::size_t i = 1; i < points.size(); ++i) {
      if (series.is_reference) {
        add_dashes(points[i - 1], points[i], kLineDashes, along, lines.curves);
      } else {
        lines.curves.push_back({points[i - 1], points[i], 0.0});
      }
    }
    if (!lines.curves.empty()) {
      items_.emplace_back(std::move(lines));
    }
    if (series.is_reference || points.size() > kMostMarked) {
      return;
    }
    Strokes marks{{}, wide(kChartMark), color_of(series), 1.0};
    for (const PixelPoint& point : points) {
      marks.curves.push_back({point, {point.x + 0.01, point.y}, 0.0});
    }
    if (!marks.curves.empty()) {
      items_.emplace_back(std::move(marks));
    }
  }

  double line_width(const ChartSeries& series) const {
    return wide(series.is_reference ? kReferenceLine : kChartLine);
  }

  // Adds dashes that continue from one line to the next.
  void add_dashes(const PixelPoint& from, const PixelPoint& to, const Dashes& how, double& along,
                  std::vector<Curve>& dashes) const {
    const double dash = wide(how.dash);
    const double period = wide(how.period);
    const double length = std::hypot(to.x - from.x, to.y - from.y);
    double at = 0.0;
    while (at < length) {
      const double phase = std::fmod(along + at, period);
      const double step = phase < dash ? dash - phase : period - phase;
      const double end = std::min(length, at + std::max(step, 0.01));
      if (phase < dash) {
        const auto point = [&](double t) {
          return PixelPoint{from.x + (to.x - from.x) * t / length,
                            from.y + (to.y - from.y) * t / length};
        };
        dashes.push_back({point(at), point(end), 0.0});
      }
      at = end;
    }
    along += length;
  }

  // Adds names at the ends of the lines, moved apart where they would touch.
  void add_names(const LineChart& chart, const PixelRect& plot) {
    struct Name {
      const ChartSeries* series;
      double y;
    };
    std::vector<Name> names;
    for (const ChartSeries& series : chart.series) {
      const auto last =
          std::find_if(series.points.rbegin(), series.points.rend(),
                       [&chart](const ChartPoint& point) { return is_drawn(chart, point); });
      if (last != series.points.rend()) {
        names.push_back({&series, place(chart, *last, plot).y});
      }
    }
    std::ranges::stable_sort(names, {}, &Name::y);
    const double least = line_;
    for (std::size_t i = 1; i < names.size(); ++i) {
      names[i].y = std::max(names[i].y, names[i - 1].y + least);
    }
    double most = plot.y + plot.height + line_;
    for (std::size_t i = names.size(); i-- > 0;) {
      names[i].y = std::min(names[i].y, most);
      most = names[i].y - least;
    }
    for (const Name& name : names) {
      const int x = plot.x + plot.width + sample_room();
      const auto y = static_cast<int>(std::lround(name.y)) - line_ / 2;
      const double middle = y + line_ / 2.0;
      const double left = plot.x + plot.width + px(kChartSpace) / 2.0;
      const PixelPoint begin = {left, middle};
      const PixelPoint end = {left + px(kLineSample), middle};
      Strokes sample{{}, line_width(*name.series), color_of(*name.series), 1.0};
      if (name.series->is_reference) {
        double along = 0.0;
        add_dashes(begin, end, kSampleDashes, along, sample.curves);
      } else {
        sample.curves.push_back({begin, end, 0.0});
      }
      items_.emplace_back(std::move(sample));
      texts_.add(TextRole::kLegend, name_of(*name.series), px(kTextColumn), x, y);
    }
  }

  const ChartFigure& figure_;
  int ticks_width_ = 0;
  int names_width_ = 0;
  int plot_width_ = px(kPlotWidth);
};

}  // namespace

Scene chart_scene(const ChartFigure& figure, const FigureStyle& style) {
  check(style);
  return ChartLayout(figure, style).make();
}

}  // namespace attnviz
