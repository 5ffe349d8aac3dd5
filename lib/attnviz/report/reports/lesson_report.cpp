#include "attnviz/report/reports/reports.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/core/choices.h"
#include "attnviz/formats/json_writer.h"
#include "attnviz/report/json/document_json.h"
#include "attnviz/report/lessons/lesson.h"
#include "attnviz/report/words/number_formats.h"

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

// Columns of numbers for programs, and their texts for people.
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
    // A table below also takes lines.
    report.draw(Figure{.drawing = *chart, .rows = has_table ? 6U : 8U});
  } else if (const auto* const heatmap = std::get_if<Heatmap>(&lesson.figure)) {
    report.add("tokens", heatmap->query_labels);
    report.add("patterns", list_of(heatmap->panels, [](const HeatmapPanel& panel) {
                 return Record{{"title", panel.title}, {"weights", rows_of(panel.values)}};
               }));
    report.draw(Figure{.drawing = *heatmap});
  } else {
    return;
  }
  report.draw(Gap{});
}

// Commands on the left, their effects on the right.
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
  report.add("says", lesson.says);
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
  report.add("ends", lesson.ends);
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

namespace {

std::string three_decimals(double value) {
  return without_zero_sign(fmt::format("{:.3f}", value));
}

// "1: He sat on the bank", with the word shaded.
void add_context(Strip& strip, const WordContext& context, std::size_t number) {
  constexpr float kShade = 0.35f;
  bool is_first = true;
  for (std::size_t i = 0; i < context.text.size(); ++i) {
    const Token& token = context.text.tokens[i];
    if (token.added) {
      continue;
    }
    StripPiece piece{token.text};
    if (std::ranges::find(context.tokens, i) != context.tokens.end()) {
      piece.share = kShade;
    }
    const bool begins_word = token.text.starts_with(' ') || i == 0 ||
                             token.begin > context.text.tokens[i - 1].end ||
                             context.text.tokens[i - 1].added;
    piece.is_close = !begins_word;
    if (std::exchange(is_first, false)) {
      piece.mark = fmt::format("{}:", number);
      piece.lines_before = number > 1 ? 1 : 0;
    }
    strip.pieces.push_back(std::move(piece));
  }
}

Table cosine_table(const MeaningDocument& document) {
  std::vector<std::size_t> points(document.n_points());
  std::iota(points.begin(), points.end(), std::size_t{0});
  const auto pairs = document.pairs();
  TableOf table(points);
  table.column({.heading = "after"}, stream_point_name);
  for (const auto& pair : pairs) {
    Column column{.heading = pair_name(pair), .format = three_decimals};
    if (pairs.size() == 1) {
      column.bars = ColumnBars{.columns = 20};
    }
    table.column(std::move(column), [&](std::size_t point) {
      return document.cosine_at(point, pair.first, pair.second);
    });
  }
  return table.take();
}

// A row for each point and pair.
Table numbers_of(const MeaningDocument& document) {
  struct Row {
    std::size_t point;
    std::pair<std::size_t, std::size_t> pair;
  };
  std::vector<Row> rows;
  for (std::size_t point = 0; point < document.n_points(); ++point) {
    for (const auto& pair : document.pairs()) {
      rows.push_back({point, pair});
    }
  }
  return TableOf(rows)
      .column({.key = "point", .are_words = true},
              [](const Row& row) { return stream_point_name(row.point); })
      .data("a", [](const Row& row) { return row.pair.first; })
      .data("b", [](const Row& row) { return row.pair.second; })
      .data("cosine",
            [&](const Row& row) {
              return document.cosine_at(row.point, row.pair.first, row.pair.second);
            })
      .take();
}

void add_members(Report& report, const MeaningDocument& document) {
  report.add("word", document.word);
  report.add("contexts", list_of(document.contexts, [](const WordContext& context) {
               return text_record(context.text)
                   .add("word_tokens", context.tokens)
                   .add("vectors", rows_of(context.vectors.view()));
             }));
  std::vector<std::size_t> points(document.n_points());
  std::iota(points.begin(), points.end(), std::size_t{0});
  report.add("points", list_of(points, stream_point_name));
  report.add("pairs", list_of(document.pairs(), [&](const auto& pair) {
               return Record{{"a", pair.first},
                             {"b", pair.second},
                             {"cosines", list_of(points, [&](std::size_t point) {
                                return document.cosine_at(point, pair.first, pair.second);
                              })}};
             }));
  report.add("notes", document.notes);
}

}  // namespace

Report meaning_report(const MeaningDocument& document) {
  Report report =
      begin_report("attnviz.meaning/1", meaning_title(document), document.model, document.run, {});
  add_members(report, document);
  Strip contexts{.pieces = {}};
  for (std::size_t i = 0; i < document.contexts.size(); ++i) {
    add_context(contexts, document.contexts[i], i + 1);
  }
  report.draw(std::move(contexts));
  for (const std::string& note : document.notes) {
    report.say(note, Emphasis::kQuiet);
  }
  report.draw(
      Heading{"cosine similarity of the word's vectors in two texts (1-2: texts 1 and 2), in the "
              "residual stream"});
  report.draw(cosine_table(document));
  report.draw(Gap{});
  report.numbers = numbers_of(document);
  const std::size_t n_pairs = document.pairs().size();
  ChartFigure chart = meaning_chart(document);
  const std::size_t n_drawn = chart.charts.front().series.size();
  report.draw(Figure{.drawing = std::move(chart), .on_screen = n_pairs > 1, .rows = 9});
  if (n_pairs > 1) {
    if (n_drawn < n_pairs) {
      report.say(fmt::format("drawn: {} of {} pairs", n_drawn, n_pairs), Emphasis::kQuiet);
    }
    report.draw(Gap{});
  }
  for (const std::string& sentence : meaning_words(document)) {
    report.say(sentence);
  }
  return report;
}

}  // namespace attnviz
