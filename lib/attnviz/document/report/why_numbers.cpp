#include "attnviz/document/report/why_numbers.h"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/core/choices.h"
#include "attnviz/core/utf8.h"

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

// A row of the table of a prediction; what it does not have is null.
struct PartRow {
  PartPlace place;
  std::optional<double> logit = {}, versus = {}, bias_share = {};
  const PredictionChange* change = nullptr;  // without it
  const LostWord* word = nullptr;
  const LensPoint* point = nullptr;
};

// What is lost without a part; null where that was not measured.
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
      continue;  // stands in the row of what it writes
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

// What `of` makes of a member of the row, where it has it.
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
  return rounding == 0.0 ? "" : fmt::format(" (rounding: {:.0e})", std::abs(rounding));
}

}  // namespace attnviz
