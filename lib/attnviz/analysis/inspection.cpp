#include "attnviz/analysis/inspection.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "attnviz/analysis/head_trace.h"
#include "attnviz/attention/engine.h"
#include "attnviz/attention/interventions.h"
#include "attnviz/attention/layer.h"
#include "attnviz/attention/row_weights.h"
#include "attnviz/core/error.h"

namespace attnviz {

namespace {

std::shared_ptr<const MatrixBuffer> shared_unless_empty(MatrixBuffer values) {
  return values.rows() > 0 ? std::make_shared<const MatrixBuffer>(std::move(values)) : nullptr;
}

// Follows the query through heads while their layers run.
class Follower : public RunObserver {
 public:
  Follower(const Model& model, const ModelInput& input, const AttentionRequest& request,
           std::span<const HeadId> heads, std::size_t query, bool all_queries)
      : model_(model),
        input_(input),
        request_(request),
        heads_(heads.begin(), heads.end()),
        query_(query),
        all_queries_(all_queries) {
    std::ranges::stable_sort(heads_, {}, &HeadId::layer);
    for (const HeadId head : heads_) {
      if (const auto from = model.layers[head.layer].keys_from) {
        key_looks_.try_emplace(*from);
      }
    }
    if (request.interventions == nullptr) {
      return;
    }
    for (const Ablation& one : request.interventions->ablations) {
      ablations_[one.layer].add(one);
    }
    if (!request.interventions->knock_outs.empty()) {
      edges_.knock_outs = request.interventions->knock_outs;
      trace_.hider = &hider_.emplace(model, input, request, edges_);
    }
  }

  bool wants(std::size_t layer, LayerStep step) const override {
    const bool is_step = step == LayerStep::kBefore || step == LayerStep::kStates ||
                         step == LayerStep::kAttention ||
                         (step == LayerStep::kContexts && request_.interventions != nullptr);
    return (is_step && !heads_of(layer).empty()) ||
           (step == LayerStep::kBefore && gives_keys(layer));
  }

  void stream(const RunPlace& at, ConstMatrix x) override {
    trace_.input = std::make_shared<const MatrixBuffer>(copy_of(x));
    trace_.look = trace_.input;
    if (norms_first(model_, at.layer)) {
      auto look = std::make_shared<MatrixBuffer>(x.rows, x.cols);
      apply_norm(model_.layers[at.layer].attention_norm, x, look->view());
      trace_.look = std::move(look);
    }
    if (gives_keys(at.layer)) {
      key_looks_[at.layer] = trace_.look;
    }
    if (heads_of(at.layer).empty()) {
      return;
    }
    const auto from = model_.layers[at.layer].keys_from;
    trace_.key_look = from ? key_looks_.at(*from) : trace_.look;
    take_layer(at.layer);
  }

  // After interventions.
  void contexts(const RunPlace& /*at*/, Matrix z) override {
    const std::span<const float> row = z.row(query_);
    trace_.contexts.assign(row.begin(), row.end());
  }

  void states(const RunPlace& /*at*/, ConstMatrix s) override {
    const std::span<const float> row = s.row(query_);
    trace_.states.assign(row.begin(), row.end());
  }

  void attention(const RunPlace& at, Matrix a) override {
    const std::span<const float> row = a.row(query_);
    trace_.attended.assign(row.begin(), row.end());
    if (adds_stream_first(model_, at.layer)) {
      std::ranges::transform(trace_.attended, trace_.input->view().row(query_),
                             trace_.attended.begin(), std::plus());
    }
    for (const HeadId head : heads_of(at.layer)) {
      inspections.push_back(trace_head(model_, head, trace_, request_, query_, all_queries_));
      if (at.layer == 0 && !model_.segment_embeddings.empty()) {
        inspections.back().has_segments = true;
        inspections.back().segment = input_.segments.empty() ? 0 : input_.segments[query_];
      }
    }
  }

  std::vector<Inspection> inspections;

 private:
  std::span<const HeadId> heads_of(std::size_t layer) const {
    return {std::ranges::lower_bound(heads_, layer, {}, &HeadId::layer),
            std::ranges::upper_bound(heads_, layer, {}, &HeadId::layer)};
  }

  // Whether heads that are followed read this layer's keys.
  bool gives_keys(std::size_t layer) const { return key_looks_.contains(layer); }

  // Takes everything that all heads of the layer share.
  void take_layer(std::size_t layer) {
    const LayerWeights& weights = model_.layers[layer];
    const ConstMatrix look = trace_.look->view();
    trace_.joint = joint_factors(weights, look, request_.n_threads);
    LatentMemory latents;
    head_inputs(weights, look, request_.n_threads, latents);
    trace_.query_latents = shared_unless_empty(std::move(latents.queries));
    trace_.key_latents = shared_unless_empty(std::move(latents.keys));
    trace_.latents = weights.latents;
    trace_.converted.clear();
    for (Projection* const down : {&trace_.latents.query_down, &trace_.latents.key_down}) {
      if (!down->weight.empty()) {
        down->weight = as_floats(down->weight, trace_.converted);
      }
    }
    trace_.kv_heads = key_value_heads(weights);
    trace_.n_kv_heads = 1 + *std::ranges::max_element(trace_.kv_heads);
    trace_.columns = context_columns(weights);
    const auto ablations = ablations_.find(layer);
    trace_.ablations = ablations == ablations_.end() ? LayerAblations{} : ablations->second;
  }

  const Model& model_;
  const ModelInput& input_;
  const AttentionRequest& request_;
  std::vector<HeadId> heads_;  // by layer
  std::size_t query_;
  bool all_queries_;
  std::map<std::size_t, LayerAblations> ablations_;  // by layer
  Interventions edges_;                              // without ablations, which the run applies
  std::optional<Intervener> hider_;
  LayerTrace trace_;
  std::map<std::size_t, std::shared_ptr<const MatrixBuffer>>
      key_looks_;  // by layer that gives keys
};

}  // namespace

NormNumbers norm_numbers(const Norm& norm, std::span<const float> x) noexcept {
  NormNumbers numbers;
  const auto size = static_cast<double>(std::max<std::size_t>(x.size(), 1));
  if (norm.kind == NormKind::kLayer) {
    for (const float value : x) {
      numbers.mean += static_cast<double>(value) / size;
    }
  }
  for (const float value : x) {
    const double deviation = static_cast<double>(value) - numbers.mean;
    numbers.square += deviation * deviation / size;
  }
  numbers.divisor = std::sqrt(numbers.square + norm.epsilon);
  return numbers;
}

std::vector<Inspection> inspect_heads(const Model& model, const ModelInput& input,
                                      const AttentionRequest& request,
                                      std::span<const HeadId> heads, std::size_t query,
                                      bool all_queries) {
  check_request(model, input, request);
  if (query >= input.size()) {
    throw Error(ErrorKind::kUsage,
                fmt::format("query {}: expected an index from 0 to {}", query, input.size() - 1));
  }
  Follower follower(model, input, request, heads, query, all_queries);
  run(model, input, request, follower);
  return std::move(follower.inspections);
}

double inspection_bytes(const Model& model, std::span<const HeadId> heads, std::size_t n_tokens,
                        bool all_queries) noexcept {
  constexpr double kRowsOfTheQuery = 8.0;
  const auto n = static_cast<double>(n_tokens);
  const auto d_model = static_cast<double>(model.config.d_model);
  double kept = 0.0;
  for (const HeadId id : heads) {
    const LayerWeights& layer = model.layers[id.layer];
    const HeadWeights& head = layer.heads[id.head];
    const auto d_head = static_cast<double>(head.d_head());
    const auto d_value = static_cast<double>(head.d_value());
    // Queries and keys at each stage, and the keys in panels.
    const double stages = 1.0 + (layer.query_norm.present() ? 1.0 : 0.0) +
                          (model.config.positions == Positions::kRope ? 1.0 : 0.0);
    kept += n * ((2.0 * stages + 1.0) * d_head + 2.0 * d_value + kRowsOfTheQuery);
    kept += d_model * n * (layer.attention_norm.present() ? 2.0 : 1.0);  // x, and its norm
    kept += d_model * (2.0 * d_head + 2.0 * d_value);                    // matrices as floats
    const double down =
        static_cast<double>(layer.latents.query_rank() + layer.latents.key_down.d_out());
    kept += (n + d_model) * down;
    if (all_queries) {
      const double matrices = layer.soft_cap > 0.0f ? 5.0 : 4.0;
      kept += matrices * n * n + n * (d_value + d_model);
    }
  }
  return layer_bytes(model, n_tokens) + kept * static_cast<double>(sizeof(float));
}

}  // namespace attnviz
