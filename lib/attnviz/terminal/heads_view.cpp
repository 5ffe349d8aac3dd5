#include "attnviz/terminal/heads_view.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "attnviz/attention/head_selection.h"
#include "attnviz/core/message.h"
#include "attnviz/terminal/page/charset.h"
#include "attnviz/terminal/page/paragraph.h"
#include "attnviz/terminal/page/terminal_palette.h"
#include "attnviz/terminal/page/text_table.h"

namespace attnviz {

namespace {

// As many as stand beside each other in 80 columns, on probes with names.
constexpr Score kProbeColumns[] = {Score::kPrevious, Score::kSelf, Score::kSinkAlpha,
                                   Score::kDuplicate, Score::kInduction};
constexpr Score kTextColumns[] = {Score::kPrevious,   Score::kSelf,      Score::kFirst,
                                  Score::kDuplicate,  Score::kInduction, Score::kPunctuation,
                                  Score::kEntropyBits};

std::vector<Score> usual_columns(const HeadsDocument& document) {
  std::vector<Score> columns = document.is_probe()
                                   ? std::vector(std::begin(kProbeColumns), std::end(kProbeColumns))
                                   : std::vector(std::begin(kTextColumns), std::end(kTextColumns));
  for (std::size_t head = 0; head < document.heads.size(); ++head) {
    if (document.raw.estimate(head, Score::kLearnedSink)) {
      columns.insert(columns.begin() + 3, Score::kLearnedSink);  // beside that of the first token
      break;
    }
  }
  return columns;
}

// Three decimals of shares, one of larger numbers.
std::string number(double value) {
  constexpr double kLarge = 9.9995;
  return value < kLarge ? fmt::format("{:.3f}", value) : fmt::format("{:.1f}", value);
}

// A place among the keys has no decimals, but as a mean over probes.
std::string value_of(Score score, double value) {
  return score == Score::kSinkKey && value == std::floor(value) ? fmt::format("{:.0f}", value)
                                                                : number(value);
}

std::string with_error(const Estimate& estimate, const Charset& charset) {
  return number(estimate.mean) +
         (estimate.sem
              ? fmt::format(" {} {}", charset.is_ascii() ? "+-" : "±", number(*estimate.sem))
              : "");
}

// The heads of one name, the best first: rows of head, score and bar.
TextTable named_heads(const HeadsDocument& document, const HeadName& name,
                      const std::vector<std::size_t>& heads, const Charset& charset,
                      const TerminalPalette& palette, std::size_t columns) {
  constexpr std::size_t kNarrowestBar = 4;
  constexpr std::size_t kWidestBar = 30;
  TextTable table;
  table.indent = 2;
  table.has_headings = false;
  TextColumn score, bar{{}, {}, false, true};
  for (const std::size_t head : heads) {
    const Estimate estimate = *document.raw.estimate(head, name.score);
    table.labels.push_back({head_name(document.heads[head])});
    score.cells.push_back({with_error(estimate, charset)});
  }
  // Bars that are cut would all look as long.
  const std::size_t used =
      table.indent + label_columns(table, columns) + score.width() + 2 * table.gap;
  const std::size_t room = std::min(kWidestBar, columns - std::min(columns, used));
  for (const std::size_t head : heads) {
    const double mean = document.raw.estimate(head, name.score)->mean;
    bar.cells.push_back(
        {charset.bar(mean, room), {.ink = palette.share_ink(static_cast<float>(mean))}});
  }
  table.columns.push_back(std::move(score));
  if (room >= kNarrowestBar) {
    table.columns.push_back(std::move(bar));
  }
  return table;
}

void add_words(std::string_view text, const Style& style, std::vector<Line>& items) {
  for (const std::string_view word : words_of(text)) {
    items.emplace_back(std::string(word), style);
  }
}

void add_name(Page& page, const HeadsDocument& document, const HeadName& name,
              const TerminalOptions& options) {
  constexpr std::size_t kMostHeads = 6;
  const Charset charset(options.style);
  const TerminalPalette palette(Colormap(), options.color);
  std::vector<std::size_t> heads =
      ranked_heads(document, {name.score, {{name.score, name.at_least}}});
  const std::optional<double>& uniform = document.uniform[name.score];
  Line line(name.name, kBold);
  if (!document.judges(name)) {
    line.put(": not judged", kDim);
    return page.add(std::move(line));
  }
  if (heads.empty()) {
    const std::vector<std::size_t> all = ranked_heads(document, {name.score, {}});
    const auto best = all.empty() ? std::nullopt : document.raw.estimate(all.front(), name.score);
    line.put(":", kDim);
    std::vector<Line> words = {std::move(line)};
    add_words(best ? fmt::format("no head; head {} comes nearest, {} of {}",
                                 head_name(document.heads[all.front()]), with_error(*best, charset),
                                 name.at_least)
                   : "no head",
              kDim, words);
    return page.add(flow(words, 1, options.columns));
  }
  line.put(":");
  std::vector<Line> words = {std::move(line)};
  add_words(name.does, {}, words);
  const std::string limits =
      fmt::format("(from {}; uniform {}{})", name.at_least, uniform ? number(*uniform) : "none",
                  document.is_like_random() ? fmt::format(", random {}", name.largest_random) : "");
  if (limits.size() > options.columns) {
    add_words(limits, kDim, words);
  } else {
    words.emplace_back(limits, kDim);
  }
  page.add(flow(words, 1, options.columns));
  const std::size_t n_more = heads.size() - std::min(heads.size(), kMostHeads);
  heads.resize(heads.size() - n_more);
  page.add(draw_table(named_heads(document, name, heads, charset, palette, options.columns),
                      options.columns, charset));
  if (n_more > 0) {
    page.add(fmt::format("  {} {} more", charset.ellipsis(), n_more), kDim);
  }
}

// Who earned which name; one line where nobody did.
void add_names(Page& page, const HeadsDocument& document, const TerminalOptions& options) {
  const std::size_t best = ranked_heads(document, {}).front();
  if (document.names(best).empty()) {
    const ScoreValues scores = document.raw.means(best);
    const HeadName* const name = nearest_name(document, scores);
    const std::optional<double> score = name != nullptr ? scores[name->score] : std::nullopt;
    return page.add(paragraph(
        score ? fmt::format("no head earns a name; nearest to one: head {}, {} {} (from {})",
                            head_name(document.heads[best]), name->name, number(*score),
                            name->at_least)
              : "no head can earn a name here",
        options.columns, kDim));
  }
  for (const HeadName& name : kHeadNames) {
    add_name(page, document, name, options);
  }
  page.add(paragraph(
      fmt::format(
          "2.1 is head 1 of layer 2, both counted from 0; {} the standard error over probes; "
          "from: the least score for the name; uniform: of a head that looks at all it "
          "sees alike{}",
          Charset(options.style).is_ascii() ? "+-" : "±",
          document.is_like_random() ? "; random: the largest of 4,352 heads with random weights"
                                    : ""),
      options.columns, kDim));
}

TextTable table_of(const HeadsDocument& document, const std::vector<std::size_t>& rows,
                   const std::vector<Score>& columns, const TerminalOptions& options) {
  const Charset charset(options.style);
  const TerminalPalette palette(Colormap(), options.color);
  TextTable table;
  table.corner = {"head", kDim};
  for (const std::size_t row : rows) {
    table.labels.push_back({head_name(document.heads[row])});
  }
  table.labels.push_back({"uniform", kDim});
  // First, where no number of columns folds them away from their heads.
  if (std::ranges::any_of(rows, [&](std::size_t row) { return !document.names(row).empty(); })) {
    TextColumn names{{"names", kDim}, {}, false};
    for (const std::size_t row : rows) {
      names.cells.push_back({fmt::format("{}", fmt::join(document.names(row), ", "))});
    }
    names.cells.emplace_back();
    table.columns.push_back(std::move(names));
  }
  const bool is_corpus = std::holds_alternative<CorpusSource>(document.source);
  for (const Score score : columns) {
    TextColumn column{{std::string(word_for(kScoreNames, score)), kDim}, {}};
    for (const std::size_t row : rows) {
      const auto estimate = document.raw.estimate(row, score);
      column.cells.push_back(!estimate   ? Span{charset.dash(), kDim}
                             : is_corpus ? Span{with_error(*estimate, charset)}
                                         : Span{value_of(score, estimate->mean)});
    }
    const std::optional<double>& uniform = document.uniform[score];
    column.cells.push_back({uniform ? value_of(score, *uniform) : charset.dash(), kDim});
    table.columns.push_back(std::move(column));
  }
  if (document.copying) {
    TextColumn column{{"copying", kDim}, {}};
    for (const std::size_t row : rows) {
      const std::optional<double>& score = document.copying->scores[row];
      column.cells.push_back(score ? Span{number(*score)} : Span{charset.dash(), kDim});
    }
    column.cells.push_back({charset.dash(), kDim});
    table.columns.push_back(std::move(column));
  }
  if (document.known) {
    TextColumn column{{"known", kDim}, {}, false};
    for (const std::size_t row : rows) {
      const auto name = known_name(*document.known, document.heads[row]);
      column.cells.push_back({std::string(name.value_or(""))});
    }
    column.cells.emplace_back();
    table.columns.push_back(std::move(column));
  }
  return table;
}

}  // namespace

Page heads_page(const HeadsDocument& document, const HeadsTableChoice& choice,
                const TerminalOptions& asked) {
  const TerminalOptions options = wide_enough(asked);
  const Charset charset(options.style);
  Page page;
  page.add(paragraph(charset.sentence("heads: " + heads_title(document)), options.columns, kBold));
  for (const std::string& note : document.notes) {
    page.add(paragraph(charset.sentence(note), options.columns, kDim));
  }
  page.blank();
  if (document.is_probe()) {
    add_names(page, document, options);
    page.blank();
  }
  std::vector<std::size_t> rows = ranked_heads(document, choice.ranking);
  const std::size_t n_all = rows.size();
  rows.resize(choice.top == 0 ? n_all : std::min(n_all, choice.top));
  const std::vector<Score> columns =
      choice.columns.empty() ? usual_columns(document) : choice.columns;
  page.add(draw_table(table_of(document, rows, columns, options), options.columns, charset));
  if (rows.size() < n_all) {
    page.add(fmt::format("{} {}", charset.ellipsis(), counted(n_all - rows.size(), "more head")),
             kDim);
  }
  return page;
}

}  // namespace attnviz
