#include "attnviz/document/json/why_json.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "attnviz/document/json/run_json.h"
#include "attnviz/formats/csv.h"
#include "attnviz/formats/json_writer.h"

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

void write_place(JsonWriter& json, LogitPartKind kind, std::size_t layer, std::size_t head) {
  json.member("part", word_for(kPartWords, kind));
  if (has_layer(kind)) {
    json.member("layer", layer);
  }
  if (kind == LogitPartKind::kHead) {
    json.member("head", head);
  }
}

void write_token(JsonWriter& json, const WhyDocument& document, TokenId id) {
  json.member("id", id);
  json.member("token", document.token_texts.at(id));
}

void write_prediction(JsonWriter& json, const WhyDocument& document) {
  const auto write = [&](std::string_view key, const WhyToken& token) {
    json.begin_object(key);
    write_token(json, document, token.id);
    json.member("logprob", token.log_probability);
    json.end_object();
  };
  write("target", document.prediction->target);
  write("versus", document.prediction->versus);
}

void write_attribution(JsonWriter& json, const Attribution& attribution) {
  json.begin_object("attribution");
  json.objects("parts", attribution.parts, [&json](const LogitPart& part) {
    write_place(json, part.kind, part.layer, part.head);
    json.member("logit", part.shares[0]);
    json.member("versus", part.shares[1]);
    if (part.kind == LogitPartKind::kHead) {
      json.member("bias_share", part.bias_share);
      json.member("by_key", part.by_key);
    }
  });
  json.member("logit", attribution.logits[0]);
  json.member("versus", attribution.logits[1]);
  json.end_object();
}

void write_ablation(JsonWriter& json, const WhyDocument& document) {
  json.begin_object("ablation");
  json.member("kind", document.ablation->by_mean ? "mean" : "zero");
  for (const AblatedPart part : document.ablation->parts) {
    json.begin_array(word_for(kAblatedParts, part));
    for (const AblationEffect& effect : document.ablation->effects) {
      if (part_of(effect.what) != part) {
        continue;
      }
      json.begin_object();
      json.member("layer", effect.what.layer);
      if (effect.what.head) {
        json.member("head", *effect.what.head);
      }
      json.member("logprob_change", effect.change.log_probability);
      json.member("kl_bits", effect.change.kl_bits);
      json.member("kl_bits_mean", effect.change.kl_bits_mean);
      json.begin_object("top");
      write_token(json, document, effect.change.top.id);
      json.end_object();
      json.end_object();
    }
    json.end_array();
  }
  json.end_object();
}

void write_lens(JsonWriter& json, const WhyDocument& document) {
  json.objects("lens", *document.lens, [&](const LensPoint& point) {
    json.member("point", point.step == LayerStep::kBefore ? fmt::format("in {}", point.layer)
                         : point.step == LayerStep::kMiddle
                             ? fmt::format("attention {}", point.layer)
                             : "out");
    json.member("logprob", point.target_log_probability);
    json.member("rank", point.target_rank);
    json.objects("top", point.top, [&](const ProbableToken& token) {
      write_token(json, document, token.id);
      json.member("logprob", static_cast<double>(token.logit) - point.log_sum);
    });
  });
}

void write_split(JsonWriter& json, const WhyDocument::Split& split) {
  const ScoreSplit& score = split.score;
  json.begin_object("score");
  json.member("layer", split.head.layer);
  json.member("head", split.head.head);
  json.member("query", split.query);
  json.member("key", split.key);
  json.member("score", score.score);
  json.member("weight", score.weight);
  json.member("visible", score.is_visible);
  json.member("position_bias", score.position_bias);
  const auto write_parts = [&json](std::string_view key, const std::vector<StreamPart>& parts) {
    json.objects(key, parts, [&json](const StreamPart& part) {
      write_place(json, part.kind, part.layer, part.head);
    });
  };
  write_parts("query_parts", score.query_parts);
  write_parts("key_parts", score.key_parts);
  json.begin_array("products");
  const std::size_t n_keys = score.key_parts.size();
  for (std::size_t row = 0; row < score.query_parts.size(); ++row) {
    json.value(std::vector<double>(
        score.products.begin() + static_cast<std::ptrdiff_t>(row * n_keys),
        score.products.begin() + static_cast<std::ptrdiff_t>((row + 1) * n_keys)));
  }
  json.end_array();
  json.end_object();
}

// "head,2,1": what a part is called in three cells.
std::string csv_place(LogitPartKind kind, std::size_t layer, std::size_t head) {
  return fmt::format("{},{},{}", word_for(kPartWords, kind),
                     has_layer(kind) ? std::to_string(layer) : "",
                     kind == LogitPartKind::kHead ? std::to_string(head) : "");
}

void write_split_csv(const ScoreSplit& score, const ByteSink& sink) {
  sink("query_part,query_layer,query_head,key_part,key_layer,key_head,product\n");
  const std::size_t n_keys = score.key_parts.size();
  for (std::size_t row = 0; row < score.query_parts.size(); ++row) {
    for (std::size_t column = 0; column < n_keys; ++column) {
      const StreamPart& query = score.query_parts[row];
      const StreamPart& key = score.key_parts[column];
      sink(fmt::format("{},{},{}\n", csv_place(query.kind, query.layer, query.head),
                       csv_place(key.kind, key.layer, key.head),
                       score.products[row * n_keys + column]));
    }
  }
}

// A row of the table of a prediction; cells of what a part does not have are empty.
struct PartRow {
  std::string place;  // part, layer and head
  std::optional<double> logit = {}, versus = {}, bias_share = {};
  const PredictionChange* change = nullptr;  // without it
  const LostWord* word = nullptr;
  const LensPoint* point = nullptr;
};

void write_part_row(const WhyDocument& document, const PartRow& row, const ByteSink& sink) {
  std::optional<double> change, kl_bits, kl_bits_mean, attention, log_probability;
  std::optional<TokenId> top;
  std::string begin, end, text, rank;
  if (row.change != nullptr) {
    change = row.change->log_probability;
    kl_bits = row.change->kl_bits;
    kl_bits_mean = row.change->kl_bits_mean;
    top = row.change->top.id;
  }
  if (row.word != nullptr) {
    change = row.word->log_probability_change;
    attention = row.word->attention;
    begin = std::to_string(row.word->span.begin);
    end = std::to_string(row.word->span.end);
    text = csv_text(row.word->text);
  }
  if (row.point != nullptr) {
    log_probability = row.point->target_log_probability;
    rank = std::to_string(row.point->target_rank);
    top = row.point->top.empty() ? std::nullopt : std::optional(row.point->top.front().id);
  }
  sink(fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", row.place, csv_number(row.logit),
                   csv_number(row.versus), csv_number(row.bias_share), csv_number(change),
                   csv_number(kl_bits), csv_number(kl_bits_mean), begin, end, text,
                   csv_number(attention), csv_number(log_probability), rank,
                   top ? csv_text(document.token_texts.at(*top)) : ""));
}

// What is lost without a part; null where that was not asked for.
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

void write_attributed_rows(const WhyDocument& document, const ByteSink& sink) {
  for (const LogitPart& part : document.attribution->parts) {
    const bool is_head = part.kind == LogitPartKind::kHead;
    PartRow row{.place = csv_place(part.kind, part.layer, part.head),
                .logit = part.shares[0],
                .versus = part.shares[1]};
    if (is_head) {
      row.bias_share = part.bias_share;
      row.change = change_without(document, AblatedPart::kHeads, part.layer, part.head);
    } else if (part.kind == LogitPartKind::kMlp) {
      row.change = change_without(document, AblatedPart::kMlps, part.layer, std::nullopt);
    }
    write_part_row(document, row, sink);
  }
}

void write_ablated_rows(const WhyDocument& document, const ByteSink& sink) {
  for (const AblationEffect& effect : document.ablation->effects) {
    const AblatedPart part = part_of(effect.what);
    if (document.attribution && part != AblatedPart::kLayers) {
      continue;  // stands among what was written
    }
    const char* const name = part == AblatedPart::kHeads  ? "head"
                             : part == AblatedPart::kMlps ? "mlp"
                                                          : "layer";
    write_part_row(document,
                   {.place = fmt::format("{},{},{}", name, effect.what.layer,
                                         effect.what.head ? std::to_string(*effect.what.head) : ""),
                    .change = &effect.change},
                   sink);
  }
}

}  // namespace

void write_why_json(const WhyDocument& document, const ByteSink& sink) {
  JsonWriter json(sink);
  json.begin_object();
  json.member("schema", "attnviz.why/1");
  write_model_member(json, document.model);
  write_run_members(json, document.run);
  write_text_members(json, document.text);
  json.member("at", document.text.size() - 1);
  json.member_if_any("notes", document.notes);
  if (document.prediction) {
    write_prediction(json, document);
  }
  if (document.words) {
    json.objects("tokens_lost", *document.words, [&json](const LostWord& word) {
      json.member("begin", word.span.begin);
      json.member("end", word.span.end);
      json.member("text", word.text);
      json.member("logprob_change", word.log_probability_change);
      json.member("attention", word.attention);
    });
  }
  if (document.attribution) {
    write_attribution(json, *document.attribution);
  }
  if (document.ablation) {
    write_ablation(json, document);
  }
  if (document.lens) {
    write_lens(json, document);
  }
  if (document.split) {
    write_split(json, *document.split);
  }
  json.end_object();
  json.finish();
}

void write_why_csv(const WhyDocument& document, const ByteSink& sink) {
  if (document.split) {
    return write_split_csv(document.split->score, sink);
  }
  sink(
      "part,layer,head,logit,versus,bias_share,logprob_change,kl_bits,kl_bits_mean,begin,end,text,"
      "attention,logprob,rank,top\n");
  if (document.attribution) {
    write_attributed_rows(document, sink);
  }
  if (document.ablation) {
    write_ablated_rows(document, sink);
  }
  if (document.words) {
    for (const LostWord& word : *document.words) {
      write_part_row(document, {.place = "word,,", .word = &word}, sink);
    }
  }
  if (document.lens) {
    for (const LensPoint& point : *document.lens) {
      const char* const name = point.step == LayerStep::kBefore   ? "lens_in"
                               : point.step == LayerStep::kMiddle ? "lens_attention"
                                                                  : "lens_out";
      const bool has_layer = point.step != LayerStep::kAfter;
      write_part_row(
          document,
          {.place = fmt::format("{},{},", name, has_layer ? std::to_string(point.layer) : ""),
           .point = &point},
          sink);
    }
  }
}

}  // namespace attnviz
