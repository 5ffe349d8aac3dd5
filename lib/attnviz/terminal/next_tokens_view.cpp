#include "attnviz/terminal/next_tokens_view.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "attnviz/document/words/percent.h"
#include "attnviz/terminal/page/charset.h"
#include "attnviz/terminal/page/paragraph.h"
#include "attnviz/terminal/page/terminal_palette.h"
#include "attnviz/terminal/page/text_table.h"

namespace attnviz {

namespace {

// The columns of a table of predictions, one cell a token.
class Columns {
 public:
  Columns(const Colormap& colormap, const TerminalOptions& options)
      : charset_(options.style), palette_(colormap, options.color) {
    const std::size_t columns = wide_enough(options).columns;
    constexpr std::size_t kMostToken = 30;
    constexpr std::size_t kNumbers = 28;  // the other columns, and what lies between
    constexpr std::size_t kMostBar = 50;
    token_width_ = std::min(kMostToken, columns / 3);
    const std::size_t rest = columns - std::min(columns, token_width_ + kNumbers);
    bar_width_ = std::min(rest, kMostBar);
  }

  TextTable table(const std::vector<PredictedToken>& top) {
    TextTable table;
    table.corner = {"", kDim};
    TextColumn token{{"token", kDim}, {}, false, true};
    TextColumn id{{"id", kDim}, {}, true, true};
    TextColumn share{{"probability", kDim}, {}, true, true};
    TextColumn bar{{}, {}, false, true};
    for (const PredictedToken& predicted : top) {
      table.labels.push_back({fmt::format("{}", table.labels.size() + 1), kDim});
      token.cells.push_back({charset_.fitted(charset_.label(predicted.token), token_width_)});
      id.cells.push_back({fmt::format("{}", predicted.id)});
      const auto probability = static_cast<float>(predicted.probability);
      share.cells.push_back({percent_cell(probability, 1)});
      bar.cells.push_back({charset_.bar(predicted.probability, bar_width_),
                           {.ink = palette_.share_ink(probability)}});
    }
    table.columns = {std::move(token), std::move(id), std::move(share), std::move(bar)};
    return table;
  }

 private:
  Charset charset_;
  TerminalPalette palette_;
  std::size_t token_width_;
  std::size_t bar_width_;
};

}  // namespace

Page continuation_page(const Continuation& continuation, const TerminalOptions& options) {
  const bool is_none = continuation.ids.empty();
  return paragraph(
      Charset(options.style).sentence("continuation: " + (is_none ? "none" : continuation.text)),
      wide_enough(options).columns);
}

Page predictions_page(const Predictions& predictions, const std::string& variant,
                      const Colormap& colormap, const TerminalOptions& options) {
  const Charset charset(options.style);
  const std::string heading = fmt::format(
      "{} {} ({}){}", predictions.replaces_it ? "in place of" : "next token after",
      charset.label(predictions.token), predictions.at, variant.empty() ? "" : ", " + variant);
  Page page;
  page.blank();
  page.add(paragraph(charset.sentence(heading), wide_enough(options).columns, kBold));
  page.add(draw_table(Columns(colormap, options).table(predictions.top),
                      wide_enough(options).columns, charset));
  return page;
}

}  // namespace attnviz
