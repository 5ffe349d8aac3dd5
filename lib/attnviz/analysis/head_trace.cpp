#include "attnviz/analysis/head_trace.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "attnviz/attention/head_math.h"
#include "attnviz/attention/layer.h"
#include "attnviz/attention/parts/layer_parts.h"
#include "attnviz/attention/row_weights.h"
#include "attnviz/attention/visibility.h"
#include "attnviz/core/error.h"
#include "attnviz/kernels/products.h"
#include "attnviz/kernels/row_kernels.h"
#include "attnviz/kernels/stored_numbers.h"

namespace attnviz {

namespace {

Matrix one_row(std::span<float> values) noexcept {
  return {values.data(), 1, values.size(), values.size()};
}

ConstMatrix one_row(std::span<const float> values) noexcept {
  return {values.data(), 1, values.size(), values.size()};
}

class HeadTrace {
 public:
  HeadTrace(const Model& model, HeadId head, const LayerTrace& layer,
            const AttentionRequest& request, std::size_t query)
      : model_(model), layer_(model.layers[head.layer]), shared_(layer), hider_(layer.hider) {
    trace_.states = layer.states;
    trace_.attended = layer.attended;
    trace_.head = head;
    trace_.query = query;
    trace_.n_heads = layer_.heads.size();
    trace_.kv_head = layer.kv_heads[head.head];
    trace_.n_kv_heads = layer.n_kv_heads;
    trace_.request = request;
    trace_.mask = mask_of(model, head.layer, request);
    trace_.positions = model.config.positions;
    trace_.order = model.config.order;
    trace_.residual = model.config.residual;
    trace_.input = layer.input;
    trace_.look = layer.look;
    trace_.key_look = layer.key_look;
    trace_.query_latents = layer.query_latents;
    trace_.key_latents = layer.key_latents;
    trace_.keys_from = layer_.keys_from;
    take_weights();
    trace_.mlp_ablation = layer.ablations.of_mlp;
    trace_.ablation = layer.ablations.of_head(head.head);
    if (trace_.ablation) {
      const std::span<const float> contexts(layer.contexts);
      const auto own = contexts.subspan(trace_.context_in_result, this->head().d_value());
      trace_.context.assign(own.begin(), own.end());
    }
  }

  Inspection follow(bool all_queries) && {
    project();
    score();
    weigh();
    mix();
    put_out();
    if (all_queries) {
      trace_.all = for_all_queries();
    }
    return std::move(trace_);
  }

 private:
  std::size_t n_tokens() const noexcept { return trace_.input->rows(); }
  const HeadWeights& head() const noexcept { return layer_.heads[trace_.head.head]; }
  RowRule rule() const {
    RowRule rule = row_rule(model_, trace_.head, trace_.request);
    rule.observer = hider_ != nullptr && hider_->hides(rule.head) ? hider_ : nullptr;
    return rule;
  }

  bool has_gate() const noexcept { return !head().output_gate.weight.empty(); }

  // σ of the gate's output for some queries.
  MatrixBuffer gates(std::size_t first, std::size_t count) const {
    MatrixBuffer open(count, head().d_value());
    kernels::matmul(std::as_const(*trace_.look).view().row_block(first, count),
                    trace_.weights_in.output_gate.weight, head().output_gate.bias, open.view());
    kernels::activate(kernels::Activation::kSigmoid, open.view());
    return open;
  }

  void open_gate() {
    const MatrixBuffer open = gates(trace_.query, 1);
    const std::span<const float> row = open.view().row(0);
    trace_.gate.assign(row.begin(), row.end());
    trace_.mixture = trace_.context;
    std::ranges::transform(trace_.mixture, trace_.gate, trace_.context.begin(),
                           std::multiplies<>());
  }

  ConstMatrix floats(const StoredMatrix& weights) { return as_floats(weights, trace_.converted); }

  void take_weights() {
    trace_.converted = shared_.converted;
    trace_.weights_in = head();
    trace_.weights_in.query.weight = floats(head().query.weight);
    trace_.weights_in.key.weight = floats(head().key.weight);
    trace_.weights_in.value.weight = floats(head().value.weight);
    trace_.latents = shared_.latents;
    if (has_gate()) {
      trace_.weights_in.output_gate.weight = floats(head().output_gate.weight);
    }
    trace_.b_output = layer_.output.bias;
    trace_.context_in_result = shared_.columns[trace_.head.head];
    trace_.w_output =
        floats(layer_.output.weight.empty()
                   ? head().output
                   : layer_.output.weight.row_block(trace_.context_in_result, head().d_value()));
    (trace_.order == LayerOrder::kPostNorm ? trace_.result_norm : trace_.norm) =
        layer_.attention_norm;
    trace_.query_norm = layer_.query_norm_of(trace_.head.head);
    trace_.key_norm = layer_.key_norm_of(trace_.head.head);
    trace_.norms_turned = layer_.norms_turned_heads;
    trace_.value_norm = layer_.value_norm;
    trace_.after_norm = layer_.after_attention_norm;
    trace_.branch_scale = layer_.branch_scale;
    trace_.own_scale = layer_.score_scale;
    trace_.soft_cap = layer_.soft_cap;
  }

  void project() {
    const Rotation rotation(model_, layer_, n_tokens());
    if (std::vector<double> frequencies = rotation.frequencies(head().d_head());
        !frequencies.empty()) {
      const Rope rope = layer_.rope ? *layer_.rope : Rope();
      trace_.rope = InspectedRope{
          std::move(frequencies), rope.pairing, rope.magnitude, rope.scaling, rope.factor,
          rope.short_text,        rope.n_still};
    }
    const JointFactors& joint = shared_.joint;
    if (!joint.queries.empty()) {
      trace_.joint_root = 1.0f / joint.queries[trace_.query];
    }
    if (layer_.rope) {
      trace_.query_factor = static_cast<float>(layer_.rope->query_factor(trace_.query));
    }
    const bool turned = trace_.norms_turned;
    project({head().query, trace_.query_norm, /*is_query=*/true, joint.queries, turned}, rotation,
            trace_.query_inputs(),
            {&trace_.q_projected, turned ? &trace_.q_turned : &trace_.q_normed, &trace_.q});
    project({head().key, trace_.key_norm, false, joint.keys, turned}, rotation, trace_.key_inputs(),
            {&trace_.k_projected, turned ? &trace_.k_turned : &trace_.k_normed, &trace_.k});
    trace_.v = MatrixBuffer(n_tokens(), head().d_value());
    project_values(layer_, head().value, trace_.key_inputs(), trace_.v.view());
    keys_ = kernels::KeyPanels(n_tokens(), head().d_head());
    keys_.pack(std::as_const(trace_.k).view(), 0);
  }

  // Queries or keys, also before norm and rotation and between the two.
  void project(const HeadSide& side, const Rotation& rotation, ConstMatrix inputs,
               std::array<MatrixBuffer*, 3> stages) const {
    const auto [projected, between, done] = stages;
    const std::size_t d_head = head().d_head();
    *done = MatrixBuffer(n_tokens(), d_head);
    project_rotated(side, rotation, inputs, 0, done->view());
    if (trace_.norms_queries() || trace_.rope) {
      *projected = MatrixBuffer(n_tokens(), d_head);
      project_side(side.projection, inputs, projected->view());
    }
    if (trace_.norms_queries() && trace_.rope) {
      *between = MatrixBuffer(n_tokens(), d_head);
      project_side(side.projection, inputs, between->view());
      if (side.norms_turned) {
        rotation.apply(0, between->view());
      } else {
        norm_head(side.norm, side.joint_factors, between->view());
      }
    }
  }

  // The stages of one query's q·k on their way to the softmax, [n_keys] each; `capped` may be
  // empty.
  struct Stages {
    std::span<float> scaled, capped, masked;
  };

  void fill_stages(std::size_t query, std::span<const float> scores, const Stages& to) const {
    const RowRule rule = this->rule();
    std::copy(scores.begin(), scores.end(), to.scaled.begin());
    kernels::scale(to.scaled, rule.factor);
    std::copy(to.scaled.begin(), to.scaled.end(), to.masked.begin());
    if (rule.soft_cap > 0.0f) {
      std::copy(scores.begin(), scores.end(), to.capped.begin());
      kernels::soft_cap(to.capped, rule.soft_cap, rule.factor);
      std::copy(to.capped.begin(), to.capped.end(), to.masked.begin());
      kernels::scale(to.masked, rule.capped_factor);
    }
    hide_masked(rule, query, to.masked);
  }

  void score() {
    const RowRule rule = this->rule();
    trace_.factor = rule.factor;
    trace_.capped_factor = rule.capped_factor;
    const MatrixBuffer scores =
        all_scores(std::as_const(trace_.q).view().row_block(trace_.query, 1));
    const std::span<const float> row = scores.view().row(0).first(n_tokens());
    trace_.scores.assign(row.begin(), row.end());
    trace_.scaled.resize(n_tokens());
    trace_.masked.resize(n_tokens());
    trace_.capped.resize(rule.soft_cap > 0.0f ? n_tokens() : 0);
    fill_stages(trace_.query, trace_.scores, {trace_.scaled, trace_.capped, trace_.masked});
    trace_.knocked_out = hidden_from(rule, trace_.query, n_tokens());
    if (model_.config.positions == Positions::kAlibi) {
      trace_.bias.resize(n_tokens());
      for (std::size_t key = 0; key < n_tokens(); ++key) {
        const std::size_t distance = key < trace_.query ? trace_.query - key : key - trace_.query;
        trace_.bias[key] = 0.0f - rule.distance_penalty * static_cast<float>(distance);
      }
    }
  }

  void weigh() {
    constexpr float kNone = -std::numeric_limits<float>::infinity();
    const float sink = rule().sink;
    const float largest =
        std::max(sink, *std::max_element(trace_.masked.begin(), trace_.masked.end()));
    trace_.max = largest == kNone ? 0.0f : largest;
    double sum = 0.0;
    trace_.exponentials.reserve(n_tokens());
    for (const float score : trace_.masked) {
      const double term = std::exp(static_cast<double>(score) - static_cast<double>(trace_.max));
      trace_.exponentials.push_back(static_cast<float>(term));
      sum += term;
    }
    if (sink != kNone) {
      const double term = std::exp(static_cast<double>(sink) - static_cast<double>(trace_.max));
      sum += term;
      trace_.sink = {sink, static_cast<float>(term), static_cast<float>(term / sum)};
    }
    trace_.sum = static_cast<float>(sum);
    RowRule undropped = rule();
    undropped.dropout.rate = 0.0f;
    trace_.probabilities.resize(n_tokens());
    trace_.weights.resize(n_tokens());
    attend(undropped, trace_.query, one_row(std::span<float>(trace_.probabilities)), {});
    std::vector<float> mixture(head().d_value());
    attend(rule(), trace_.query, one_row(std::span<float>(trace_.weights)),
           one_row(std::span<float>(mixture)));
    if (!trace_.ablation) {
      trace_.context = std::move(mixture);
      if (has_gate()) {
        open_gate();
      }
    }
  }

  // q·k for all keys, including masked ones, in whole panels: columns past the last key are 0.
  MatrixBuffer all_scores(ConstMatrix queries) const {
    MatrixBuffer scores(queries.rows, kernels::KeyPanels::rounded_up(n_tokens()));
    const std::vector<KeyRange> every_key(queries.rows, KeyRange{0, n_tokens()});
    kernels::attention_scores(queries, keys_, every_key, 0, scores.view());
    return scores;
  }

  // The weights [n, n_tokens] of the queries from `first` on, 0 at first, and their contexts unless
  // these are empty. The layer already ran without a fault, so an error here means that the code of
  // that run has changed.
  void attend(const RowRule& rule, std::size_t first, Matrix weights, Matrix context) const {
    const HeadTensors tensors{trace_.q.view(), &keys_, trace_.v.view()};
    BlockScratch scratch;
    const BlockWeights block = attend_block(tensors, rule, first, weights.rows, scratch, context);
    if (block.fault != BlockFault::kNone) {
      throw Error(ErrorKind::kMalformed,
                  fmt::format("{}: layer {}, head {}: a score is not a finite number",
                              model_.config.name, trace_.head.layer, trace_.head.head));
    }
    for (std::size_t row = 0; row < weights.rows; ++row) {
      std::copy_n(block.weights.row_data(row), block.weights.cols,
                  weights.row_data(row) + block.first_key);
    }
  }

  void mix() {
    const ConstMatrix values = std::as_const(trace_.v).view();
    trace_.shares = MatrixBuffer(values.rows, values.cols);
    const Matrix shares = trace_.shares.view();
    for (std::size_t key = 0; key < values.rows; ++key) {
      for (std::size_t col = 0; col < values.cols; ++col) {
        shares(key, col) = trace_.weights[key] * values(key, col) + 0.0f;  // no -0
      }
    }
  }

  void put_out() {
    trace_.result = trace_.attended;
    const Matrix result = one_row(std::span<float>(trace_.result));
    join_stream(model_, trace_.head.layer, one_row(trace_.x()), 1, result);
    if (layer_.laurel.present()) {
      const MatrixBuffer added = laurel(model_, trace_.head.layer, one_row(trace_.x()), 1);
      const std::span<const float> row = added.view().row(0);
      trace_.laurel.assign(row.begin(), row.end());
    }
    if (trace_.changes_branch()) {
      trace_.added.resize(trace_.attended.size());
      apply_norm(trace_.after_norm, one_row(std::span<const float>(trace_.attended)),
                 one_row(std::span<float>(trace_.added)));
      kernels::scale(trace_.added, trace_.branch_scale);
    }
    if (!trace_.has_output()) {
      return;
    }
    trace_.output.resize(trace_.w_output.cols);
    kernels::matmul(one_row(std::span<const float>(trace_.context)), trace_.w_output, {},
                    one_row(std::span<float>(trace_.output)));
    if (trace_.n_heads > 1) {
      trace_.others = what_is_left();
    }
  }

  // The output of attention minus everything else known of it. Values that are mere rounding become
  // 0.
  std::vector<float> what_is_left() const {
    constexpr double kRounding = 4.0 * static_cast<double>(std::numeric_limits<float>::epsilon());
    std::vector<float> left;
    left.reserve(trace_.attended.size());
    for (std::size_t col = 0; col < trace_.attended.size(); ++col) {
      double value = static_cast<double>(trace_.attended[col]);
      double largest = std::abs(value);
      const auto take = [&](float part) {
        value -= static_cast<double>(part);
        largest = std::max(largest, std::abs(static_cast<double>(part)));
      };
      take(trace_.output[col]);
      if (trace_.residual && !trace_.changes_branch()) {
        take(trace_.x()[col]);
      }
      if (!trace_.b_output.empty()) {
        take(trace_.b_output[col]);
      }
      if (!trace_.states.empty()) {
        take(trace_.states[col]);
      }
      left.push_back(std::abs(value) <= kRounding * largest ? 0.0f : static_cast<float>(value));
    }
    return left;
  }

  std::shared_ptr<const InspectedMatrices> for_all_queries() const {
    const std::size_t n = n_tokens();
    auto all = std::make_shared<InspectedMatrices>();
    for (MatrixBuffer* matrix : {&all->scores, &all->scaled, &all->masked, &all->weights}) {
      *matrix = MatrixBuffer(n, n);
    }
    if (trace_.soft_cap > 0.0f) {
      all->capped = MatrixBuffer(n, n);
    }
    all->context = MatrixBuffer(n, trace_.d_value());
    const std::size_t rows = attending_rows(n);
    for (std::size_t first = 0; first < n; first += rows) {
      const std::size_t count = std::min(rows, n - first);
      const MatrixBuffer scores = all_scores(trace_.q.view().row_block(first, count));
      for (std::size_t row = 0; row < count; ++row) {
        const std::size_t query = first + row;
        const std::span<const float> raw = scores.view().row(row).first(n);
        std::copy(raw.begin(), raw.end(), all->scores.view().row_data(query));
        fill_stages(query, raw,
                    {all->scaled.view().row(query),
                     all->capped.rows() > 0 ? all->capped.view().row(query) : std::span<float>{},
                     all->masked.view().row(query)});
      }
      attend(rule(), first, all->weights.view().row_block(first, count),
             all->context.view().row_block(first, count));
      if (has_gate()) {
        const MatrixBuffer open = gates(first, count);
        for (std::size_t row = 0; row < count; ++row) {
          std::ranges::transform(all->context.view().row(first + row), open.view().row(row),
                                 all->context.view().row_data(first + row), std::multiplies<>());
        }
      }
    }
    for (std::size_t query = 0; trace_.ablation && query < n; ++query) {
      std::ranges::copy(trace_.context, all->context.view().row_data(query));
    }
    if (trace_.has_output()) {
      all->output = MatrixBuffer(n, trace_.w_output.cols);
      kernels::matmul(std::as_const(all->context).view(), trace_.w_output, {}, all->output.view());
    }
    return all;
  }

  const Model& model_;
  const LayerWeights& layer_;
  const LayerTrace& shared_;
  const RunObserver* hider_;  // null: no edges are hidden
  kernels::KeyPanels keys_;
  Inspection trace_;
};

}  // namespace

void LayerAblations::add(const Ablation& one) {
  if (one.mlp) {
    of_mlp = one;
  } else if (one.head) {
    of_heads.insert_or_assign(*one.head, one);
  } else {
    of_heads.clear();
    of_others = one;
  }
}

std::optional<Ablation> LayerAblations::of_head(std::size_t head) const {
  const auto own = of_heads.find(head);
  return own == of_heads.end() ? of_others : own->second;
}

ConstMatrix as_floats(const StoredMatrix& weights,
                      std::vector<std::shared_ptr<const MatrixBuffer>>& converted) {
  if (weights.is_floats()) {
    return weights.as_floats();
  }
  converted.push_back(std::make_shared<const MatrixBuffer>(to_floats(weights)));
  return converted.back()->view();
}

Inspection trace_head(const Model& model, HeadId head, const LayerTrace& layer,
                      const AttentionRequest& request, std::size_t query, bool all_queries) {
  return HeadTrace(model, head, layer, request, query).follow(all_queries);
}

}  // namespace attnviz
