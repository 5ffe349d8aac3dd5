#include "attnviz/attention/interventions.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "attnviz/attention/engine.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"

namespace attnviz {

namespace {

void require(bool is_there, std::size_t number, std::string_view what, std::size_t count,
             std::string_view of) {
  if (!is_there) {
    throw Error(ErrorKind::kUsage, fmt::format("{} {}: expected at most {}, because {} {}", what,
                                               number, count - 1, of, counted(count, what)));
  }
}

void require_last(const IndexRange& range, std::string_view what, std::size_t count,
                  std::string_view of) {
  const std::size_t last = range.end == IndexRange::kNoEnd ? range.first : range.end - 1;
  require(range.end > 0 && last < count, last, what, count, of);
}

// Layers that mix tokens without attention have no heads.
void require_heads(bool has_heads, const Model& model, std::size_t layer) {
  if (!has_heads) {
    throw Error(ErrorKind::kUsage, fmt::format("layer {} is {}: it has no attention", layer,
                                               mixer_phrase(model.layers[layer].mixer())));
  }
}

// Returns the part of a list, sorted by layer, then step, that belongs to this layer and step.
template <class List>
auto at_step(List& replaced, std::size_t layer, LayerStep step) {
  const auto place = [](const auto& one) { return std::pair(one.layer, one.step); };
  return std::span(std::ranges::lower_bound(replaced, std::pair(layer, step), {}, place),
                   std::ranges::upper_bound(replaced, std::pair(layer, step), {}, place));
}

}  // namespace

std::vector<IndexRange> merged_ranges(std::vector<IndexRange> ranges) {
  std::ranges::sort(ranges);
  std::vector<IndexRange> merged;
  for (const IndexRange& range : ranges) {
    if (!merged.empty() && range.first <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, range.end);
    } else {
      merged.push_back(range);
    }
  }
  return merged;
}

void check_interventions(const Model& model, const Interventions& interventions) {
  for (const Ablation& one : interventions.ablations) {
    require(one.layer < model.n_layers(), one.layer, "layer", model.n_layers(), "the model has");
    const LayerWeights& layer = model.layers[one.layer];
    require_heads(one.mlp || !layer.heads.empty(), model, one.layer);
    if (one.head) {
      require(*one.head < layer.heads.size(), *one.head, "head", layer.heads.size(),
              "the layer has");
    }
    if (one.mlp && model.config.order == LayerOrder::kAttentionOnly) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("layer {}: {} has no MLPs", one.layer, model.config.name));
    }
    if (one.mlp && !layer.has_mlp()) {
      throw Error(ErrorKind::kUsage, fmt::format("layer {} is only {}: it has no MLP", one.layer,
                                                 mixer_name(layer.mixer())));
    }
  }
  for (const KnockOut& one : interventions.knock_outs) {
    require_last(one.layers, "layer", model.n_layers(), "the model has");
    std::size_t n_heads = 0;
    const std::size_t end = std::min(one.layers.end, model.n_layers());
    for (std::size_t layer = one.layers.first; layer < end; ++layer) {
      n_heads = std::max(n_heads, model.layers[layer].heads.size());
    }
    require_heads(n_heads > 0, model, one.layers.first);
    require_last(one.heads, "head", n_heads, "the layer has");
  }
}

// Computes the means that replace ablated values.
class Intervener::Means : public RunObserver {
 public:
  explicit Means(std::vector<Replaced>& replaced) : replaced_(replaced) {}

  bool wants(std::size_t layer, LayerStep step) const override {
    return std::ranges::any_of(at_step(replaced_, layer, step), is_wanted);
  }
  void contexts(const RunPlace& at, Matrix z) override { take(at, z); }
  void mlp(const RunPlace& at, Matrix y) override { take(at, y); }

 private:
  static bool is_wanted(const Replaced& one) noexcept { return !one.by.empty(); }

  void take(const RunPlace& at, Matrix values) {
    for (Replaced& one : at_step(replaced_, at.layer, at.step)) {
      if (!is_wanted(one)) {
        continue;
      }
      std::vector<double> sums(one.count, 0.0);
      for (std::size_t row = 0; row < values.rows; ++row) {
        for (std::size_t i = 0; i < one.count; ++i) {
          sums[i] += static_cast<double>(values.row(row)[one.first + i]);
        }
      }
      for (std::size_t i = 0; i < one.count; ++i) {
        one.by[i] = static_cast<float>(sums[i] / static_cast<double>(values.rows));
      }
    }
  }

  std::vector<Replaced>& replaced_;
};

Intervener::Intervener(const Model& model, const ModelInput& input, const AttentionRequest& request,
                       const Interventions& interventions)
    : interventions_(interventions) {
  check_interventions(model, interventions);
  std::map<std::size_t, std::vector<std::size_t>> columns;  // of layers with ablated heads
  for (std::size_t index = 0; index < interventions.ablations.size(); ++index) {
    const Ablation& one = interventions.ablations[index];
    const auto add = [&](LayerStep step, std::size_t first, std::size_t count) {
      replaced_.push_back(
          {index, one.layer, step, first, count, std::vector<float>(one.by_mean ? count : 0)});
    };
    if (one.mlp) {
      add(LayerStep::kMlp, 0, model.config.d_model);
      continue;
    }
    const auto [known, is_new] = columns.try_emplace(one.layer);
    if (is_new) {
      known->second = context_columns(model.layers[one.layer]);
    }
    const std::vector<std::size_t>& heads = known->second;
    const std::size_t first = one.head ? heads[*one.head] : 0;
    const std::size_t end = one.head ? heads[*one.head + 1] : heads.back();
    add(LayerStep::kContexts, first, end - first);
  }
  // Stable: where ablations overlap, the last one in the list must be made last.
  std::ranges::stable_sort(replaced_, {},
                           [](const Replaced& one) { return std::pair(one.layer, one.step); });
  if (std::ranges::any_of(interventions.ablations, &Ablation::by_mean)) {
    AttentionRequest unchanged = request;
    unchanged.interventions = nullptr;
    unchanged.report = nullptr;
    Means means(replaced_);
    run(model, input, unchanged, means);
  }
}

bool Intervener::wants(std::size_t layer, LayerStep step) const {
  return std::ranges::any_of(at_step(replaced_, layer, step),
                             [this](const Replaced& one) { return made_.has(one.ablation); });
}

void Intervener::replace(const RunPlace& at, Matrix values) const {
  for (const Replaced& one : at_step(replaced_, at.layer, at.step)) {
    if (!made_.has(one.ablation)) {
      continue;
    }
    for (std::size_t row = 0; row < values.rows; ++row) {
      const std::span<float> there = values.row(row).subspan(one.first, one.count);
      if (one.by.empty()) {
        std::ranges::fill(there, 0.0F);
      } else {
        std::ranges::copy(one.by, there.begin());
      }
    }
  }
}

void Intervener::contexts(const RunPlace& at, Matrix z) {
  replace(at, z);
}

void Intervener::mlp(const RunPlace& at, Matrix y) {
  replace(at, y);
}

bool Intervener::hides(HeadId head) const {
  return std::ranges::any_of(interventions_.knock_outs,
                             [head](const KnockOut& one) { return one.is_in(head); });
}

void Intervener::hide(HeadId head, EdgeBlock& edges) const {
  for (const KnockOut& one : interventions_.knock_outs) {
    if (!one.is_in(head)) {
      continue;
    }
    const std::size_t end_query = std::min(one.queries.end, edges.end_query());
    const std::size_t end_key = std::min(one.keys.end, edges.end_key());
    for (std::size_t q = std::max(one.queries.first, edges.first_query()); q < end_query; ++q) {
      for (std::size_t k = std::max(one.keys.first, edges.first_key()); k < end_key; ++k) {
        edges.hide(q, k);
      }
    }
  }
}

}  // namespace attnviz
