#include "attnviz/report/reports/reports.h"

#include <fmt/core.h>

#include <string>
#include <utility>
#include <vector>

#include "attnviz/report/words/number_formats.h"
#include "attnviz/report/words/words.h"

namespace attnviz {

namespace {

// Tokens are cut so that several fit side by side.
Column token_column(std::string heading, std::size_t most_columns) {
  return {.heading = std::move(heading),
          .are_tokens = true,
          .most_columns = most_columns,
          .with_previous = true};
}

Column probability_column() {
  return {.heading = "probability", .format = percent_number, .with_previous = true};
}

// A row for each position: the prediction, and the actual token.
Table places(const std::vector<Predictions>& all, const Colormap& colormap) {
  constexpr std::size_t kMostColumns = 13;
  const bool replaces = all.front().replaces_it;
  const auto actual = [](const auto& of) {
    return [of](const Predictions& here) {
      return here.actual ? Datum(std::invoke(of, *here.actual)) : Datum();
    };
  };
  Column came = token_column(replaces ? "is" : "came", kMostColumns);
  came.with_previous = false;
  TableOf<Predictions> table(all);
  table.column({.emphasis = Emphasis::kQuiet}, &Predictions::at)
      .column(token_column(replaces ? "instead of" : "after", kMostColumns), &Predictions::token)
      .column(token_column("predicted", kMostColumns),
              [](const Predictions& here) { return here.top.front().token; })
      .column(probability_column(),
              [](const Predictions& here) { return here.top.front().probability; })
      .column(std::move(came), actual(&ActualToken::token))
      .column(probability_column(), actual(&ActualToken::probability))
      .column({.heading = "rank", .with_previous = true},
              actual([](const ActualToken& one) { return one.rank + 1; }))
      .column({.bars = ColumnBars{.columns = 20, .colormap = colormap}, .bars_alone = true},
              actual(&ActualToken::probability));
  Table made = table.take();
  for (Column& column : made.columns) {
    column.null.clear();
  }
  return made;
}

// A row for each of the most probable tokens.
Table predicted_tokens(const Predictions& predictions, const Colormap& colormap) {
  constexpr std::size_t kMostColumns = 26;
  std::size_t rank = 0;
  Column chance = probability_column();
  chance.bars = ColumnBars{.columns = kMostColumns, .colormap = colormap};
  return TableOf<PredictedToken>(predictions.top)
      .column({.emphasis = Emphasis::kQuiet}, [&rank](const PredictedToken&) { return ++rank; })
      .column(token_column("token", kMostColumns), &PredictedToken::token)
      .column({.heading = "id", .with_previous = true}, &PredictedToken::id)
      .column(std::move(chance), &PredictedToken::probability)
      .take();
}

}  // namespace

Report next_tokens_report(std::span<const AttentionDocument> documents) {
  Report report;
  const AttentionDocument& first = documents.front();
  if (const auto& continuation = first.continuation) {
    report.say("continuation: " + (continuation->ids.empty() ? "none" : continuation->text));
  }
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const Colormap& colormap = first.drawing.scale.colormap;
    const auto add = [&](std::string title, Table table) {
      if (!report.blocks.empty()) {
        report.draw(Gap());
      }
      if (documents.size() > 1) {
        title += ", " + first.drawing.side_by_side[i];
      }
      report.say(std::move(title), Emphasis::kStrong);
      report.draw(std::move(table));
    };
    if (const auto& here = documents[i].predictions) {
      add(fmt::format("{} {}", here->replaces_it ? "instead of" : "next token after",
                      named_token(here->token, here->at)),
          predicted_tokens(*here, colormap));
    }
    if (const auto& all = documents[i].all_predictions; !all.empty()) {
      add(all.front().replaces_it ? "the model's prediction at each position"
                                  : "next token, at every position",
          places(all, colormap));
    }
  }
  return report;
}

}  // namespace attnviz
