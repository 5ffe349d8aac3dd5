#include "attnviz/terminal/next_tokens_view.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/document/words/percent.h"
#include "attnviz/terminal/page/ansi.h"
#include "attnviz/terminal/page/bar.h"
#include "attnviz/terminal/page/paragraph.h"
#include "attnviz/terminal/page/terminal_options.h"
#include "attnviz/terminal/page/terminal_palette.h"
#include "attnviz/terminal/page/text_table.h"

namespace attnviz {

namespace {

constexpr std::size_t kLeastColumns = 20;
constexpr const char* kBold = "1";
constexpr const char* kDim = "2";

bool is_ascii(const TerminalOptions& options) noexcept {
  return options.style == TerminalStyle::kAscii || options.style == TerminalStyle::kMask;
}

std::string lines_of(std::string_view message, std::string_view style,
                     const TerminalOptions& options) {
  std::string lines;
  const std::size_t columns = std::max(options.columns, kLeastColumns);
  for (const std::string& text : wrap(safe_message(message, is_ascii(options)), columns)) {
    AnsiLine line;
    line.put(text, options.color == ColorDepth::kNone ? std::string_view() : style);
    lines += line.finish() + '\n';
  }
  return lines;
}

// The columns of a table of predictions, one cell a token.
class Columns {
 public:
  Columns(const Colormap& colormap, const TerminalOptions& options)
      : ascii_(is_ascii(options)),
        colored_(options.color != ColorDepth::kNone),
        diverging_(colormap.diverging()),
        palette_(colormap, options.color) {
    const std::size_t columns = std::max(options.columns, kLeastColumns);
    constexpr std::size_t kMostToken = 30;
    constexpr std::size_t kNumbers = 28;  // the other columns, and what lies between
    constexpr std::size_t kMostBar = 50;
    token_width_ = std::min(kMostToken, columns / 3);
    const std::size_t rest = columns - std::min(columns, token_width_ + kNumbers);
    bar_width_ = std::min(rest, kMostBar);
  }

  TextTable table(const std::vector<PredictedToken>& top) {
    TextTable table;
    table.corner = {"", dim()};
    TextColumn token{{"token", dim()}, {}, false, true};
    TextColumn id{{"id", dim()}, {}, true, true};
    TextColumn share{{"probability", dim()}, {}, true, true};
    TextColumn bar{{"", ""}, {}, false, true};
    for (const PredictedToken& predicted : top) {
      table.labels.push_back({fmt::format("{}", table.labels.size() + 1), dim()});
      const std::string label =
          ascii_ ? printable_ascii(predicted.token) : printable(predicted.token);
      token.cells.push_back({fit_width(label, token_width_, ascii_ ? ".." : "…"), ""});
      id.cells.push_back({fmt::format("{}", predicted.id), ""});
      const auto probability = static_cast<float>(predicted.probability);
      share.cells.push_back({percent_cell(probability, 1), ""});
      bar.cells.push_back(
          {attnviz::bar(predicted.probability, bar_width_, ascii_), ink(probability)});
    }
    table.columns = {std::move(token), std::move(id), std::move(share), std::move(bar)};
    return table;
  }

 private:
  std::string dim() const { return colored_ ? kDim : ""; }
  std::string ink(float t) const {
    return colored_ ? palette_.ink(diverging_ ? 0.5f + t / 2.0f : t) : std::string();
  }

  bool ascii_;
  bool colored_;
  bool diverging_;
  TerminalPalette palette_;
  std::size_t token_width_;
  std::size_t bar_width_;
};

}  // namespace

std::string render_continuation(const Continuation& continuation, const TerminalOptions& options) {
  const bool is_none = continuation.ids.empty();
  return lines_of("continuation: " + (is_none ? "none" : continuation.text), "", options);
}

std::string render_predictions(const Predictions& predictions, const std::string& variant,
                               const Colormap& colormap, const TerminalOptions& options) {
  const bool ascii = is_ascii(options);
  const std::string token =
      ascii ? printable_ascii(predictions.token) : printable(predictions.token);
  const std::string heading =
      fmt::format("{} {} ({}){}", predictions.replaces_it ? "in place of" : "next token after",
                  token, predictions.at, variant.empty() ? "" : ", " + variant);
  const TextTable table = Columns(colormap, options).table(predictions.top);
  return "\n" + lines_of(heading, kBold, options) +
         draw_table(table, std::max(options.columns, kLeastColumns), ascii ? ".." : "…");
}

}  // namespace attnviz
