#include "attnviz/document/why_document.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "attnviz/attention/head_selection.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/document/head_map.h"
#include "attnviz/document/words/short_numbers.h"

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

std::string signed_change(double value) {
  constexpr double kRounded = 0.005;
  return std::abs(value) < kRounded ? "0.00" : fmt::format("{:+.2f}", value);
}

std::string why_title(const WhyDocument& document) {
  const std::string model = model_title(document.model);
  const auto token = [&document](std::size_t index) {
    return quoted(document.text.tokens[index].text);
  };
  if (document.split) {
    const WhyDocument::Split& split = *document.split;
    return fmt::format("{}, head {} looks from {} ({}) at {} ({})", model, head_name(split.head),
                       token(split.query), split.query, token(split.key), split.key);
  }
  return fmt::format("{}, {} behind {} ({})", model,
                     quoted(document.token_texts.at(document.prediction->target.id)),
                     token(document.text.size() - 1), document.text.size() - 1);
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
      "Most looked at is {} ({} of the attention): without it ln p changes by {}. Most needed "
      "is {} (ln p {}), which gets {} of the attention.",
      quoted(seen->text), percentage(static_cast<float>(seen->attention)),
      signed_change(*seen->log_probability_change), quoted(needed->text),
      signed_change(*needed->log_probability_change),
      percentage(static_cast<float>(needed->attention)));
}

Heatmap why_map(const WhyDocument& document) {
  std::vector<HeadId> heads;
  std::vector<std::optional<double>> values;
  const bool is_ablation =
      document.ablation && std::ranges::count(document.ablation->parts, AblatedPart::kHeads) > 0;
  if (is_ablation) {
    for (const AblationEffect& effect : document.ablation->effects) {
      if (effect.what.head) {
        heads.push_back({effect.what.layer, *effect.what.head});
        values.emplace_back(effect.change.log_probability);
      }
    }
  } else if (document.attribution) {
    for (const LogitPart& part : document.attribution->parts) {
      if (part.kind == LogitPartKind::kHead) {
        heads.push_back({part.layer, part.head});
        values.emplace_back(part.shares.front());
      }
    }
  } else {
    throw Error(ErrorKind::kUsage,
                "a picture of why needs a number of each head: --ablate-each heads, or "
                "--attribution");
  }
  const std::string target = quoted(document.token_texts.at(document.prediction->target.id));
  Heatmap map = head_map(heads, values,
                         is_ablation ? "change of ln p without the head" : "share of the logit");
  map.title = "why: " + why_title(document);
  map.notes = document.notes;
  map.notes.push_back(is_ablation
                          ? fmt::format("how ln p of {} changes when a head gives {}", target,
                                        document.ablation->by_mean ? "its mean" : "0")
                          : fmt::format("what each head adds to the logit of {}, {:.2f} in all",
                                        target, document.attribution->logits.front()));
  return map;
}

}  // namespace attnviz
