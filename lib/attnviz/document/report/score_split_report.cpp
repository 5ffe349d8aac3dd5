#include "attnviz/document/report/score_split_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/core/message.h"
#include "attnviz/document/report/why_numbers.h"
#include "attnviz/document/words/number_formats.h"
#include "attnviz/document/words/short_numbers.h"

namespace attnviz {

namespace {

Table split_numbers(const WhyDocument::Split& split) {
  const ScoreSplit& score = split.score;
  const std::size_t n_keys = score.key_parts.size();
  std::vector<std::size_t> rows(score.products.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  TableOf table(rows);
  const auto places = [&](const std::string& side, const auto& part_of_row) {
    const auto place = [part_of_row](std::size_t row) {
      const StreamPart& part = part_of_row(row);
      return place_of(part.kind, part.layer, part.head);
    };
    table
        .column({.key = side + "_part", .are_words = true},
                [place](std::size_t row) { return place(row).part; })
        .data(side + "_layer", [place](std::size_t row) { return place(row).layer; })
        .data(side + "_head", [place](std::size_t row) { return place(row).head; });
  };
  places("query", [&](std::size_t row) { return score.query_parts[row / n_keys]; });
  places("key", [&](std::size_t row) { return score.key_parts[row % n_keys]; });
  return table.data("product", [&](std::size_t row) { return score.products[row]; }).take();
}

Record split_record(const WhyDocument::Split& split) {
  const ScoreSplit& score = split.score;
  const auto parts = [](const std::vector<StreamPart>& list) {
    return list_of(list, [](const StreamPart& part) {
      return place_record(part.kind, part.layer, part.head);
    });
  };
  Datum::List products;
  const auto n_keys = static_cast<std::ptrdiff_t>(score.key_parts.size());
  for (auto row = score.products.begin(); row != score.products.end(); row += n_keys) {
    products.emplace_back(std::vector<double>(row, row + n_keys));
  }
  return {{"layer", split.head.layer},
          {"head", split.head.head},
          {"query", split.query},
          {"key", split.key},
          {"score", score.score},
          {"weight", score.weight},
          {"visible", score.is_visible},
          {"position_bias", score.position_bias},
          {"query_parts", parts(score.query_parts)},
          {"key_parts", parts(score.key_parts)},
          {"products", std::move(products)}};
}

class SplitReport {
 public:
  SplitReport(Report& report, const WhyDocument& document, std::size_t top)
      : report_(report), document_(document), top_(top) {}

  void split() {
    const ScoreSplit& score = document_.split->score;
    const std::size_t n_keys = score.key_parts.size();
    report_.add("score", split_record(*document_.split));
    report_.numbers = split_numbers(*document_.split);
    report_.say(fmt::format("{}; score {:.2f}",
                            score.is_visible
                                ? "weight " + percentage(static_cast<float>(score.weight), 1)
                                : "weight 0: the query does not see this key",
                            score.score));
    sums("the key's parts: what each adds to the score", score.key_parts, [&](std::size_t part) {
      double sum = 0.0;
      for (std::size_t row = 0; row < score.query_parts.size(); ++row) {
        sum += score.products[row * n_keys + part];
      }
      return sum;
    });
    sums("the query's parts: what each adds to the score", score.query_parts,
         [&](std::size_t part) {
           const auto begin = score.products.begin() + static_cast<std::ptrdiff_t>(part * n_keys);
           return std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(n_keys), 0.0);
         });
    pairs(score);
  }

  void pairs(const ScoreSplit& score) {
    const std::size_t n_keys = score.key_parts.size();
    const auto size = [&score](std::size_t i) { return std::abs(score.products[i]); };
    const std::vector<std::size_t> rows = largest_rows(score.products.size(), top_, size);
    const auto name = [](const StreamPart& part) {
      return part_name(part.kind, part.layer, part.head);
    };
    Table table = TableOf(rows)
                      .column({.heading = "query's"},
                              [&](std::size_t i) { return name(score.query_parts[i / n_keys]); })
                      .column({.heading = "key's"},
                              [&](std::size_t i) { return name(score.key_parts[i % n_keys]); })
                      .column({.heading = "score",
                               .format = signed_number,
                               .bars = ColumnBars{.whole = largest_of(rows, size)},
                               .with_previous = true},
                              [&](std::size_t i) { return score.products[i]; })
                      .take();
    const double all = std::accumulate(score.products.begin(), score.products.end(), 0.0);
    double rest = all;
    for (const std::size_t row : rows) {
      rest -= score.products[row];
    }
    if (rows.size() < score.products.size()) {
      table.extra_rows.push_back(
          {{counted(score.products.size() - rows.size(), "other pair"), "", rest},
           Emphasis::kQuiet});
    }
    if (score.position_bias != 0.0) {
      table.extra_rows.push_back({{"distance", "", score.position_bias}});
    }
    const double sum = all + score.position_bias;
    table.extra_rows.push_back({{"sum: the score", "", sum}, Emphasis::kStrong});
    report_.draw(Heading{"the largest pairs: query's part times key's part"});
    report_.draw(std::move(table));
    report_.say(
        fmt::format("score: scaled q·k before the softmax; parts go through the norm that "
                    "attention reads through, whose scale is held fixed; the score of the run "
                    "itself is {:.2f}{}",
                    score.score, off_by(sum - score.score)));
  }

  void sums(const char* heading, const std::vector<StreamPart>& parts, const auto& sum_of) {
    constexpr std::size_t kSumRows = 6;
    const auto size = [&](std::size_t i) { return std::abs(sum_of(i)); };
    const std::vector<std::size_t> rows =
        largest_rows(parts.size(), top_ == 0 ? 0 : std::min(kSumRows, top_), size);
    Table table =
        TableOf(rows)
            .column({},
                    [&](std::size_t i) {
                      return part_name(parts[i].kind, parts[i].layer, parts[i].head);
                    })
            .column({.format = signed_number, .bars = ColumnBars{.whole = largest_of(rows, size)}},
                    sum_of)
            .column({.emphasis = Emphasis::kQuiet},
                    [&](std::size_t i) {
                      return parts[i].kind == LogitPartKind::kHead
                                 ? short_names(document_.model, {parts[i].layer, parts[i].head})
                                 : std::string();
                    })
            .take();
    table.has_headings = false;
    if (rows.size() < parts.size()) {
      table.left_out = fmt::format("{} more", parts.size() - rows.size());
    }
    report_.draw(Heading{heading});
    report_.draw(std::move(table));
  }

  Report& report_;
  const WhyDocument& document_;
  std::size_t top_;
};

}  // namespace

void add_score_split(Report& report, const WhyDocument& document, std::size_t top) {
  SplitReport(report, document, top).split();
}

}  // namespace attnviz
