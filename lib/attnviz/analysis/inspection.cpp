#include "attnviz/analysis/inspection.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "attnviz/attention/head_math.h"
#include "attnviz/attention/layer.h"
#include "attnviz/attention/row_weights.h"
#include "attnviz/core/error.h"
#include "attnviz/kernels/attention_kernels.h"
#include "attnviz/kernels/matmul.h"
#include "attnviz/kernels/softmax.h"

namespace attnviz {

namespace {

class NobodyWants : public PatternSink {
 public:
  bool wants(HeadId /*head*/) const override { return false; }
  void rows(HeadId /*head*/, std::size_t /*first_query*/, std::size_t /*first_key*/,
            ConstMatrix /*weights*/) override {}
};

Matrix one_row(std::span<float> values) noexcept {
  return {values.data(), 1, values.size(), values.size()};
}

ConstMatrix one_row(std::span<const float> values) noexcept {
  return {values.data(), 1, values.size(), values.size()};
}

// Scores as they are for one query, mask and ALiBi's bias put in as the engine does.
void hide_masked(const Mask& mask, float distance_penalty, std::size_t query,
                 std::span<float> scores) noexcept {
  for (std::size_t key = 0; key < scores.size(); ++key) {
    const std::size_t distance = key < query ? query - key : key - query;
    if (!mask.visible(query, key)) {
      scores[key] = -std::numeric_limits<float>::infinity();
    } else if (distance_penalty != 0.0f) {
      scores[key] -= distance_penalty * static_cast<float>(distance);
    }
  }
}

// One head of one layer whose input and output are known.
class HeadTrace {
 public:
  HeadTrace(const Model& model, HeadId head, std::shared_ptr<const MatrixBuffer> input,
            ConstMatrix layer_output, const AttentionRequest& request, std::size_t query)
      : model_(model), layer_(model.layers[head.layer]), layer_output_(layer_output) {
    trace_.head = head;
    trace_.query = query;
    trace_.n_heads = layer_.heads.size();
    trace_.request = request;
    trace_.mask = mask_of(model, head.layer, request);
    trace_.positions = model.config.positions;
    trace_.residual = model.config.residual;
    trace_.input = std::move(input);
    const HeadWeights& weights = layer_.heads[head.head];
    trace_.weights_in = weights;
    trace_.weights_in.query.weight = floats(weights.query.weight);
    trace_.weights_in.key.weight = floats(weights.key.weight);
    trace_.weights_in.value.weight = floats(weights.value.weight);
    trace_.b_output = layer_.output.bias;
    for (std::size_t i = 0; i < head.head; ++i) {
      trace_.context_in_result += layer_.heads[i].d_value();
    }
    trace_.w_output =
        floats(layer_.output.weight.empty()
                   ? weights.output
                   : layer_.output.weight.row_block(trace_.context_in_result, weights.d_value()));
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

  ConstMatrix floats(const StoredMatrix& weights) {
    if (weights.is_floats()) {
      return weights.as_floats();
    }
    trace_.converted.push_back(std::make_shared<const MatrixBuffer>(to_floats(weights)));
    return trace_.converted.back()->view();
  }

  RowRule rule() const noexcept { return row_rule(model_, trace_.head, trace_.request); }

  void project() {
    const HeadWeights& head = trace_.weights_in;
    trace_.q = MatrixBuffer(n_tokens(), head.d_head());
    trace_.k = MatrixBuffer(n_tokens(), head.d_head());
    trace_.v = MatrixBuffer(n_tokens(), head.d_value());
    const ConstMatrix x = trace_.input->view();
    const Rotation rotation(model_, layer_, n_tokens());
    project_rotated(head.query, layer_.query_norm, rotation, x, 0, trace_.q.view());
    project_rotated(head.key, layer_.key_norm, rotation, x, 0, trace_.k.view());
    kernels::matmul(x, head.value.weight, head.value.bias, trace_.v.view());
    keys_ = kernels::KeyPanels(n_tokens(), head.d_head());
    keys_.pack(std::as_const(trace_.k).view(), 0);
  }

  void score() {
    const ConstMatrix q = std::as_const(trace_.q).view().row_block(trace_.query, 1);
    trace_.factor = score_factor(layer_, trace_.head.head, trace_.request);
    const MatrixBuffer scores = all_scores(q);
    const std::span<const float> row = scores.view().row(0).first(n_tokens());
    trace_.scores.assign(row.begin(), row.end());
    trace_.scaled = trace_.scores;
    kernels::scale(trace_.scaled, trace_.factor);
    trace_.masked = trace_.scaled;
    const float penalty = rule().distance_penalty;
    hide_masked(trace_.mask, penalty, trace_.query, trace_.masked);
    if (model_.config.positions == Positions::kAlibi) {
      trace_.bias.resize(n_tokens());
      for (std::size_t key = 0; key < n_tokens(); ++key) {
        const std::size_t distance = key < trace_.query ? trace_.query - key : key - trace_.query;
        trace_.bias[key] = -penalty * static_cast<float>(distance);
      }
    }
  }

  void weigh() {
    constexpr float kNone = -std::numeric_limits<float>::infinity();
    const float largest = *std::max_element(trace_.masked.begin(), trace_.masked.end());
    trace_.max = largest == kNone ? 0.0f : largest;
    double sum = 0.0;
    for (const float score : trace_.masked) {
      const double term = std::exp(static_cast<double>(score) - static_cast<double>(trace_.max));
      trace_.exponentials.push_back(static_cast<float>(term));
      sum += term;
    }
    trace_.sum = static_cast<float>(sum);
    RowRule undropped = rule();
    undropped.dropout.rate = 0.0f;
    trace_.probabilities = weighed(undropped);
    trace_.weights = weighed(rule());
  }

  std::vector<float> weighed(const RowRule& rule) const {
    std::vector<float> row = trace_.scores;
    weigh_row(rule, trace_.query, row);
    return row;
  }

  // q·k on all keys, masked ones too, in whole panels: the columns past the last key are 0.
  MatrixBuffer all_scores(ConstMatrix queries) const {
    MatrixBuffer scores(queries.rows, kernels::KeyPanels::rounded_up(n_tokens()));
    const std::vector<KeyRange> every_key(queries.rows, KeyRange{0, n_tokens()});
    kernels::attention_scores(queries, keys_, every_key, 0, scores.view());
    return scores;
  }

  // In place, from q·k. The layer ran through before, so the error is for those who change what
  // runs before.
  void weigh_row(const RowRule& rule, std::size_t query, std::span<float> row) const {
    const KeyRange seen = visible_range(trace_.mask, query, query + 1, n_tokens());
    if (scores_to_weights(rule, query, {&seen, 1}, 0, one_row(row)) != 1) {
      throw Error(ErrorKind::kMalformed,
                  fmt::format("{}: layer {}, head {}: a score is not a finite number",
                              model_.config.name, trace_.head.layer, trace_.head.head));
    }
  }

  void mix() {
    const ConstMatrix values = std::as_const(trace_.v).view();
    trace_.shares = MatrixBuffer(values.rows, values.cols);
    const Matrix shares = trace_.shares.view();
    for (std::size_t key = 0; key < values.rows; ++key) {
      for (std::size_t col = 0; col < values.cols; ++col) {
        shares(key, col) = trace_.weights[key] * values(key, col);
      }
    }
    trace_.context.resize(values.cols);
    kernels::matmul(one_row(std::span<const float>(trace_.weights)), values, {},
                    one_row(std::span<float>(trace_.context)));
  }

  void put_out() {
    const std::span<const float> row = layer_output_.row(trace_.query);
    trace_.result.assign(row.begin(), row.end());
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

  // The result less everything else that is known of it. What is nothing but rounding becomes 0.
  std::vector<float> what_is_left() const {
    constexpr double kRounding = 4.0 * static_cast<double>(std::numeric_limits<float>::epsilon());
    std::vector<float> left;
    for (std::size_t col = 0; col < trace_.result.size(); ++col) {
      double value = static_cast<double>(trace_.result[col]);
      double largest = std::abs(value);
      const auto take = [&](float part) {
        value -= static_cast<double>(part);
        largest = std::max(largest, std::abs(static_cast<double>(part)));
      };
      take(trace_.output[col]);
      if (trace_.residual) {
        take(trace_.x()[col]);
      }
      if (!trace_.b_output.empty()) {
        take(trace_.b_output[col]);
      }
      left.push_back(std::abs(value) <= kRounding * largest ? 0.0f : static_cast<float>(value));
    }
    return left;
  }

  std::shared_ptr<const InspectedMatrices> for_all_queries() const {
    const std::size_t n = n_tokens();
    const ConstMatrix queries = trace_.q.view();
    auto all = std::make_shared<InspectedMatrices>();
    for (MatrixBuffer* matrix : {&all->scores, &all->scaled, &all->masked, &all->weights}) {
      *matrix = MatrixBuffer(n, n);
    }
    all->context = MatrixBuffer(n, trace_.d_value());
    const MatrixBuffer scores = all_scores(queries);
    for (std::size_t query = 0; query < n; ++query) {
      const std::span<const float> raw = scores.view().row(query).first(n);
      const std::span<float> scaled = all->scaled.view().row(query);
      const std::span<float> masked = all->masked.view().row(query);
      const std::span<float> weights = all->weights.view().row(query);
      std::copy(raw.begin(), raw.end(), all->scores.view().row_data(query));
      std::copy(raw.begin(), raw.end(), scaled.begin());
      std::copy(raw.begin(), raw.end(), weights.begin());
      kernels::scale(scaled, trace_.factor);
      std::copy(scaled.begin(), scaled.end(), masked.begin());
      hide_masked(trace_.mask, rule().distance_penalty, query, masked);
      weigh_row(rule(), query, weights);
    }
    kernels::matmul(std::as_const(all->weights).view(), trace_.v.view(), {}, all->context.view());
    if (trace_.has_output()) {
      all->output = MatrixBuffer(n, trace_.w_output.cols);
      kernels::matmul(std::as_const(all->context).view(), trace_.w_output, {}, all->output.view());
    }
    return all;
  }

  const Model& model_;
  const LayerWeights& layer_;
  ConstMatrix layer_output_;
  kernels::KeyPanels keys_;
  Inspection trace_;
};

}  // namespace

std::vector<Inspection> inspect_heads(const Model& model, const ModelInput& input,
                                      const AttentionRequest& request,
                                      std::span<const HeadId> heads, std::size_t query,
                                      bool all_queries) {
  check_request(model, input, request);
  if (model.config.order != LayerOrder::kAttentionOnly) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}: the steps of attention are told for models of attention alone; "
                            "this is a whole {} model",
                            model.config.name, model.config.family));
  }
  if (query >= input.size()) {
    throw Error(ErrorKind::kUsage,
                fmt::format("query {}: expected an index from 0 to {}", query, input.size() - 1));
  }
  std::vector<Inspection> inspections;
  NobodyWants nobody;
  LayerMemory memory;
  auto stream = std::make_shared<const MatrixBuffer>(embed(model, input));
  for (std::size_t layer = 0; inspections.size() < heads.size(); ++layer) {
    auto output = std::make_shared<const MatrixBuffer>(
        run_layer(model, layer, stream->view(), request, nobody, memory));
    for (const HeadId head : heads) {
      if (head.layer == layer) {
        inspections.push_back(
            HeadTrace(model, head, stream, output->view(), request, query).follow(all_queries));
      }
    }
    stream = std::move(output);
  }
  return inspections;
}

double inspection_bytes(const Model& model, std::span<const HeadId> heads, std::size_t n_tokens,
                        bool all_queries) noexcept {
  constexpr double kRowsOfTheQuery = 7.0;
  constexpr double kMatrices = 4.0;
  const auto n = static_cast<double>(n_tokens);
  const auto d_model = static_cast<double>(model.config.d_model);
  double kept = 0.0;
  for (const HeadId id : heads) {
    const HeadWeights& head = model.layers[id.layer].heads[id.head];
    const auto d_value = static_cast<double>(head.d_value());
    kept += n * (3.0 * static_cast<double>(head.d_head()) + 2.0 * d_value + kRowsOfTheQuery);
    kept += d_model * n;  // the layer's input
    if (all_queries) {
      kept += kMatrices * n * n + n * (d_value + d_model);
    }
  }
  return layer_bytes(model, n_tokens) + kept * static_cast<double>(sizeof(float));
}

}  // namespace attnviz
