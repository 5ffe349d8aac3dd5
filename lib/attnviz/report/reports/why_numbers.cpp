#include "attnviz/report/reports/reports.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/analysis/why/attribution.h"
#include "attnviz/core/choices.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/report/why_document.h"
#include "attnviz/report/words/number_formats.h"

namespace attnviz {

namespace {

constexpr std::array kPartWords = {Choice{"embedding", LogitPartKind::kEmbedding},
                                   Choice{"position", LogitPartKind::kPosition},
                                   Choice{"head", LogitPartKind::kHead},
                                   Choice{"output_bias", LogitPartKind::kOutputBias},
                                   Choice{"mlp", LogitPartKind::kMlp},
                                   Choice{"convolution", LogitPartKind::kConvolution},
                                   Choice{"gated_delta_net", LogitPartKind::kGatedDelta},
                                   Choice{"mamba2", LogitPartKind::kMamba2},
                                   Choice{"layer_input", LogitPartKind::kLayerInput},
                                   Choice{"norm_bias", LogitPartKind::kNormBias},
                                   Choice{"logit_bias", LogitPartKind::kLogitBias},
                                   Choice{"bias", LogitPartKind::kBias}};

// A row of the table of a prediction; properties that do not apply are null.
struct PartRow {
  PartPlace place;
  std::optional<double> logit = {}, versus = {}, bias_share = {};
  const PredictionChange* change = nullptr;  // without this part
  const LostWord* word = nullptr;
  const LensPoint* point = nullptr;
};

// The change without a part; null if it was not measured.
const PredictionChange* change_without(const WhyDocument& document, AblatedPart part,
                                       std::size_t layer, std::optional<std::size_t> head) {
  if (document.ablation) {
    for (const AblationEffect& effect : document.ablation->effects) {
      if (part_of(effect.what) == part && effect.what.layer == layer && effect.what.head == head) {
        return &effect.change;
      }
    }
  }
  return nullptr;
}

void add_attributed(const WhyDocument& document, std::vector<PartRow>& rows) {
  for (const LogitPart& part : document.attribution->parts) {
    PartRow& row = rows.emplace_back(PartRow{.place = place_of(part.kind, part.layer, part.head),
                                             .logit = part.shares[0],
                                             .versus = part.shares[1]});
    if (part.kind == LogitPartKind::kHead) {
      row.bias_share = part.bias_share;
      row.change = change_without(document, AblatedPart::kHeads, part.layer, part.head);
    } else if (part.kind == LogitPartKind::kMlp) {
      row.change = change_without(document, AblatedPart::kMlps, part.layer, std::nullopt);
    }
  }
}

void add_ablated(const WhyDocument& document, std::vector<PartRow>& rows) {
  for (const AblationEffect& effect : document.ablation->effects) {
    const AblatedPart part = part_of(effect.what);
    if (document.attribution && part != AblatedPart::kLayers) {
      continue;  // shown in the row of its contribution
    }
    const char* const name = part == AblatedPart::kHeads  ? "head"
                             : part == AblatedPart::kMlps ? "mlp"
                                                          : "layer";
    rows.push_back(
        {.place = {name, effect.what.layer, effect.what.head}, .change = &effect.change});
  }
}

std::vector<PartRow> part_rows(const WhyDocument& document) {
  std::vector<PartRow> rows;
  if (document.attribution) {
    add_attributed(document, rows);
  }
  if (document.ablation) {
    add_ablated(document, rows);
  }
  if (document.words) {
    for (const LostWord& word : *document.words) {
      rows.push_back({.place = {"word"}, .word = &word});
    }
  }
  if (document.lens) {
    for (const LensPoint& point : *document.lens) {
      const char* const name = point.step == LayerStep::kBefore   ? "lens_in"
                               : point.step == LayerStep::kMiddle ? "lens_attention"
                                                                  : "lens_out";
      rows.push_back({.place = {name, point.step != LayerStep::kAfter ? std::optional(point.layer)
                                                                      : std::nullopt},
                      .point = &point});
    }
  }
  return rows;
}

// Applies `of` to a member of the row, if the row has it.
template <class Part>
auto from(const Part* PartRow::*member, const auto& of) {
  return [member, of](const PartRow& row) {
    return row.*member != nullptr ? Datum(std::invoke(of, *(row.*member))) : Datum();
  };
}

}  // namespace

PartPlace place_of(LogitPartKind kind, std::size_t layer, std::size_t head) {
  return {std::string(word_for(kPartWords, kind)),
          has_layer(kind) ? std::optional(layer) : std::nullopt,
          kind == LogitPartKind::kHead ? std::optional(head) : std::nullopt};
}

Record place_record(LogitPartKind kind, std::size_t layer, std::size_t head) {
  const PartPlace place = place_of(kind, layer, head);
  Record record{{"part", place.part}};
  if (place.layer) {
    record.add("layer", *place.layer);
  }
  if (place.head) {
    record.add("head", *place.head);
  }
  return record;
}

Table why_numbers(const WhyDocument& document) {
  const std::vector<PartRow> rows = part_rows(document);
  const auto top_of = [&document](const PartRow& row) -> Datum {
    const bool has_lens = row.point != nullptr && !row.point->top.empty();
    return row.change != nullptr ? Datum(document.token_texts.at(row.change->top.id))
           : has_lens            ? Datum(document.token_texts.at(row.point->top.front().id))
                                 : Datum();
  };
  return TableOf(rows)
      .column({.key = "part", .are_words = true}, [](const PartRow& row) { return row.place.part; })
      .data("layer", [](const PartRow& row) { return row.place.layer; })
      .data("head", [](const PartRow& row) { return row.place.head; })
      .data("logit", &PartRow::logit)
      .data("versus", &PartRow::versus)
      .data("bias_share", &PartRow::bias_share)
      .data("logprob_change",
            [](const PartRow& row) {
              return row.change != nullptr ? Datum(row.change->log_probability)
                     : row.word != nullptr ? Datum(row.word->log_probability_change)
                                           : Datum();
            })
      .data("kl_bits", from(&PartRow::change, &PredictionChange::kl_bits))
      .data("kl_bits_mean", from(&PartRow::change, &PredictionChange::kl_bits_mean))
      .data("begin", from(&PartRow::word, [](const LostWord& word) { return word.span.begin; }))
      .data("end", from(&PartRow::word, [](const LostWord& word) { return word.span.end; }))
      .data("text", from(&PartRow::word, &LostWord::text))
      .data("attention", from(&PartRow::word, &LostWord::attention))
      .data("logprob", from(&PartRow::point, &LensPoint::target_log_probability))
      .data("rank", from(&PartRow::point, &LensPoint::target_rank))
      .data("top", top_of)
      .take();
}

std::string short_names(const ModelFacts& model, HeadId head) {
  constexpr std::size_t kMostNames = 30;
  return fit_width(names_of(model, head), kMostNames, "…");
}

std::string off_by(double rounding) {
  return rounding == 0.0 ? "" : fmt::format(" (rounding error: {:.0e})", std::abs(rounding));
}

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
                                : "weight 0: the query cannot see this key",
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
