#include "attnviz/report/reports/reports.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/attention/interventions.h"
#include "attnviz/core/choices.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/report/json/document_json.h"
#include "attnviz/report/why_document.h"
#include "attnviz/report/words/number_formats.h"
#include "attnviz/report/words/words.h"

namespace attnviz {

namespace {

constexpr std::size_t kLensTokens = 3;

class WhyReport {
 public:
  WhyReport(const WhyDocument& document, std::size_t top)
      : document_(document),
        top_(top),
        report_(begin_report("attnviz.why/1", "why: " + why_title(document), document.model,
                             document.run, {})) {
    report_.notes = document.notes;
  }

  Report make() {
    report_.members.add_all(text_record(document_.text))
        .add("at", document_.text.size() - 1)
        .add_if_any("notes", document_.notes);
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
      add_score_split(report_, document_, top_);
    }
    if (!document_.split) {
      report_.numbers = why_numbers(document_);
    }
    return std::move(report_);
  }

 private:
  void quiet(std::string text) { report_.say(std::move(text), Emphasis::kQuiet); }
  const std::string& text_of(TokenId id) const { return document_.token_texts.at(id); }
  std::string target() const { return quoted_token(text_of(document_.prediction->target.id)); }

  Record token(TokenId id) const { return {{"id", id}, {"token", text_of(id)}}; }

  void prediction() {
    const auto& [target, versus, n_vocabulary] = *document_.prediction;
    const auto add = [this](const char* key, const WhyToken& one) {
      Record record = token(one.id);
      record.add("logprob", one.log_probability);
      report_.add(key, std::move(record));
    };
    add("target", target);
    add("versus", versus);
    const std::vector<WhyToken> rows = {target, versus};
    Table table =
        TableOf(rows)
            .column({.emphasis = Emphasis::kQuiet},
                    [&](const WhyToken& one) { return &one == rows.data() ? "toward" : "versus"; })
            .column({.emphasis = Emphasis::kStrong, .are_tokens = true, .with_previous = true},
                    [this](const WhyToken& one) { return text_of(one.id); })
            .column({.format = percent_of_log, .with_previous = true}, &WhyToken::log_probability)
            .column(
                {.emphasis = Emphasis::kQuiet},
                [](const WhyToken& one) { return fmt::format("ln p {:.3g}", one.log_probability); })
            .take();
    table.has_headings = false;
    report_.draw(Gap{});
    report_.draw(std::move(table));
  }

  // Rows in text order, including the most needed words and those with the most attention.
  void words() {
    const std::vector<LostWord>& all = *document_.words;
    double largest = 0.0;
    double most_seen = 0.0;
    for (const LostWord& word : all) {
      largest = std::max(largest, std::abs(word.log_probability_change.value_or(0.0)));
      most_seen = std::max(most_seen, word.attention);
    }
    const auto size = [&](std::size_t i) {
      const double change = std::abs(all[i].log_probability_change.value_or(0.0));
      return std::max(largest > 0.0 ? change / largest : 0.0, all[i].attention / most_seen);
    };
    Table table =
        TableOf(all)
            .column({.key = "begin", .emphasis = Emphasis::kQuiet},
                    [](const LostWord& word) { return word.span.begin; })
            .data("end", [](const LostWord& word) { return word.span.end; })
            .column({.key = "text", .heading = "word", .are_tokens = true, .with_previous = true},
                    &LostWord::text)
            .column(
                {.key = "logprob_change",
                 .heading = "change",
                 .format = signed_number,
                 .bars = ColumnBars{.whole = largest > 0.0 ? largest : 1.0, .below_zero = true}},
                &LostWord::log_probability_change)
            .column({.key = "attention",
                     .heading = "attention",
                     .format = percent_number,
                     .bars = ColumnBars{}},
                    &LostWord::attention)
            .take();
    report_.add("tokens_lost", records(table));
    std::vector<std::size_t> rows = largest_rows(all.size(), top_, size);
    std::ranges::sort(rows);
    if (rows.size() < all.size()) {
      table.left_out = counted(all.size() - rows.size(), "more word");
    }
    const auto unhidden = std::ranges::find_if(
        rows, [&all](std::size_t row) { return !all[row].log_probability_change; });
    const std::string dash =
        unhidden != rows.end() ? "; –: " + unhidden_note(all[*unhidden]) : std::string();
    table.shown = std::move(rows);
    report_.draw(Heading{fmt::format("words: how ln p of {} changes when {}", target(),
                                     hidden_words_note(document_))});
    quiet(fmt::format(
        "change: of ln p, the natural logarithm of the probability (-1: divided by 2.7); "
        "attention: from the last token to the word, averaged over all heads{}{}",
        document_.sink > 0.0 ? fmt::format(" (the learned sinks get {})",
                                           percentage(static_cast<float>(document_.sink), 1))
                             : "",
        dash));
    shaded(largest);
    report_.draw(std::move(table));
    report_.say(words_lesson(document_));
  }

  // The text itself, with darker shades for larger losses.
  void shaded(double largest) {
    Strip strip{.pieces = {}, .needs_color = true};
    for (const LostWord& word : *document_.words) {
      const double lost = std::max(0.0, -word.log_probability_change.value_or(0.0));
      StripPiece piece{word.text};
      piece.is_close = !word.text.starts_with(' ');
      if (lost > 0.0) {
        piece.share = static_cast<float>(lost / largest);
      }
      strip.pieces.push_back(std::move(piece));
    }
    report_.draw(std::move(strip));
  }

  void attribution() {
    const Attribution& all = *document_.attribution;
    const auto share = [&all](std::size_t i) { return std::abs(all.parts[i].shares[0]); };
    std::vector<std::size_t> rows = largest_rows(all.parts.size(), top_, share);
    const auto versus = [](const LogitPart& part) { return part.shares[1]; };
    Table table = TableOf(all.parts)
                      .column({.heading = "part"},
                              [](const LogitPart& part) {
                                return part_name(part.kind, part.layer, part.head);
                              })
                      .column({.heading = target(),
                               .format = signed_number,
                               .bars = ColumnBars{.whole = largest_of(rows, share)}},
                              [](const LogitPart& part) { return part.shares[0]; })
                      .column({.heading = quoted_token(text_of(document_.prediction->versus.id)),
                               .format = signed_number},
                              versus)
                      .column({.heading = "difference", .format = signed_number},
                              [](const LogitPart& part) { return part.shares[0] - part.shares[1]; })
                      .column({.emphasis = Emphasis::kQuiet},
                              [this](const LogitPart& part) {
                                return part.kind == LogitPartKind::kHead
                                           ? short_names(document_.model, {part.layer, part.head})
                                           : std::string();
                              })
                      .take();
    std::array<double, 2> sum = {0.0, 0.0};
    for (const LogitPart& part : all.parts) {
      sum[0] += part.shares[0];
      sum[1] += part.shares[1];
    }
    std::array<double, 2> rest = sum;
    for (const std::size_t row : rows) {
      rest[0] -= all.parts[row].shares[0];
      rest[1] -= all.parts[row].shares[1];
    }
    if (rows.size() < all.parts.size()) {
      table.extra_rows.push_back(
          {{counted(all.parts.size() - rows.size(), "other"), rest[0], rest[1], rest[0] - rest[1]},
           Emphasis::kQuiet});
    }
    table.extra_rows.push_back(
        {{"sum: the logit", sum[0], sum[1], sum[0] - sum[1]}, Emphasis::kStrong});
    table.shown = std::move(rows);
    report_.draw(Heading{fmt::format("what heads and MLPs add to the logit of {}", target())});
    quiet(
        fmt::format("logit: a token's score before softmax. Each part is scaled by the factor by "
                    "which the last norm scales their sum; this run's logit is {:.2f}{}",
                    all.logits[0], off_by(sum[0] - all.logits[0])));
    report_.draw(std::move(table));
    report_.add("attribution",
                Record{{"parts", list_of(all.parts,
                                         [](const LogitPart& part) {
                                           Record record =
                                               place_record(part.kind, part.layer, part.head);
                                           record.add("logit", part.shares[0]);
                                           record.add("versus", part.shares[1]);
                                           if (part.kind == LogitPartKind::kHead) {
                                             record.add("bias_share", part.bias_share);
                                             record.add("by_key", part.by_key);
                                           }
                                           return record;
                                         })},
                       {"logit", all.logits[0]},
                       {"versus", all.logits[1]}});
  }

  void ablation() {
    const WhyDocument::Ablations& ablation = *document_.ablation;
    const std::vector<AblationEffect>& all = ablation.effects;
    const auto size = [&all](std::size_t i) { return std::abs(all[i].change.log_probability); };
    std::vector<std::size_t> rows = largest_rows(all.size(), 0, size);
    const double largest = largest_of(rows, size);
    const auto change = [](double PredictionChange::*of) {
      return [of](const AblationEffect& effect) { return effect.change.*of; };
    };
    Table table =
        TableOf(all)
            .data("layer", [](const AblationEffect& effect) { return effect.what.layer; })
            .column({.key = "head", .for_programs = true, .is_optional = true},
                    [](const AblationEffect& effect) { return effect.what.head; })
            .column({.heading = "without"},
                    [](const AblationEffect& effect) { return part_name(effect.what); })
            .column({.key = "logprob_change",
                     .heading = "change",
                     .format = signed_number,
                     .bars = ColumnBars{.whole = largest, .below_zero = true}},
                    change(&PredictionChange::log_probability))
            .column({.key = "kl_bits", .heading = "KL bits", .format = two_decimals},
                    change(&PredictionChange::kl_bits))
            .column({.key = "kl_bits_mean", .heading = "mean KL", .format = two_decimals},
                    change(&PredictionChange::kl_bits_mean))
            .data("top",
                  [this](const AblationEffect& effect) { return token(effect.change.top.id); })
            .column({.heading = "new top", .are_tokens = true},
                    [this](const AblationEffect& effect) { return text_of(effect.change.top.id); })
            .column({.emphasis = Emphasis::kQuiet},
                    [this](const AblationEffect& effect) {
                      return effect.what.head ? short_names(document_.model,
                                                            {effect.what.layer, *effect.what.head})
                                              : std::string();
                    })
            .take();
    Record record{{"kind", ablation.by_mean ? "mean" : "zero"}};
    for (const AblatedPart part : ablation.parts) {
      std::vector<std::size_t> of_part;
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (part_of(all[i].what) == part) {
          of_part.push_back(i);
        }
      }
      record.add(word_for(kAblatedParts, part), records(table, &of_part));
    }
    report_.add("ablation", std::move(record));
    const std::size_t n_shown = top_ == 0 ? all.size() : std::min(top_, all.size());
    if (n_shown < all.size()) {
      const double most = size(rows[n_shown]);
      table.left_out =
          fmt::format("{} more, each {}", all.size() - n_shown,
                      most < 0.005 ? "less than 0.005" : fmt::format("at most ±{:.2f}", most));
    }
    rows.resize(n_shown);
    table.shown = std::move(rows);
    report_.draw(
        Heading{fmt::format("ablation: how ln p of {} changes when the output of one {} "
                            "is replaced by {}",
                            target(), ablated_words(), ablation.by_mean ? "its mean" : "0")});
    quiet(
        "change: of ln p, the natural logarithm of the probability; KL: how far the prediction "
        "without the part is from the one with it (Kullback-Leibler divergence in bits, 0: the "
        "same); mean KL: averaged over all tokens of the text; new top: the most probable token "
        "without it. A part can add much and still not be missed, if other parts do the same job.");
    report_.draw(std::move(table));
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
    const std::vector<LensPoint>& all = *document_.lens;
    const std::string of_all = "of " + grouped(document_.prediction->n_vocabulary);
    Table table =
        TableOf(all)
            .data("point",
                  [](const LensPoint& point) {
                    return point.step == LayerStep::kBefore ? fmt::format("in {}", point.layer)
                           : point.step == LayerStep::kMiddle
                               ? fmt::format("attention {}", point.layer)
                               : "out";
                  })
            .data("logprob", &LensPoint::target_log_probability)
            .data("rank", &LensPoint::target_rank)
            .data("top",
                  [this](const LensPoint& point) {
                    return list_of(point.top, [&](const ProbableToken& one) {
                      Record record = token(one.id);
                      record.add("logprob", static_cast<double>(one.logit) - point.log_sum);
                      return record;
                    });
                  })
            .column({.heading = "layer"}, point_name)
            .column({.heading = "rank " + of_all, .format = grouped_number},
                    [](const LensPoint& point) { return point.target_rank + 1; })
            .column({.heading = target(), .format = percent_number, .bars = ColumnBars{}},
                    [](const LensPoint& point) { return std::exp(point.target_log_probability); })
            .column({.heading = "most probable"},
                    [this](const LensPoint& point) {
                      std::string tokens;
                      for (std::size_t i = 0; i < std::min(kLensTokens, point.top.size()); ++i) {
                        tokens += (i == 0 ? "" : ", ") + quoted_token(text_of(point.top[i].id));
                      }
                      return tokens;
                    })
            .take();
    report_.add("lens", records(table));
    const bool has_all = all.size() <= kMostLensRows || top_ == 0;
    table.shown.emplace();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool is_middle = all[i].step == LayerStep::kMiddle;
      table.emphasis.push_back(is_middle ? Emphasis::kQuiet : Emphasis::kPlain);
      if (has_all || !is_middle) {
        table.shown->push_back(i);
      }
    }
    report_.draw(
        Heading{"layers: the prediction if the model ended after each of them (logit lens)"});
    quiet(
        fmt::format("before 1: the token's vector as it enters layer 1 (the residual stream); "
                    "attention 1: after the attention of layer 1{}; rank 1 {}: the most probable",
                    has_all ? "" : " (in JSON)", of_all));
    report_.draw(std::move(table));
  }

  const WhyDocument& document_;
  std::size_t top_;
  Report report_;
};

}  // namespace

Report why_report(const WhyDocument& document, std::size_t top) {
  return WhyReport(document, top).make();
}

}  // namespace attnviz
