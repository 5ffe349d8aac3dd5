#include "attnviz/attention/head_math.h"

#include <bit>
#include <cmath>

#include "attnviz/kernels/matmul.h"
#include "attnviz/kernels/rope.h"

namespace attnviz {

namespace {
constexpr float kRopeBase = 10000.0f;
}  // namespace

Rotation::Rotation(const Model& model, const LayerWeights& layer, std::size_t n_tokens,
                   std::size_t first_token)
    : rotates_(model.config.positions == Positions::kRope),
      n_tokens_(n_tokens),
      first_token_(first_token),
      rope_(layer.rope.get()) {
  if (rotates_ && rope_ != nullptr && rope_->n_rotated() > 0) {
    turns_ = MatrixBuffer(n_tokens - first_token, rope_->n_rotated());
    kernels::rope_table(first_token, rope_->frequencies(n_tokens),
                        static_cast<double>(rope_->magnitude), turns_.view());
  }
}

std::vector<double> Rotation::frequencies(std::size_t d_head) const {
  if (!rotates_) {
    return {};
  }
  if (rope_ != nullptr) {
    return rope_->frequencies(n_tokens_);
  }
  std::vector<double> frequencies;
  frequencies.reserve(d_head / 2);
  for (std::size_t i = 0; i < d_head / 2; ++i) {
    frequencies.push_back(std::pow(static_cast<double>(kRopeBase),
                                   -2.0 * static_cast<double>(i) / static_cast<double>(d_head)));
  }
  return frequencies;
}

void Rotation::apply(std::size_t first_position, Matrix x) const noexcept {
  if (rotates_ && rope_ == nullptr) {
    kernels::rope(x, first_position, kRopeBase);
  } else if (turns_.rows() > 0) {
    kernels::rope_rotate(turns_.view().row_block(first_position - first_token_, x.rows),
                         rope_->pairing, x);
  }
}

void project_rotated(const Projection& projection, const Norm& norm, const Rotation& rotation,
                     ConstMatrix x, std::size_t first_position, Matrix out) noexcept {
  kernels::matmul(x, projection.weight, projection.bias, out);
  apply_norm(norm, out, out);
  rotation.apply(first_position, out);
}

Mask mask_of(const Model& model, std::size_t layer, const AttentionRequest& request) noexcept {
  return request.mask.value_or(model.layers[layer].mask.value_or(model.config.mask));
}

double alibi_slope(std::size_t head, std::size_t n_heads) noexcept {
  const std::size_t power = std::bit_floor(n_heads);
  const double step = -8.0 / static_cast<double>(power);
  if (head < power) {
    return std::exp2(step * static_cast<double>(head + 1));
  }
  return std::exp2(step / 2.0 * static_cast<double>(2 * (head - power) + 1));
}

float score_factor(const LayerWeights& layer, std::size_t head,
                   const AttentionRequest& request) noexcept {
  const auto d_head = static_cast<double>(layer.heads[head].d_head());
  const double own = layer.score_scale == 0.0 ? 1.0 / std::sqrt(d_head) : layer.score_scale;
  const double scale = request.scale ? own : 1.0;
  const double divisor = layer.soft_cap > 0.0f ? 1.0 : static_cast<double>(request.temperature);
  return static_cast<float>(scale / divisor);
}

RowRule row_rule(const Model& model, HeadId head, const AttentionRequest& request) noexcept {
  const LayerWeights& layer = model.layers[head.layer];
  RowRule rule;
  rule.head = head;
  rule.mask = mask_of(model, head.layer, request);
  rule.factor = score_factor(layer, head.head, request);
  rule.soft_cap = layer.soft_cap;
  rule.capped_factor = 1.0f / request.temperature;
  rule.dropout = {request.dropout, request.dropout_seed};
  if (model.config.positions == Positions::kAlibi) {
    rule.distance_penalty = static_cast<float>(alibi_slope(head.head, layer.heads.size()) /
                                               static_cast<double>(request.temperature));
  }
  return rule;
}

}  // namespace attnviz
