#include "attnviz/terminal/views.h"

#include <fmt/core.h>

#include <algorithm>

#include "attnviz/document/words/number_formats.h"
#include "attnviz/document/words/token_names.h"
#include "attnviz/terminal/page/charset.h"
#include "attnviz/terminal/page/paragraph.h"
#include "attnviz/terminal/page/terminal_palette.h"
#include "attnviz/terminal/page/text_table.h"

namespace attnviz {

namespace {

// One row a token.
TextTable table_of(const std::vector<PredictedToken>& top, const Colormap& colormap,
                   const TerminalOptions& options) {
  constexpr std::size_t kMostToken = 30;
  constexpr std::size_t kNumbers = 28;  // the other columns, and what lies between
  constexpr std::size_t kWidestBar = 50;
  const Charset charset(options.style);
  const TerminalPalette palette(colormap, options.color);
  const std::size_t token_width = std::min(kMostToken, options.columns / 3);
  const std::size_t rest = options.columns - std::min(options.columns, token_width + kNumbers);
  const std::size_t bar_width = std::min(rest, kWidestBar);
  TextTable table;
  table.corner = {"", kDim};
  TextColumn token{{"token", kDim}, {}, false, true};
  TextColumn id{{"id", kDim}, {}, true, true};
  TextColumn share{{"probability", kDim}, {}, true, true};
  TextColumn bar{{}, {}, false, true};
  for (const PredictedToken& predicted : top) {
    table.labels.push_back({fmt::format("{}", table.labels.size() + 1), kDim});
    token.cells.push_back({charset.fitted(charset.label(predicted.token), token_width)});
    id.cells.push_back({fmt::format("{}", predicted.id)});
    const auto probability = static_cast<float>(predicted.probability);
    share.cells.push_back({percent_cell(probability, 1)});
    bar.cells.push_back(
        {charset.bar(predicted.probability, bar_width), {.ink = palette.share_ink(probability)}});
  }
  table.columns = {std::move(token), std::move(id), std::move(share), std::move(bar)};
  return table;
}

// Where there is room for one: a bar for what came.
void add_bars(const std::vector<Predictions>& all, const TerminalOptions& options,
              const TerminalPalette& palette, TextTable& table) {
  constexpr std::size_t kNarrowest = 4;
  constexpr std::size_t kWidest = 20;
  const Charset charset(options.style);
  std::size_t used = label_columns(table, options.columns);
  for (const TextColumn& column : table.columns) {
    used += table.gap + column.width();
  }
  if (used + table.gap + kNarrowest > options.columns) {
    return;
  }
  const std::size_t width = std::min(kWidest, options.columns - used - table.gap);
  TextColumn bar{{}, {}, false, true};
  for (const Predictions& here : all) {
    const double share = here.actual ? here.actual->probability : 0.0;
    bar.cells.push_back({here.actual ? charset.bar(share, width) : "",
                         {.ink = palette.share_ink(static_cast<float>(share))}});
  }
  table.columns.push_back(std::move(bar));
}

// Where all columns do not stand beside each other, as in 80, two tokens and a probability do.
std::size_t place_token_width(std::size_t columns) {
  constexpr std::size_t kMost = 20;
  constexpr std::size_t kReadable = 13;
  constexpr std::size_t kBeside = 20;  // a place, a probability and gaps
  const std::size_t room = (columns - std::min(columns, kBeside)) / 2;
  return std::min(kMost, std::max(columns / 6, std::min(kReadable, room)));
}

// One row a place.
TextTable table_of_places(const std::vector<Predictions>& all, const Colormap& colormap,
                          const TerminalOptions& options) {
  const Charset charset(options.style);
  const TerminalPalette palette(colormap, options.color);
  const std::size_t token_width = place_token_width(options.columns);
  const bool replaces = all.front().replaces_it;
  TextTable table;
  table.corner = {"", kDim};
  TextColumn token{{replaces ? "in place of" : "after", kDim}, {}, false, true};
  TextColumn predicted{{"predicted", kDim}, {}, false, true};
  TextColumn share{{"probability", kDim}, {}, true, true};
  TextColumn came{{replaces ? "is" : "came", kDim}, {}, false};
  TextColumn actual{{"probability", kDim}, {}, true, true};
  TextColumn rank{{"rank", kDim}, {}, true, true};
  const auto named = [&](const std::string& text) {
    return Span{charset.fitted(charset.label(text), token_width)};
  };
  for (const Predictions& here : all) {
    table.labels.push_back({fmt::format("{}", here.at), kDim});
    token.cells.push_back(named(here.token));
    predicted.cells.push_back(named(here.top.front().token));
    share.cells.push_back({percent_cell(static_cast<float>(here.top.front().probability), 1)});
    if (!here.actual) {
      for (TextColumn* const column : {&came, &actual, &rank}) {
        column->cells.emplace_back();
      }
      continue;
    }
    const auto probability = static_cast<float>(here.actual->probability);
    came.cells.push_back(named(here.actual->token));
    actual.cells.push_back({percent_cell(probability, 1)});
    rank.cells.push_back({fmt::format("{}", here.actual->rank + 1)});
  }
  table.columns = {std::move(token), std::move(predicted), std::move(share),
                   std::move(came),  std::move(actual),    std::move(rank)};
  add_bars(all, options, palette, table);
  return table;
}

}  // namespace

Page continuation_page(const Continuation& continuation, const TerminalOptions& options) {
  const bool is_none = continuation.ids.empty();
  return paragraph(
      Charset(options.style).sentence("continuation: " + (is_none ? "none" : continuation.text)),
      wide_enough(options).columns);
}

Page all_predictions_page(const std::vector<Predictions>& all, const std::string& variant,
                          const Colormap& colormap, const TerminalOptions& asked) {
  const TerminalOptions options = wide_enough(asked);
  const Charset charset(options.style);
  Page page;
  page.add(
      paragraph(charset.sentence((all.front().replaces_it ? "what the model would put at each place"
                                                          : "next token, at every place") +
                                 (variant.empty() ? "" : ", " + variant)),
                options.columns, kBold));
  page.add(draw_table(table_of_places(all, colormap, options), options.columns, charset));
  return page;
}

Page predictions_page(const Predictions& predictions, const std::string& variant,
                      const Colormap& colormap, const TerminalOptions& asked) {
  const TerminalOptions options = wide_enough(asked);
  const Charset charset(options.style);
  const std::string heading = fmt::format(
      "{} {}{}", predictions.replaces_it ? "in place of" : "next token after",
      named_token(predictions.token, predictions.at), variant.empty() ? "" : ", " + variant);
  Page page;
  page.add(paragraph(charset.sentence(heading), options.columns, kBold));
  page.add(draw_table(table_of(predictions.top, colormap, options), options.columns, charset));
  return page;
}

}  // namespace attnviz
