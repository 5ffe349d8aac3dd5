#include "attnviz/terminal/why_view.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/attention/head_selection.h"
#include "attnviz/core/message.h"
#include "attnviz/document/words/number_group.h"
#include "attnviz/document/words/short_numbers.h"
#include "attnviz/terminal/page/charset.h"
#include "attnviz/terminal/page/paragraph.h"
#include "attnviz/terminal/page/terminal_palette.h"
#include "attnviz/terminal/page/text_table.h"

namespace attnviz {

namespace {

std::string bits(double value) {
  return without_zero_sign(fmt::format("{:.2f}", value));
}

std::string off_by(double rounding) {
  return rounding == 0.0 ? "" : fmt::format(", {:.0e} off by rounding", std::abs(rounding));
}

// The first `top` of `indices` by the size of `of`, largest first; 0: all.
template <class Of>
std::vector<std::size_t> first_by(std::size_t count, std::size_t top, const Of& of) {
  std::vector<std::size_t> indices(count);
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  std::ranges::stable_sort(indices, std::greater(), of);
  indices.resize(top == 0 ? count : std::min(top, count));
  return indices;
}

class WhyPage {
 public:
  WhyPage(const WhyDocument& document, std::size_t top, const TerminalOptions& options)
      : document_(document),
        top_(top),
        options_(options),
        charset_(options.style),
        palette_(Colormap(), options.color) {}

  Page draw() {
    page_.add(
        paragraph(charset_.sentence("why: " + why_title(document_)), options_.columns, kBold));
    for (const std::string& note : document_.notes) {
      dim(note);
    }
    if (document_.prediction) {
      prediction();
    }
    if (document_.words) {
      words();
    }
    if (document_.attribution) {
      attribution();
    }
    if (document_.ablation) {
      ablation();
    }
    if (document_.lens) {
      lens();
    }
    if (document_.split) {
      split();
    }
    return std::move(page_);
  }

 private:
  void dim(std::string_view text) {
    page_.add(paragraph(charset_.sentence(text), options_.columns, kDim));
  }
  void heading(std::string_view text) {
    page_.blank();
    page_.add(paragraph(charset_.sentence(text), options_.columns, kBold));
  }
  void draw(const TextTable& table) { page_.add(draw_table(table, options_.columns, charset_)); }
  std::string token(TokenId id) const { return charset_.label(document_.token_texts.at(id)); }
  std::string target() const { return token(document_.prediction->target.id); }

  // Of what is taken away no more is seen than of what is given: the sign is in the number.
  Span bar(double value, double largest, std::size_t columns = kBar) const {
    const bool is_seen = signed_change(value) != signed_change(0.0);
    const double share = is_seen ? std::abs(value) / largest : 0.0;
    return {charset_.bar(share, columns),
            (value < 0.0) == is_loss_shown_
                ? Style{.ink = palette_.share_ink(static_cast<float>(share))}
                : kDim};
  }

  void left_out(std::size_t count, std::string_view what) {
    if (count > 0) {
      page_.add(paragraph(fmt::format("{} {} more{}", charset_.ellipsis(), count, what),
                          options_.columns, kDim));
    }
  }

  void prediction() {
    const WhyDocument::Prediction& prediction = *document_.prediction;
    page_.blank();
    TextTable table;
    table.has_headings = false;
    TextColumn name{{}, {}, false, true}, share{{}, {}, true, true}, log{{}, {}, false};
    const auto add = [&](const char* what, const WhyToken& one) {
      table.labels.push_back({what, kDim});
      name.cells.push_back({token(one.id), kBold});
      const double probability = std::exp(one.log_probability);
      share.cells.push_back({percentage(static_cast<float>(probability), 1)});
      log.cells.push_back({fmt::format("ln p {:.3g}", one.log_probability), kDim});
    };
    add("toward", prediction.target);
    add("versus", prediction.versus);
    table.columns = {std::move(name), std::move(share), std::move(log)};
    draw(table);
  }

  // Rows in the order of the text.
  void words() {
    const std::vector<LostWord>& all = *document_.words;
    double largest = 0.0;
    double most_seen = 0.0;
    for (const LostWord& word : all) {
      largest = std::max(largest, std::abs(word.log_probability_change.value_or(0.0)));
      most_seen = std::max(most_seen, word.attention);
    }
    // What is needed most and what is looked at most are both among them.
    const auto size = [&](std::size_t i) {
      const double change = std::abs(all[i].log_probability_change.value_or(0.0));
      return std::max(largest > 0.0 ? change / largest : 0.0, all[i].attention / most_seen);
    };
    std::vector<std::size_t> rows = first_by(all.size(), top_, size);
    std::ranges::sort(rows);
    is_loss_shown_ = true;
    heading(fmt::format("words: how ln p of {} changes when {}", target(),
                        hidden_words_note(document_)));
    shaded(largest);
    TextTable table;
    table.corner = {"word", kDim};
    TextColumn change{{"change", kDim}, {}}, bars{{}, {}, false, true};
    TextColumn attention{{"attention", kDim}, {}}, looks{{}, {}, false, true};
    for (const std::size_t row : rows) {
      const LostWord& word = all[row];
      table.labels.push_back({fmt::format("{} {}", word.span.begin, charset_.label(word.text))});
      const auto& lost = word.log_probability_change;
      change.cells.push_back(lost ? Span{signed_change(*lost)} : Span{charset_.dash(), kDim});
      bars.cells.push_back(bar(lost.value_or(0.0), largest));
      const auto share = static_cast<float>(word.attention);
      attention.cells.push_back({percent_cell(share, 1)});
      looks.cells.push_back(
          {charset_.bar(word.attention, kBar), {.ink = palette_.share_ink(share)}});
    }
    table.columns = {std::move(change), std::move(bars), std::move(attention), std::move(looks)};
    draw(table);
    left_out(all.size() - rows.size(), ", less needed and less looked at");
    if (const std::string lesson = words_lesson(document_); !lesson.empty()) {
      page_.add(paragraph(charset_.sentence(lesson), options_.columns));
    }
    std::string legend = fmt::format(
        "change: of ln p, in nats; attention: from the last token to the word, the mean over all "
        "heads{}{}",
        document_.sink > 0.0 ? fmt::format(" (the learned sinks get {})",
                                           percentage(static_cast<float>(document_.sink), 1))
                             : "",
        options_.color == ColorDepth::kNone ? "" : "; shaded: what is lost without a word");
    if (const auto none = std::ranges::find_if(
            rows, [&all](std::size_t row) { return !all[row].log_probability_change; });
        none != rows.end()) {
      legend += fmt::format("; {}: {}", charset_.dash(), unhidden_note(all[*none]));
    }
    dim(legend);
  }

  // The text itself, darker where more is lost.
  void shaded(double largest) {
    if (options_.color == ColorDepth::kNone) {
      return;
    }
    const TerminalPalette paper(Colormap("blues"), options_.color);
    std::vector<Line> items;
    for (const LostWord& word : *document_.words) {
      const double lost = std::max(0.0, -word.log_probability_change.value_or(0.0));
      Line item;
      item.put(
          charset_.fitted(charset_.label(word.text), options_.columns),
          lost > 0.0 ? Style{.fill = paper.color(static_cast<float>(lost / largest))} : Style{});
      items.push_back(std::move(item));
    }
    page_.add(flow(items, 1, options_.columns));
    page_.blank();
  }

  void attribution() {
    const Attribution& all = *document_.attribution;
    const auto share = [&all](std::size_t i) { return std::abs(all.parts[i].shares[0]); };
    const std::vector<std::size_t> rows = first_by(all.parts.size(), top_, share);
    is_loss_shown_ = false;
    heading(
        fmt::format("heads and MLPs that wrote it: what each adds to the logit of {}", target()));
    TextTable table;
    table.corner = {"part", kDim};
    TextColumn own{{target(), kDim}, {}}, bars{{}, {}, false, true};
    TextColumn other{{token(document_.prediction->versus.id), kDim}, {}};
    TextColumn difference{{"difference", kDim}, {}}, named{{}, {}, false};
    const auto add = [&](std::string_view name, double one, double two, const Style& style) {
      table.labels.push_back({std::string(name), style});
      own.cells.push_back({signed_change(one), style});
      other.cells.push_back({signed_change(two), style});
      difference.cells.push_back({signed_change(one - two), style});
    };
    const double largest = rows.empty() ? 0.0 : share(rows.front());
    std::vector<double> sum(2, 0.0);
    for (const LogitPart& part : all.parts) {
      sum[0] += part.shares[0];
      sum[1] += part.shares[1];
    }
    std::vector<double> rest = sum;
    for (const std::size_t row : rows) {
      const LogitPart& part = all.parts[row];
      add(part_name(part.kind, part.layer, part.head), part.shares[0], part.shares[1], {});
      named.cells.push_back(part.kind == LogitPartKind::kHead ? names({part.layer, part.head})
                                                              : Span());
      bars.cells.push_back(bar(part.shares[0], largest));
      rest[0] -= part.shares[0];
      rest[1] -= part.shares[1];
    }
    if (rows.size() < all.parts.size()) {
      add(counted(all.parts.size() - rows.size(), "other"), rest[0], rest[1], kDim);
    }
    add("sum: the logit", sum[0], sum[1], kBold);
    bars.cells.resize(table.labels.size());
    named.cells.resize(table.labels.size());
    table.columns = {std::move(own), std::move(bars), std::move(other), std::move(difference),
                     std::move(named)};
    draw(table);
    dim(
        fmt::format("each part goes through the last norm, its scale held; the run's own logit is "
                    "{:.2f}{}",
                    all.logits[0], off_by(sum[0] - all.logits[0])));
  }

  // What it was found to be on probes.
  Span names(HeadId head) const {
    return {charset_.fitted(names_of(document_.model, head), kMostNames), kDim};
  }

  void ablation() {
    const std::vector<AblationEffect>& all = document_.ablation->effects;
    const auto size = [&all](std::size_t i) { return std::abs(all[i].change.log_probability); };
    const std::vector<std::size_t> rows = first_by(all.size(), top_, size);
    is_loss_shown_ = true;
    heading(fmt::format("what is needed: how ln p of {} changes when one {} gives {}", target(),
                        ablated_words(), document_.ablation->by_mean ? "its mean" : "0"));
    TextTable table;
    table.corner = {"without", kDim};
    TextColumn change{{"change", kDim}, {}}, bars{{}, {}, false, true};
    TextColumn kl{{"KL bits", kDim}, {}}, mean{{"mean KL", kDim}, {}};
    TextColumn now{{"then first", kDim}, {}, false}, named{{}, {}, false};
    const double largest = rows.empty() ? 0.0 : size(rows.front());
    for (const std::size_t row : rows) {
      const auto& [what, effect] = all[row];
      table.labels.push_back({part_name(what)});
      change.cells.push_back({signed_change(effect.log_probability)});
      bars.cells.push_back(bar(effect.log_probability, largest));
      kl.cells.push_back({bits(effect.kl_bits)});
      mean.cells.push_back({bits(effect.kl_bits_mean)});
      now.cells.push_back({token(effect.top.id)});
      named.cells.push_back(what.head ? names({what.layer, *what.head}) : Span());
    }
    table.columns = {std::move(change), std::move(bars), std::move(kl),
                     std::move(mean),   std::move(now),  std::move(named)};
    draw(table);
    if (rows.size() < all.size()) {
      left_out(
          all.size() - rows.size(),
          fmt::format(", each {:.2f} at most", size(first_by(all.size(), 0, size)[rows.size()])));
    }
    dim("change: of ln p, in nats; KL: between the predictions here with and without it; mean KL: "
        "over all tokens of the text; then first: the most probable token without it");
  }

  // "head, MLP or layer's attention".
  std::string ablated_words() const {
    std::vector<std::string> words;
    for (const AblatedPart part : document_.ablation->parts) {
      words.emplace_back(part == AblatedPart::kHeads  ? "head"
                         : part == AblatedPart::kMlps ? "MLP"
                                                      : "layer's attention");
    }
    return joined(words, "or");
  }

  void lens() {
    constexpr std::size_t kMostLensRows = 26;
    constexpr std::size_t kLensTokens = 3;
    const std::vector<LensPoint>& all = *document_.lens;
    const bool has_all = all.size() <= kMostLensRows || top_ == 0;
    heading(fmt::format("layers: what the model would say if it ended there (logit lens)"));
    TextTable table;
    table.corner = {"layer", kDim};
    const std::string of_all = "of " + grouped(document_.prediction->n_vocabulary);
    TextColumn rank{{"rank " + of_all, kDim}, {}}, share{{target(), kDim}, {}},
        bars{{}, {}, false, true};
    TextColumn first{{"most probable", kDim}, {}, false};
    for (const LensPoint& point : all) {
      if (!has_all && point.step == LayerStep::kMiddle) {
        continue;
      }
      table.labels.push_back(
          {point_name(point), point.step == LayerStep::kMiddle ? kDim : Style{}});
      rank.cells.push_back({grouped(point.target_rank + 1)});
      const auto probability = static_cast<float>(std::exp(point.target_log_probability));
      share.cells.push_back({percent_cell(probability, 1)});
      bars.cells.push_back({charset_.bar(static_cast<double>(probability), kBar),
                            {.ink = palette_.share_ink(probability)}});
      std::string tokens;
      for (std::size_t i = 0; i < std::min(kLensTokens, point.top.size()); ++i) {
        tokens += (i == 0 ? "" : "  ") + token(point.top[i].id);
      }
      first.cells.push_back({std::move(tokens)});
    }
    table.columns = {std::move(rank), std::move(share), std::move(bars), std::move(first)};
    draw(table);
    dim(fmt::format(
        "before 1: the stream that enters layer 1; attention 1: behind its attention{}; "
        "rank 1 {}: the most probable",
        has_all ? "" : " (JSON has them)", of_all));
  }

  void split() {
    const ScoreSplit& score = document_.split->score;
    const std::size_t n_keys = score.key_parts.size();
    const auto size = [&score](std::size_t i) { return std::abs(score.products[i]); };
    const std::vector<std::size_t> rows = first_by(score.products.size(), top_, size);
    is_loss_shown_ = false;
    const std::string weight = score.is_visible
                                   ? "weight " + percentage(static_cast<float>(score.weight), 1)
                                   : "weight 0: the query does not see this key";
    page_.add(paragraph(fmt::format("{}; score {:.2f}", weight, score.score), options_.columns));
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
    heading("the largest pairs: query's part times key's part");
    TextTable table;
    table.corner = {"query's", kDim};
    TextColumn key{{"key's", kDim}, {}, false}, product{{"score", kDim}, {}, true, true};
    TextColumn bars{{}, {}, false, true};
    const double largest = rows.empty() ? 0.0 : size(rows.front());
    const auto name = [](const StreamPart& part) {
      return part_name(part.kind, part.layer, part.head);
    };
    double rest = std::accumulate(score.products.begin(), score.products.end(), 0.0);
    const double sum = rest + score.position_bias;
    const auto add = [&](std::string_view of_query, std::string_view of_key, double value,
                         const Style& style) {
      table.labels.push_back({std::string(of_query), style});
      key.cells.push_back({std::string(of_key), style});
      product.cells.push_back({signed_change(value), style});
    };
    for (const std::size_t row : rows) {
      add(name(score.query_parts[row / n_keys]), name(score.key_parts[row % n_keys]),
          score.products[row], {});
      bars.cells.push_back(bar(score.products[row], largest));
      rest -= score.products[row];
    }
    if (rows.size() < score.products.size()) {
      add(counted(score.products.size() - rows.size(), "other pair"), "", rest, kDim);
      bars.cells.emplace_back();
    }
    if (score.position_bias != 0.0) {
      add("distance", "", score.position_bias, {});
      bars.cells.push_back(bar(score.position_bias, largest));
    }
    add("sum: the score", "", sum, kBold);
    bars.cells.emplace_back();
    table.columns = {std::move(key), std::move(product), std::move(bars)};
    draw(table);
    dim(fmt::format(
        "score: scaled q{}k before the softmax; parts go through the norm that attention "
        "reads with, its scale held; the run's own score is {:.2f}{}",
        charset_.is_ascii() ? "*" : "·", score.score, off_by(sum - score.score)));
  }

  template <class SumOf>
  void sums(std::string_view what, const std::vector<StreamPart>& parts, const SumOf& sum_of) {
    constexpr std::size_t kSumRows = 6;
    heading(what);
    const auto size = [&](std::size_t i) { return std::abs(sum_of(i)); };
    const std::vector<std::size_t> rows =
        first_by(parts.size(), top_ == 0 ? 0 : std::min(kSumRows, top_), size);
    TextTable table;
    table.has_headings = false;
    TextColumn value{{}, {}}, bars{{}, {}, false, true}, named{{}, {}, false};
    for (const std::size_t row : rows) {
      const StreamPart& part = parts[row];
      table.labels.push_back({part_name(part.kind, part.layer, part.head)});
      named.cells.push_back(part.kind == LogitPartKind::kHead ? names({part.layer, part.head})
                                                              : Span());
      value.cells.push_back({signed_change(sum_of(row))});
      bars.cells.push_back(bar(sum_of(row), size(rows.front())));
    }
    table.columns = {std::move(value), std::move(bars), std::move(named)};
    draw(table);
    left_out(parts.size() - rows.size(), "");
  }

  static constexpr std::size_t kBar = 12;
  static constexpr std::size_t kMostNames = 30;

  const WhyDocument& document_;
  std::size_t top_;
  TerminalOptions options_;
  Charset charset_;
  TerminalPalette palette_;
  bool is_loss_shown_ = false;  // in colour, else what is gained
  Page page_;
};

}  // namespace

Page why_page(const WhyDocument& document, std::size_t top, const TerminalOptions& options) {
  return WhyPage(document, top, wide_enough(options)).draw();
}

}  // namespace attnviz
