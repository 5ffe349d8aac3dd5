#include "outputs/formats/formats.h"

#include <algorithm>
#include <array>
#include <variant>

namespace attnviz::app {

std::span<const Format> all_formats() {
  static const std::array formats = {png_format(), svg_format(), html_format(), json_format(),
                                     npy_format(), csv_format(), text_format()};
  return formats;
}

std::vector<Choice<const Format*>> formats_of(Result result) {
  std::vector<Choice<const Format*>> formats;
  for (const Format& format : all_formats()) {
    if (format.takes(result)) {
      formats.push_back({format.word, &format});
    }
  }
  return formats;
}

const Format* find_format(std::string_view word) {
  const auto found = std::ranges::find(all_formats(), word, &Format::word);
  return found == all_formats().end() ? nullptr : &*found;
}

void draw_as_asked(Report& report, const DrawingRequest& drawing) {
  const auto draw_cells = [&drawing](Heatmap& map) {
    map.scale.colormap = Colormap(drawing.colormap.value_or(map.scale.colormap.name()));
    map.title = drawing.title.value_or(map.title);
  };
  if (report.blocks.size() == 1 && picture_of(report) != nullptr) {
    report.title = drawing.title.value_or(report.title);  // it is the picture's
  }
  for (Block& block : report.blocks) {
    auto* const figure = std::get_if<Figure>(&block);
    if (figure == nullptr) {
      continue;
    }
    if (auto* const heatmap = std::get_if<Heatmap>(&figure->drawing)) {
      draw_cells(*heatmap);
    } else if (auto* const bars = std::get_if<BarsFigure>(&figure->drawing)) {
      draw_cells(bars->heatmap);
    } else {
      auto& chart = std::get<ChartFigure>(figure->drawing);
      chart.title = drawing.title.value_or(chart.title);
    }
  }
}

}  // namespace attnviz::app
