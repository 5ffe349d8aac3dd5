#include "attnviz/terminal/meaning_view.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/document/words/number_group.h"
#include "attnviz/terminal/chart_view.h"
#include "attnviz/terminal/page/charset.h"
#include "attnviz/terminal/page/paragraph.h"
#include "attnviz/terminal/page/terminal_palette.h"
#include "attnviz/terminal/page/text_table.h"

namespace attnviz {

namespace {

// "1  He sat on the bank", a token after the other, with the word's in bold.
Page context_lines(const WordContext& context, std::size_t number, std::size_t columns,
                   const Charset& charset) {
  std::vector<Line> items;
  items.emplace_back(fmt::format("{}:", number), kDim);
  for (std::size_t i = 0; i < context.text.size(); ++i) {
    const Token& token = context.text.tokens[i];
    if (token.added) {
      continue;
    }
    const bool is_word = std::ranges::find(context.tokens, i) != context.tokens.end();
    const bool begins_word = token.text.starts_with(' ') || i == 0 ||
                             token.begin > context.text.tokens[i - 1].end ||
                             context.text.tokens[i - 1].added;
    const std::string shown = charset.sentence(token.text);
    const Style style = is_word ? kBold : Style{};
    if (begins_word) {
      items.emplace_back(charset.fitted(shown, columns), style);
    } else {
      items.back().put(shown, style);
    }
  }
  return flow(items, 1, columns);
}

TextTable cosine_table(const MeaningDocument& document, const Charset& charset,
                       const TerminalPalette& palette) {
  constexpr std::size_t kBarColumns = 20;
  const auto pairs = document.pairs();
  TextTable table;
  table.corner = {"after", kDim};
  for (std::size_t point = 0; point < document.n_points(); ++point) {
    table.labels.push_back({point_name(point)});
  }
  for (const auto& pair : pairs) {
    TextColumn column{{pair_name(pair), kDim}, {}}, bars{{}, {}, false, true};
    for (std::size_t point = 0; point < document.n_points(); ++point) {
      const auto value = document.cosine_at(point, pair.first, pair.second);
      column.cells.push_back(value ? Span{without_zero_sign(fmt::format("{:.3f}", *value))}
                                   : Span{charset.dash(), kDim});
      const double share = value.value_or(0.0);
      bars.cells.push_back({charset.bar(share, kBarColumns),
                            {.ink = palette.share_ink(static_cast<float>(std::max(share, 0.0)))}});
    }
    table.columns.push_back(std::move(column));
    if (pairs.size() == 1) {
      table.columns.push_back(std::move(bars));
    }
  }
  return table;
}

}  // namespace

Page meaning_page(const MeaningDocument& document, const TerminalOptions& given, bool with_chart) {
  const TerminalOptions options = wide_enough(given);
  const Charset charset(options.style);
  Page page;
  page.add(paragraph(charset.sentence(meaning_title(document)), options.columns, kBold));
  for (std::size_t i = 0; i < document.contexts.size(); ++i) {
    page.add(context_lines(document.contexts[i], i + 1, options.columns, charset));
  }
  for (const std::string& note : document.notes) {
    page.add(paragraph(charset.sentence(note), options.columns, kDim));
  }
  page.blank();
  page.add(paragraph("cosine similarity of the word's vectors in the residual stream",
                     options.columns, kBold));
  page.add(draw_table(cosine_table(document, charset, TerminalPalette(Colormap(), options.color)),
                      options.columns, charset));
  page.blank();
  const std::size_t n_pairs = document.pairs().size();
  if (with_chart && n_pairs > 1) {
    constexpr std::size_t kPlotRows = 9;
    const ChartFigure figure = meaning_chart(document);
    page.add(chart_page(figure, options, kPlotRows));
    if (const std::size_t n_drawn = figure.charts.front().series.size(); n_drawn < n_pairs) {
      page.add(
          paragraph(fmt::format("drawn: {} of {} pairs", n_drawn, n_pairs), options.columns, kDim));
    }
    page.blank();
  }
  for (const std::string& sentence : meaning_words(document)) {
    page.add(paragraph(charset.sentence(sentence), options.columns));
  }
  return page;
}

}  // namespace attnviz
