#include "attnviz/report/model_info.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <set>
#include <span>
#include <utility>

#include "attnviz/attention/interventions.h"
#include "attnviz/core/message.h"
#include "attnviz/report/patterns/shown_tokens.h"
#include "attnviz/report/words/words.h"

namespace attnviz {

std::string flat_note(const Heatmap& heatmap, const PoolGrid* grid) {
  constexpr std::size_t kFewKeys = 32;  // their cells are large enough to be distinguished
  constexpr float kFlatPart = 0.1f;     // of the colours
  constexpr std::size_t kAllBut = 100;  // one weight in 100 may lie above
  constexpr float kMasked = -std::numeric_limits<float>::infinity();
  const ColorScale& scale = heatmap.scale;
  if (scale.kind != ScaleKind::kLinear || heatmap.n_keys() <= kFewKeys) {
    return {};
  }
  const float limit = scale.low + kFlatPart * (scale.high - scale.low);
  std::size_t n_values = 0;
  std::size_t n_above = 0;
  const auto count = [&](std::span<const float> values) {
    for (const float value : values) {
      n_values += value != 0.0f && value != kMasked ? 1u : 0u;
      n_above += value >= limit ? 1u : 0u;
    }
  };
  for (const HeatmapPanel& panel : heatmap.panels) {
    if (grid != nullptr) {
      count(pool(heatmap, panel, grid->queries, grid->keys).values);
      continue;
    }
    for (std::size_t row = 0; row < panel.values.rows; ++row) {
      count(panel.values.row(row));
    }
  }
  return n_values == 0 || n_above * kAllBut > n_values
             ? std::string()
             : fmt::format(
                   "nearly all weights are below {:.3g}: the scales log and row-max show them",
                   limit);
}

bool look_like_scores(const AttentionDocument& document) {
  constexpr float kRounding = 1e-3f;
  if (document.run.dropout > 0.0f || document.difference ||
      document.kind != PatternKind::kWeights) {
    return false;
  }
  return std::ranges::any_of(document.patterns, [](const DocumentPattern& pattern) {
    for (std::size_t query = 0; query < pattern.weights.rows; ++query) {
      if (std::ranges::any_of(pattern.weights.row(query), [](float number) {
            return number < -kRounding || number > 1.0f + kRounding;
          })) {
        return true;
      }
    }
    return false;
  });
}

std::string row_sum_note(const AttentionDocument& document) {
  constexpr double kTolerance = 1e-3;
  if (document.run.dropout > 0.0f || document.difference || is_before_softmax(document.kind) ||
      is_no_attention(document.kind)) {
    return {};
  }
  std::size_t n_rows = 0;
  std::size_t n_off = 0;
  std::string first;
  for (const DocumentPattern& pattern : document.patterns) {
    for (std::size_t query = 0; query < pattern.weights.rows; ++query) {
      double sum = pattern.sink.empty() ? 0.0 : static_cast<double>(pattern.sink[query]);
      bool blank = sum == 0.0;
      for (std::size_t key = 0; key < pattern.weights.cols; ++key) {
        const float weight = document.sees(query, key) ? pattern.weights(query, key) : 0.0f;
        sum += static_cast<double>(weight);
        blank = blank && weight == 0.0f;
      }
      ++n_rows;
      if (blank || std::abs(sum - 1.0) <= kTolerance) {
        continue;
      }
      if (n_off++ == 0) {
        first =
            fmt::format("{}, query {} {}",
                        document.average ? pattern.title : "head " + head_name(pattern.head), query,
                        std::isfinite(sum) ? fmt::format("sums to {:.3g}", sum)
                                           : std::string("has a number that is not finite"));
      }
    }
  }
  return n_off == 0 ? std::string()
                    : fmt::format("{} of {} rows do not sum to 1: {}", n_off, n_rows, first);
}

bool draws_sinks(const AttentionDocument& document) {
  return document.has_sinks() && !document.patterns.front().weights.empty();
}

namespace {

// The layers that are drawn, in order, each once; for a mean, the layers averaged into it.
std::vector<std::size_t> layers_of(const AttentionDocument& document) {
  std::set<std::size_t> layers;
  for (const HeadId head : document.average ? document.average->heads : heads_of(document)) {
    layers.insert(head.layer);
  }
  return {layers.begin(), layers.end()};
}

// "rollout through layers 0, 1 (8 heads): each 0.5 the residual stream, 0.5 the mean of its heads".
std::string rollout_note(const AttentionDocument& document) {
  const RolloutRequest& rollout = *document.average->rollout;
  const std::vector<std::size_t> layers = layers_of(document);
  const bool in_a_row = layers.size() > 2 && layers.back() - layers.front() + 1 == layers.size();
  const std::string through =
      in_a_row ? fmt::format("layers {} to {}", layers.front(), layers.back())
               : fmt::format("layer{} {}", layers.size() == 1 ? "" : "s", joined_by(layers, ", "));
  const std::string heads =
      fmt::format("the {} of its heads{}", rollout.over == RolloutOver::kMean ? "mean" : "largest",
                  rollout.weighted ? ", weighted by value norms" : "");
  return fmt::format("rollout through {} ({}): each layer is {}", through,
                     counted(document.average->heads.size(), "head"),
                     rollout.residual == 0.0f
                         ? heads + ", without the residual stream"
                         : fmt::format("{:.3g} × the residual stream + {:.3g} × {}",
                                       rollout.residual, 1.0f - rollout.residual, heads));
}

std::vector<std::string> notes(const AttentionDocument& document) {
  std::vector<std::string> lines;
  const auto append = [&lines](std::vector<std::string> more) {
    std::move(more.begin(), more.end(), std::back_inserter(lines));
  };
  const bool is_cross = document.part == AttentionPart::kCross;
  const bool is_attention = !is_no_attention(document.kind);
  if (document.model) {
    ModelFacts facts = *document.model;
    facts.positions = is_cross || !is_attention ? Positions::kNone  // these are not within one text
                                                : facts.positions;
    append(model_notes(facts));
  }
  if (is_cross) {
    lines.emplace_back(
        "each row shows the step after the decoder has read this token, when it predicts the next "
        "one");
  }
  if (document.model && !document.average) {
    lines.push_back(names_note(*document.model, heads_of(document)));
    std::erase(lines, "");
  }
  if (document.difference) {
    const auto name = [&](std::string_view side) {  // long names are cut
      return document.difference->of_models ? shown_name(side) : in_quotes(side);
    };
    lines.push_back("A: " + name(document.difference->a));
    lines.push_back("B: " + name(document.difference->b));
  }
  if (document.is_rollout()) {
    lines.push_back(rollout_note(document));
  }
  // The usual mask is visible in the picture.
  if (const std::optional<Mask>& mask = document.run.mask; mask && is_attention) {
    if (is_before_mask(document.kind)) {
      lines.push_back("scores before the mask (mask " + mask->name() + ")");
    } else if (mask->kind != MaskKind::kCausal || document.run.changes_mask) {
      lines.push_back("mask " + mask->name());
    }
  }
  if (document.kind != PatternKind::kRouter) {
    append(layer_notes(document.run, layers_of(document)));
  }
  append(run_notes(document.run));
  if (document.words) {
    lines.push_back(fmt::format("tokens merged into {}: summed over keys, averaged over queries",
                                word_for(kFolds, document.words->fold)));
    if (document.words->mask) {
      lines.push_back(fmt::format("mask {} between tokens", document.words->mask->name()));
    }
  }
  append(document.notes);
  // Queries are columns of a transposed picture, and arcs have no rows.
  const bool is_turned = document.drawing.transposed;
  const char* const scaled = is_turned ? "the rest of each query rescaled to sum to 1"
                                       : "the rest of each row rescaled to sum to 1";
  const bool leaves_out = document.drawing.no_special && n_added(document) > 0;
  if (std::string note = marks_note(shown_marks(document, draws_sinks(document))); !note.empty()) {
    lines.push_back(std::move(note));
  }
  if (leaves_out) {
    lines.push_back(fmt::format(
        "hidden: {1} ({2}); {0} not rescaled", is_turned ? "the weights of each query" : "rows",
        counted(n_added(document), "token"), joined_by(added_tokens(document), ", ")));
  }
  if (draws_sinks(document)) {
    lines.push_back(document.drawing.drop_sink
                        ? fmt::format("learned sink hidden, {}", scaled)
                        : "sink: a learned logit in each head, whose weight goes to no token");
  } else if (document.drawing.drop_sink) {
    lines.push_back(
        fmt::format("first token ({}) hidden, {}", document.key_tokens.front(), scaled));
  }
  return lines;
}

}  // namespace

std::vector<std::string> shared_notes(std::span<const AttentionDocument> documents) {
  std::vector<std::string> shared = notes(documents.front());
  for (const AttentionDocument& document : documents.subspan(1)) {
    const std::vector<std::string> lines = notes(document);
    const std::set<std::string_view> others(lines.begin(), lines.end());
    std::erase_if(shared, [&others](const std::string& line) { return !others.contains(line); });
  }
  if (documents.size() > 1 &&
      documents.front().run.interventions != documents.back().run.interventions) {
    const std::vector<std::string>& names = documents.front().drawing.side_by_side;
    const std::string changes = joined_by(left_out_notes(documents.back().run), "; ");
    shared.push_back(
        names.back().starts_with("without")
            ? fmt::format("side by side: {}, {}", names.front(), changes)
            : fmt::format("side by side: {}, {}: {}", names.front(), names.back(), changes));
  } else if (documents.size() > 1) {
    const bool temperatures = std::any_of(
        documents.begin(), documents.end(),
        [](const AttentionDocument& document) { return document.run.temperature != 1.0f; });
    shared.push_back(
        fmt::format("side by side: {}{}", joined_by(documents.front().drawing.side_by_side, ", "),
                    temperatures ? " (T: temperature, which divides the scores)" : " (masks)"));
  }
  return shared;
}

}  // namespace attnviz
