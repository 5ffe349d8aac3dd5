#include "attnviz/document/why_document.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <utility>

#include "attnviz/attention/head_selection.h"
#include "attnviz/document/overview.h"
#include "attnviz/document/words/number_formats.h"
#include "attnviz/document/words/token_names.h"

namespace attnviz {

AblatedPart part_of(const Ablation& ablation) noexcept {
  return ablation.mlp    ? AblatedPart::kMlps
         : ablation.head ? AblatedPart::kHeads
                         : AblatedPart::kLayers;
}

std::string part_name(LogitPartKind kind, std::size_t layer, std::size_t head) {
  switch (kind) {
    case LogitPartKind::kEmbedding:
      return "embedding";
    case LogitPartKind::kPosition:
      return "position";
    case LogitPartKind::kHead:
      return "head " + head_name({layer, head});
    case LogitPartKind::kOutputBias:
      return fmt::format("output bias {}", layer);
    case LogitPartKind::kMlp:
      return fmt::format("MLP {}", layer);
    case LogitPartKind::kConvolution:
      return fmt::format("convolution {}", layer);
    case LogitPartKind::kGatedDelta:
      return fmt::format("gated delta net {}", layer);
    case LogitPartKind::kMamba2:
      return fmt::format("Mamba-2 {}", layer);
    case LogitPartKind::kLayerInput:
      return fmt::format("layer input {}", layer);
    case LogitPartKind::kNormBias:
      return "last norm's bias";
    case LogitPartKind::kLogitBias:
      return "logit's bias";
    case LogitPartKind::kBias:
      return "biases";
  }
  return {};
}

std::string part_name(const Ablation& ablation) {
  return ablation.mlp    ? fmt::format("MLP {}", ablation.layer)
         : ablation.head ? "head " + head_name({ablation.layer, *ablation.head})
                         : fmt::format("attention {}", ablation.layer);
}

std::string point_name(const LensPoint& point) {
  return point.step == LayerStep::kBefore   ? fmt::format("before {}", point.layer)
         : point.step == LayerStep::kMiddle ? fmt::format("attention {}", point.layer)
                                            : "output";
}

std::string why_title(const WhyDocument& document) {
  const std::string model = model_title(document.model);
  const auto token = [&document](std::size_t index) {
    return named_token(document.text.tokens[index].text, index);
  };
  if (document.split) {
    const WhyDocument::Split& split = *document.split;
    return fmt::format("{}, head {} looks from {} at {}", model, head_name(split.head),
                       token(split.query), token(split.key));
  }
  return fmt::format("{}, {} after {}", model,
                     quoted_token(document.token_texts.at(document.prediction->target.id)),
                     token(document.text.size() - 1));
}

std::string hidden_words_note(const WhyDocument& document) {
  const bool looks_ahead = document.run.mask && document.run.mask->looks_ahead();
  return fmt::format("later tokens cannot attend to it{}",
                     looks_ahead ? "; earlier ones still can" : "");
}

std::string unhidden_note(const LostWord& word) {
  const std::size_t n_tokens = word.span.end - word.span.begin;
  return fmt::format(
      "the word ends at the last token, so it cannot be hidden from any later one{}",
      n_tokens > 1 ? fmt::format(", and its own {} tokens always see each other", n_tokens) : "");
}

std::string words_lesson(const WhyDocument& document) {
  if (!document.words) {
    return {};
  }
  const LostWord* seen = nullptr;
  const LostWord* needed = nullptr;
  for (const LostWord& word : *document.words) {
    if (!word.log_probability_change) {
      continue;
    }
    if (seen == nullptr || word.attention > seen->attention) {
      seen = &word;
    }
    if (needed == nullptr || *word.log_probability_change < *needed->log_probability_change) {
      needed = &word;
    }
  }
  if (seen == needed || *needed->log_probability_change >= 0.0) {
    return {};
  }
  return fmt::format(
      "Apart from the last word, {} gets most attention ({}): without it ln p changes by {}. The "
      "word that is needed most is {} ({}), which gets {} of the attention.",
      quoted_token(seen->text), percentage(static_cast<float>(seen->attention)),
      signed_number(*seen->log_probability_change), quoted_token(needed->text),
      signed_number(*needed->log_probability_change),
      percentage(static_cast<float>(needed->attention)));
}

namespace {

// What each pair of parts adds to a score.
Heatmap products_map(const ScoreSplit& score) {
  const std::size_t n_rows = score.query_parts.size();
  const std::size_t n_columns = score.key_parts.size();
  const auto values = std::make_shared<MatrixBuffer>(n_rows, n_columns);
  std::ranges::transform(score.products, values->view().row_data(0),
                         [](double product) { return static_cast<float>(product); });
  Heatmap map;
  map.storage = values;
  map.panels.push_back({.title = "score", .values = std::as_const(*values).view()});
  // Labels are pieces of texts, whose spaces are seen.
  const auto name = [](const StreamPart& part) {
    if (part.kind == LogitPartKind::kHead) {
      return head_title({part.layer, part.head});
    }
    std::string label = part_name(part.kind, part.layer, part.head);
    std::ranges::replace(label, ' ', '-');
    return label;
  };
  std::ranges::transform(score.query_parts, std::back_inserter(map.query_labels), name);
  std::ranges::transform(score.key_parts, std::back_inserter(map.key_labels), name);
  map.query_axis = "part of the query";
  map.key_axis = "part of the key";
  map.value_name = "added to the score";
  const auto largest = std::ranges::max(score.products, {}, [](double x) { return std::abs(x); });
  set_scale_around_zero(map, std::abs(largest));
  map.notes.push_back(fmt::format("they add up to the score, {:.2f}", score.score));
  return map;
}

// One number of each head, and what it says of the prediction.
Heatmap prediction_map(const WhyDocument& document) {
  const std::string target = quoted_token(document.token_texts.at(document.prediction->target.id));
  std::vector<HeadId> heads;
  std::vector<std::optional<double>> values;
  const auto add = [&](HeadId head, double value) {
    heads.push_back(head);
    values.emplace_back(value);
  };
  for (const AblationEffect& effect :
       document.ablation ? document.ablation->effects : std::vector<AblationEffect>()) {
    if (effect.what.head) {
      add({effect.what.layer, *effect.what.head}, effect.change.log_probability);
    }
  }
  if (!heads.empty()) {
    Heatmap map = head_map(heads, values, "change of ln p without the head");
    map.notes.push_back(fmt::format("how ln p of {} changes when a head gives {}", target,
                                    document.ablation->by_mean ? "its mean" : "0"));
    return map;
  }
  for (const LogitPart& part : document.attribution->parts) {
    if (part.kind == LogitPartKind::kHead) {
      add({part.layer, part.head}, part.shares.front());
    }
  }
  Heatmap map = head_map(heads, values, "added to the logit");
  map.notes.push_back(fmt::format("what each head adds to the logit of {}, {:.2f} in total", target,
                                  document.attribution->logits.front()));
  return map;
}

}  // namespace

Heatmap why_map(const WhyDocument& document) {
  Heatmap map = document.split ? products_map(document.split->score) : prediction_map(document);
  map.title = "why: " + why_title(document);
  map.notes.insert(map.notes.begin(), document.notes.begin(), document.notes.end());
  return map;
}

}  // namespace attnviz
