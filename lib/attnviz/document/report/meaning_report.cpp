#include "attnviz/document/report/meaning_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/document/json/run_json.h"
#include "attnviz/document/words/number_group.h"

namespace attnviz {

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
  table.column({.heading = "after"}, point_name);
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
              [](const Row& row) { return point_name(row.point); })
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
  report.add("points", list_of(points, point_name));
  report.add("pairs", list_of(document.pairs(), [&](const auto& pair) {
               return Record{{"a", pair.first},
                             {"b", pair.second},
                             {"cosines", list_of(points, [&](std::size_t point) {
                                return document.cosine_at(point, pair.first, pair.second);
                              })}};
             }));
  report.add("notes", list_of(document.notes, std::identity()));
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
  report.draw(Heading{"cosine similarity of the word's vectors in the residual stream"});
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
