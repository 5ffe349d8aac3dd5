#include "attnviz/terminal/next_tokens_view.h"

#include <fmt/core.h>

#include <algorithm>

#include "attnviz/document/words/short_numbers.h"
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

}  // namespace

Page continuation_page(const Continuation& continuation, const TerminalOptions& options) {
  const bool is_none = continuation.ids.empty();
  return paragraph(
      Charset(options.style).sentence("continuation: " + (is_none ? "none" : continuation.text)),
      wide_enough(options).columns);
}

Page predictions_page(const Predictions& predictions, const std::string& variant,
                      const Colormap& colormap, const TerminalOptions& asked) {
  const TerminalOptions options = wide_enough(asked);
  const Charset charset(options.style);
  const std::string heading = fmt::format(
      "{} {} ({}){}", predictions.replaces_it ? "in place of" : "next token after",
      charset.label(predictions.token), predictions.at, variant.empty() ? "" : ", " + variant);
  Page page;
  page.blank();
  page.add(paragraph(charset.sentence(heading), options.columns, kBold));
  page.add(draw_table(table_of(predictions.top, colormap, options), options.columns, charset));
  return page;
}

}  // namespace attnviz
