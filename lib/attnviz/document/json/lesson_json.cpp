#include "attnviz/document/json/lesson_json.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/formats/csv.h"
#include "attnviz/formats/json_writer.h"

namespace attnviz {

namespace {

void write_number(JsonWriter& json, double number, bool is_count) {
  is_count ? json.value(static_cast<std::uint64_t>(number)) : json.value(number);
}

void write_coordinates(JsonWriter& json, const ChartAxis& axis, std::string_view key,
                       const std::vector<ChartPoint>& points, double ChartPoint::*coordinate) {
  json.begin_array(key);
  for (const ChartPoint& point : points) {
    write_number(json, point.*coordinate, axis.is_count);
  }
  json.end_array();
}

void write_table(JsonWriter& json, const Lesson& lesson) {
  json.begin_array("rows");
  for (std::size_t row = 0; !lesson.table.empty() && row < lesson.table.front().cells.size();
       ++row) {
    json.begin_object();
    for (const LessonColumn& column : lesson.table) {
      const LessonCell& cell = column.cells[row];
      json.key(column.key);
      if (cell.number) {
        write_number(json, *cell.number, cell.is_count);
      } else {
        json.value(cell.text);
      }
    }
    json.end_object();
  }
  json.end_array();
}

void write_charts(JsonWriter& json, const ChartFigure& figure) {
  json.objects("charts", figure.charts, [&json](const LineChart& chart) {
    json.member("title", chart.title);
    json.member("x", chart.x.name);
    json.member("y", chart.y.name);
    json.objects("lines", chart.series, [&](const ChartSeries& series) {
      json.member("name", series.name);
      json.member("reference", series.is_reference);
      write_coordinates(json, chart.x, "x", series.points, &ChartPoint::x);
      write_coordinates(json, chart.y, "y", series.points, &ChartPoint::y);
    });
  });
}

void write_patterns(JsonWriter& json, const Heatmap& heatmap) {
  json.member("tokens", heatmap.query_labels);
  json.objects("patterns", heatmap.panels, [&json](const HeatmapPanel& panel) {
    json.member("title", panel.title);
    json.member("weights", panel.values);
  });
}

}  // namespace

void write_lesson_json(const Lesson& lesson, const ByteSink& sink) {
  JsonWriter json(sink, 2);
  json.begin_object();
  json.member("schema", "attnviz.lesson/1");
  json.member("lesson", word_for(kLessonChoices, lesson.kind));
  json.member("title", lesson.title);
  if (lesson.seed) {
    json.member("seed", *lesson.seed);
  }
  json.member("says", lesson.says);
  write_table(json, lesson);
  if (const auto* const charts = std::get_if<ChartFigure>(&lesson.figure)) {
    write_charts(json, *charts);
  }
  if (const auto* const heatmap = std::get_if<Heatmap>(&lesson.figure)) {
    write_patterns(json, *heatmap);
  }
  json.member("ends", lesson.ends);
  json.objects("next", lesson.next, [&json](const NextCommand& next) {
    json.member("command", next.command);
    json.member("text", next.text);
  });
  json.end_object();
  json.finish();
}

void write_lesson_list_json(const ByteSink& sink) {
  JsonWriter json(sink, 2);
  json.begin_object();
  json.member("schema", "attnviz.lessons/1");
  json.begin_array("lessons");
  for (std::size_t i = 0; i < kLessonChoices.size(); ++i) {
    json.begin_object();
    json.member("name", kLessonChoices[i].word);
    json.member("teaches", kLessonSummaries[i].teaches);
    json.member("draws", kLessonSummaries[i].draws);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  json.finish();
}

void write_lesson_csv(const Lesson& lesson, const ByteSink& sink) {
  std::string heading;
  for (const LessonColumn& column : lesson.table) {
    heading += (heading.empty() ? "" : ",") + column.key;
  }
  sink(heading + "\n");
  for (std::size_t row = 0; !lesson.table.empty() && row < lesson.table.front().cells.size();
       ++row) {
    std::string line;
    for (const LessonColumn& column : lesson.table) {
      const LessonCell& cell = column.cells[row];
      line += (&column == lesson.table.data() ? "" : ",") +
              (cell.number ? csv_number(cell.number) : csv_text(cell.text));
    }
    sink(line + "\n");
  }
}

}  // namespace attnviz
