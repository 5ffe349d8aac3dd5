#include "attnviz/document/report/lesson_report.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/core/choices.h"
#include "attnviz/formats/json_writer.h"

namespace attnviz {

namespace {

Datum number(double value, bool is_count) {
  return is_count ? Datum(static_cast<std::uint64_t>(value)) : Datum(value);
}

Datum coordinates(const ChartSeries& series, const ChartAxis& axis,
                  double ChartPoint::*coordinate) {
  return list_of(series.points,
                 [&](const ChartPoint& point) { return number(point.*coordinate, axis.is_count); });
}

Record chart_record(const LineChart& chart) {
  return {{"title", chart.title},
          {"x", chart.x.name},
          {"y", chart.y.name},
          {"lines", list_of(chart.series, [&](const ChartSeries& series) {
             return Record{{"name", series.name},
                           {"reference", series.is_reference},
                           {"x", coordinates(series, chart.x, &ChartPoint::x)},
                           {"y", coordinates(series, chart.y, &ChartPoint::y)}};
           })}};
}

// Columns of numbers for programs, and as they are written for people.
Table table_of(const Lesson& lesson) {
  Table table;
  for (const LessonColumn& column : lesson.table) {
    Column numbers{.key = column.key, .for_programs = true};
    Column texts{.heading = column.heading, .to_right = !table.columns.empty()};
    for (const LessonCell& cell : column.cells) {
      numbers.cells.push_back(cell.number ? number(*cell.number, cell.is_count) : Datum(cell.text));
      texts.cells.emplace_back(cell.text);
      texts.to_right = texts.to_right && cell.number.has_value();
    }
    table.columns.push_back(std::move(numbers));
    if (column.is_shown) {
      table.columns.push_back(std::move(texts));
    }
  }
  return table;
}

bool has_shown(const Table& table) {
  return std::ranges::any_of(table.columns,
                             [](const Column& column) { return !column.for_programs; });
}

void add_figure(Report& report, const Lesson& lesson, bool has_table) {
  if (const auto* const chart = std::get_if<ChartFigure>(&lesson.figure)) {
    report.add("charts", list_of(chart->charts, chart_record));
    // A table below takes lines, too.
    report.draw(Figure{.drawing = *chart, .rows = has_table ? 6U : 8U});
  } else if (const auto* const heatmap = std::get_if<Heatmap>(&lesson.figure)) {
    report.add("tokens", list_of(heatmap->query_labels, std::identity()));
    report.add("patterns", list_of(heatmap->panels, [](const HeatmapPanel& panel) {
                 return Record{{"title", panel.title}, {"weights", rows_of(panel.values)}};
               }));
    report.draw(Figure{.drawing = *heatmap});
  } else {
    return;
  }
  report.draw(Gap{});
}

// Commands on the left, what they do on the right.
Table next_table(const std::vector<NextCommand>& next) {
  Table table = TableOf(next)
                    .column({.emphasis = Emphasis::kStrong}, &NextCommand::command)
                    .column({.emphasis = Emphasis::kQuiet}, &NextCommand::text)
                    .take();
  table.has_headings = false;
  table.cuts_names = false;
  return table;
}

}  // namespace

Report lesson_report(const Lesson& lesson) {
  Report report{.schema = "attnviz.lesson/1", .title = lesson.title, .json_indent = 2};
  report.add("lesson", word_for(kLessonChoices, lesson.kind));
  report.add("title", lesson.title);
  if (lesson.seed) {
    report.add("seed", *lesson.seed);
  }
  report.add("says", list_of(lesson.says, std::identity()));
  for (const std::string& sentence : lesson.says) {
    report.say(sentence);
  }
  report.draw(Gap{});
  Table table = table_of(lesson);
  report.add("rows", records(table));
  const bool has_table = has_shown(table);
  add_figure(report, lesson, has_table);
  report.numbers = table;
  if (has_table) {
    report.draw(std::move(table));
    report.draw(Gap{});
  }
  report.add("ends", list_of(lesson.ends, std::identity()));
  for (const std::string& sentence : lesson.ends) {
    report.say(sentence);
  }
  report.add("next", list_of(lesson.next, [](const NextCommand& next) {
               return Record{{"command", next.command}, {"text", next.text}};
             }));
  if (!lesson.next.empty()) {
    report.draw(Gap{});
    report.draw(next_table(lesson.next));
  }
  return report;
}

Report lesson_list_report() {
  Report report{.schema = "attnviz.lessons/1",
                .title = "lessons: one screen and one figure each",
                .json_indent = 2};
  std::vector<std::size_t> rows(kLessonChoices.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  Table table =
      TableOf(rows)
          .column({.key = "name", .emphasis = Emphasis::kStrong},
                  [](std::size_t i) { return kLessonChoices[i].word; })
          .column({.key = "teaches"}, [](std::size_t i) { return kLessonSummaries[i].teaches; })
          .data("draws", [](std::size_t i) { return kLessonSummaries[i].draws; })
          .take();
  table.has_headings = false;
  table.cuts_names = false;
  report.add("lessons", records(table));
  report.draw(Gap{});
  report.draw(std::move(table));
  report.draw(Gap{});
  report.say("attnviz lesson NAME [-o FILE.png]");
  return report;
}

}  // namespace attnviz
