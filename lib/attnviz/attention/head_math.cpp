#include "attnviz/attention/head_math.h"

#include <cmath>

#include "attnviz/attention/alibi.h"
#include "attnviz/kernels/matmul.h"
#include "attnviz/kernels/rope.h"

namespace attnviz {

namespace {
constexpr float kRopeBase = 10000.0f;
}  // namespace

void project_rotated(const Model& model, const Projection& projection, ConstMatrix x,
                     std::size_t first_position, Matrix out) noexcept {
  kernels::matmul(x, projection.weight, projection.bias, out);
  if (model.config.positions == Positions::kRope) {
    kernels::rope(out, first_position, kRopeBase);
  }
}

float score_factor(const HeadWeights& head, const AttentionRequest& request) noexcept {
  const auto d_head = static_cast<double>(head.d_head());
  const double scale = request.scale ? 1.0 / std::sqrt(d_head) : 1.0;
  return static_cast<float>(scale / static_cast<double>(request.temperature));
}

RowRule row_rule(const Model& model, HeadId head, const AttentionRequest& request) noexcept {
  RowRule rule{head,
               request.mask.value_or(model.config.mask),
               score_factor(model.layers[head.layer].heads[head.head], request),
               0.0f,
               {request.dropout, request.dropout_seed}};
  if (model.config.positions == Positions::kAlibi) {
    const std::size_t n_heads = model.layers[head.layer].heads.size();
    rule.distance_penalty = static_cast<float>(alibi_slope(head.head, n_heads) /
                                               static_cast<double>(request.temperature));
  }
  return rule;
}

}  // namespace attnviz
