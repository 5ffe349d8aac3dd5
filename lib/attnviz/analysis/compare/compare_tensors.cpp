#include "attnviz/analysis/compare/compare.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "attnviz/core/threads.h"
#include "attnviz/kernels/stored_numbers.h"

namespace attnviz {

namespace {

struct SquareSums {
  double of_a = 0.0;
  double of_change = 0.0;

  void operator+=(const SquareSums& other) noexcept {
    of_a += other.of_a;
    of_change += other.of_change;
  }
};

SquareSums square_sums(std::span<const float> a, std::span<const float> b) {
  SquareSums sums;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto number = static_cast<double>(a[i]);
    const double change = number - static_cast<double>(b[i]);
    sums.of_a += number * number;
    sums.of_change += change * change;
  }
  return sums;
}

std::optional<double> relative(const SquareSums& sums) {
  if (sums.of_change == 0.0) {
    return 0.0;
  }
  return sums.of_a > 0.0 ? std::optional(std::sqrt(sums.of_change / sums.of_a)) : std::nullopt;
}

// Makes columns readable as rows, which is fast: the stored rows of a transposed matrix are its
// columns.
StoredMatrix turned(StoredMatrix matrix) {
  std::swap(matrix.rows, matrix.cols);
  matrix.transposed = !matrix.transposed;
  return matrix;
}

// Two corresponding matrices; column order[i] of b corresponds to i of a. Without an order, columns
// correspond one to one.
struct MatrixPair {
  StoredMatrix a;
  StoredMatrix b;
  std::vector<std::size_t> order = {};

  bool is_comparable() const noexcept { return a.rows == b.rows && a.cols == b.cols; }
};

SquareSums square_sums(const MatrixPair& pair, std::size_t n_threads) {
  const bool by_columns = pair.a.transposed || pair.b.transposed || !pair.order.empty();
  const StoredMatrix a = by_columns ? turned(pair.a) : pair.a;
  const StoredMatrix b = by_columns ? turned(pair.b) : pair.b;
  constexpr std::size_t kRows = 64;  // per item
  std::vector<SquareSums> parts((a.rows + kRows - 1) / kRows);
  parallel_for(parts.size(), n_threads, [&](std::size_t item, std::size_t /*thread*/) {
    std::vector<float> row(a.cols);
    std::vector<float> other(a.cols);
    for (std::size_t i = item * kRows; i < std::min(a.rows, (item + 1) * kRows); ++i) {
      copy_row(a, i, row);
      copy_row(b, pair.order.empty() ? i : pair.order[i], other);
      parts[item] += square_sums(row, other);
    }
  });
  SquareSums sums;
  for (const SquareSums& part : parts) {  // in order, so that threads do not matter
    sums += part;
  }
  return sums;
}

// Families pair dimension i with i + n / 2 or, with matrices ordered for it, 2 i with 2 i + 1.
// Latent layers have the same order in all files.
std::vector<std::size_t> rotary_order(const LayerWeights& a, const LayerWeights& b,
                                      std::size_t d_head) {
  std::vector<std::size_t> order;
  if (!a.rope || !b.rope || a.rope->pairing == b.rope->pairing ||
      a.rope->n_rotated() != b.rope->n_rotated() || a.rope->n_rotated() > d_head ||
      a.latents.present() || b.latents.present()) {
    return order;
  }
  const std::size_t half = a.rope->n_rotated() / 2;
  const bool a_is_halves = a.rope->pairing == RopePairing::kHalves;
  for (std::size_t i = 0; i < d_head; ++i) {
    const std::size_t paired =
        a_is_halves ? (i < half ? 2 * i : 2 * (i - half) + 1) : i / 2 + (i % 2 == 0 ? 0 : half);
    order.push_back(i < 2 * half ? paired : i);
  }
  return order;
}

StoredMatrix row_of(std::span<const float> numbers) {
  return ConstMatrix{numbers.data(), numbers.empty() ? 0u : 1u, numbers.size(), numbers.size()};
}

// The factors that a norm multiplies by.
std::vector<float> factors_of(const Norm& norm) {
  std::vector<float> factors(norm.weight.begin(), norm.weight.end());
  for (float& factor : factors) {
    factor += norm.weight_offset;
  }
  return factors;
}

// Collects the pairs that make up each tensor.
class Tensors {
 public:
  explicit Tensors(std::size_t n_threads) : n_threads_(n_threads) {}

  /// Later tensors belong to this layer, or to the whole model if it is absent.
  void set_layer(std::optional<std::size_t> layer) noexcept { layer_ = layer; }

  void add(std::string name, const std::vector<MatrixPair>& pairs) {
    bool is_in_a = false;
    bool is_in_b = false;
    bool is_comparable = true;
    for (const MatrixPair& pair : pairs) {
      is_in_a = is_in_a || !pair.a.empty();
      is_in_b = is_in_b || !pair.b.empty();
      is_comparable = is_comparable && pair.is_comparable();
    }
    TensorDifference found{layer_, std::move(name), {}, {}};
    if (is_in_a != is_in_b) {
      found.only_in = is_in_a ? 0 : 1;
    } else if (!is_in_a) {
      return;
    } else if (is_comparable) {
      SquareSums sums;
      for (const MatrixPair& pair : pairs) {
        sums += square_sums(pair, n_threads_);
      }
      found.relative = relative(sums);
    }
    found_.push_back(std::move(found));
  }

  /// Records that the two store a tensor in different orders, so it is not compared.
  void add_other_order(std::string name) { found_.push_back({layer_, std::move(name), {}, {}}); }

  void add(const std::string& place, const Projection& a, const Projection& b) {
    add("W_" + place, {{a.weight, b.weight}});
    add("b_" + place, {{row_of(a.bias), row_of(b.bias)}});
  }

  void add(const std::string& name, const Norm& a, const Norm& b,
           const std::vector<std::size_t>& order = {}) {
    const std::vector<float> of_a = factors_of(a);
    const std::vector<float> of_b = factors_of(b);
    const bool fits = order.size() == of_a.size();
    add(name, {{row_of(of_a), row_of(of_b), fits ? order : std::vector<std::size_t>()}});
    add(name + "_bias", {{row_of(a.bias), row_of(b.bias)}});
  }

  std::vector<TensorDifference> take() { return std::move(found_); }

 private:
  std::size_t n_threads_;
  std::optional<std::size_t> layer_;
  std::vector<TensorDifference> found_;
};

// One projection of all heads together.
struct HeadPairs {
  std::vector<MatrixPair> weights, biases;

  void add(const Projection& a, const Projection& b, const std::vector<std::size_t>& order = {}) {
    weights.push_back({a.weight, b.weight, order});
    biases.push_back({row_of(a.bias), row_of(b.bias), order});
  }
  void add_to(Tensors& tensors, const std::string& place) const {
    tensors.add("W_" + place, weights);
    tensors.add("b_" + place, biases);
  }
};

// Compared only if heads have the same order and projections are cut in the same way.
void add_states(const Recurrence& a, const Recurrence& b, Tensors& tensors) {
  if (a.keys_alternate != b.keys_alternate && a.n_heads != a.n_key_heads) {
    return tensors.add_other_order("states");
  }
  if (a.in.size() != b.in.size()) {
    tensors.add_other_order("state_in");
  }
  for (std::size_t i = 0; i < a.in.size() && a.in.size() == b.in.size(); ++i) {
    tensors.add(a.in.size() == 1 ? "state_in" : fmt::format("state_in_{}", i), a.in[i].projection,
                b.in[i].projection);
  }
  tensors.add("state_conv", {{row_of(a.kernel), row_of(b.kernel)}});
  tensors.add("state_conv_bias", {{row_of(a.bias), row_of(b.bias)}});
  tensors.add("state_rate", {{row_of(a.rate), row_of(b.rate)}});
  tensors.add("state_step_bias", {{row_of(a.step_bias), row_of(b.step_bias)}});
  tensors.add("state_skip", {{row_of(a.skip), row_of(b.skip)}});
  tensors.add("state_norm", a.norm, b.norm);
  tensors.add("state_out", a.out, b.out);
}

void add_attention(const LayerWeights& a, const LayerWeights& b, Tensors& tensors) {
  HeadPairs queries, keys, values, gates;
  const std::vector<std::size_t> numbers = key_value_heads(a);
  const bool share_alike = numbers == key_value_heads(b);
  std::size_t n_seen = 0;  // pairs of key and value matrices that heads share
  for (std::size_t head = 0; head < a.heads.size(); ++head) {
    const HeadWeights& of_a = a.heads[head];
    const HeadWeights& of_b = b.heads[head];
    const std::vector<std::size_t> order = rotary_order(a, b, of_a.d_head());
    queries.add(of_a.query, of_b.query, order);
    gates.add(of_a.output_gate, of_b.output_gate);
    if (!share_alike || numbers[head] == n_seen) {
      ++n_seen;
      keys.add(of_a.key, of_b.key, order);
      values.add(of_a.value, of_b.value);
    }
  }
  tensors.add("query_down", a.latents.query_down, b.latents.query_down);
  tensors.add("query_down_norm", a.latents.query_norm, b.latents.query_norm);
  tensors.add("key_down", a.latents.key_down, b.latents.key_down);
  tensors.add("key_down_norm", a.latents.key_norm, b.latents.key_norm);
  queries.add_to(tensors, "Q");
  keys.add_to(tensors, "K");
  values.add_to(tensors, "V");
  gates.add_to(tensors, "G");
  tensors.add("sinks", {{row_of(a.sinks), row_of(b.sinks)}});
  const std::vector<std::size_t> order = rotary_order(a, b, a.heads.front().d_head());
  tensors.add("query_norm", a.query_norm, b.query_norm, order);
  tensors.add("key_norm", a.key_norm, b.key_norm, order);
  std::vector<MatrixPair> outputs;
  const std::vector<StoredMatrix> of_a = head_outputs(a);
  const std::vector<StoredMatrix> of_b = head_outputs(b);
  for (std::size_t head = 0; head < of_a.size(); ++head) {
    outputs.push_back({of_a[head], of_b[head]});
  }
  tensors.add("W_O", outputs);
  tensors.add("b_O", {{row_of(a.output.bias), row_of(b.output.bias)}});
}

}  // namespace

std::optional<double> relative_error(std::span<const float> a, std::span<const float> b) {
  return relative(square_sums(a, b));
}

namespace {

// Each tensor of the experts, for all experts together.
void add_experts(const Experts& a, const Experts& b, Tensors& tensors) {
  tensors.add("router", a.router.gate, b.router.gate);
  tensors.add("router_bias", {{row_of(a.router.choice_bias), row_of(b.router.choice_bias)}});
  tensors.add("router_norm", a.router.norm, b.router.norm);
  tensors.add("expert_scale", {{row_of(a.router.expert_scale), row_of(b.router.expert_scale)}});
  tensors.add("experts_norm", a.norm, b.norm);
  tensors.add("after_experts_norm", a.after_norm, b.after_norm);
  tensors.add("after_shared_norm", a.after_shared_norm, b.after_shared_norm);
  tensors.add("shared_gate", a.shared_gate, b.shared_gate);
  tensors.add("experts_latent_in", a.latent_in, b.latent_in);
  tensors.add("experts_latent_out", a.latent_out, b.latent_out);
  const std::size_t n_experts = std::max(a.each.size(), b.each.size());
  std::vector<Experts::Memory> of_a(n_experts);
  std::vector<Experts::Memory> of_b(n_experts);
  const auto add_all = [&](const std::string& name, Projection Mlp::*part) {
    std::vector<MatrixPair> weights;
    std::vector<MatrixPair> biases;
    for (std::size_t i = 0; i < n_experts; ++i) {
      const Projection one = i < a.each.size() ? a.at(i, of_a[i]).*part : Projection();
      const Projection other = i < b.each.size() ? b.at(i, of_b[i]).*part : Projection();
      weights.push_back({one.weight, other.weight});
      biases.push_back({row_of(one.bias), row_of(other.bias)});
    }
    tensors.add("experts_" + name, weights);
    tensors.add("experts_" + name + "_bias", biases);
  };
  add_all("gate", &Mlp::gate);
  add_all("up", &Mlp::up);
  add_all("down", &Mlp::down);
}

// The tensors that a layer has around its streams: LAuReL, AltUp.
void add_streams(const LayerWeights& a, const LayerWeights& b, Tensors& tensors) {
  tensors.add("laurel_left", a.laurel.left, b.laurel.left);
  tensors.add("laurel_right", a.laurel.right, b.laurel.right);
  tensors.add("laurel_norm", a.laurel.norm, b.laurel.norm);
  tensors.add("altup_norm", a.altup.norm, b.altup.norm);
  tensors.add("altup_router", a.altup.router, b.altup.router);
  tensors.add("altup_prediction", a.altup.prediction, b.altup.prediction);
  tensors.add("altup_correction", a.altup.correction, b.altup.correction);
  tensors.add("altup_scale", {{row_of(a.altup.input_scale), row_of(b.altup.input_scale)}});
}

// The projections by which streams enter or leave.
void add_ends(const AltUp& a, const AltUp& b, std::vector<Projection> AltUp::*part,
              const std::string& name, Tensors& tensors) {
  std::vector<MatrixPair> pairs;
  for (std::size_t i = 0; i < std::max((a.*part).size(), (b.*part).size()); ++i) {
    const auto at = [i](const std::vector<Projection>& all) {
      return i < all.size() ? all[i].weight : StoredMatrix();
    };
    pairs.push_back({at(a.*part), at(b.*part)});
  }
  tensors.add(name, pairs);
}

}  // namespace

std::vector<TensorDifference> compare_tensors(const Model& a, const Model& b,
                                              std::size_t n_threads) {
  Tensors tensors(n_threads);
  tensors.add("W_E", {{a.embeddings, b.embeddings}});
  tensors.add("embedding_projection", a.embedding_projection, b.embedding_projection);
  tensors.add("inputs", {{a.inputs, b.inputs}});
  tensors.add("W_pos", {{a.position_embeddings, b.position_embeddings}});
  tensors.add("W_segment", {{a.segment_embeddings, b.segment_embeddings}});
  tensors.add("embedding_norm", a.embedding_norm, b.embedding_norm);
  tensors.add("layer_embeddings", {{a.layer_embeddings.table, b.layer_embeddings.table}});
  tensors.add("layer_projection", a.layer_embeddings.projection, b.layer_embeddings.projection);
  tensors.add("layer_projection_norm", a.layer_embeddings.norm, b.layer_embeddings.norm);
  add_ends(a.altup, b.altup, &AltUp::enter, "altup_enter", tensors);
  add_ends(a.altup, b.altup, &AltUp::leave, "altup_leave", tensors);
  for (std::size_t layer = 0; layer < std::min(a.n_layers(), b.n_layers()); ++layer) {
    const LayerWeights& of_a = a.layers[layer];
    const LayerWeights& of_b = b.layers[layer];
    tensors.set_layer(layer);
    tensors.add("attention_norm", of_a.attention_norm, of_b.attention_norm);
    if (!of_a.heads.empty() && !of_b.heads.empty()) {
      add_attention(of_a, of_b, tensors);
    }
    tensors.add("conv_in", of_a.convolution.in, of_b.convolution.in);
    tensors.add("W_conv", {{of_a.convolution.kernel_rows(), of_b.convolution.kernel_rows()}});
    tensors.add("b_conv", {{row_of(of_a.convolution.bias), row_of(of_b.convolution.bias)}});
    tensors.add("conv_out", of_a.convolution.out, of_b.convolution.out);
    add_states(of_a.recurrence, of_b.recurrence, tensors);
    tensors.add("after_attention_norm", of_a.after_attention_norm, of_b.after_attention_norm);
    tensors.add("mlp_norm", of_a.mlp_norm, of_b.mlp_norm);
    tensors.add("gate", of_a.mlp.gate, of_b.mlp.gate);
    tensors.add("up", of_a.mlp.up, of_b.mlp.up);
    tensors.add("down", of_a.mlp.down, of_b.mlp.down);
    add_experts(of_a.experts, of_b.experts, tensors);
    tensors.add("after_mlp_norm", of_a.after_mlp_norm, of_b.after_mlp_norm);
    tensors.add("input_gate", of_a.input.gate, of_b.input.gate);
    tensors.add("input_projection", of_a.input.projection, of_b.input.projection);
    tensors.add("input_norm", of_a.input.norm, of_b.input.norm);
    add_streams(of_a, of_b, tensors);
  }
  tensors.set_layer({});
  tensors.add("final_norm", a.head.norm, b.head.norm);
  tensors.add("transform", a.head.transform, b.head.transform);
  tensors.add("projection", a.head.projection, b.head.projection);
  tensors.add("transform_norm", a.head.transform_norm, b.head.transform_norm);
  const auto is_tied = [](const Model& model) {
    return model.head.unembedding.weight.data == model.embeddings.data;
  };
  if (!is_tied(a) || !is_tied(b)) {
    tensors.add("W_U", {{a.head.unembedding.weight, b.head.unembedding.weight}});
  }
  tensors.add("b_U", {{row_of(a.head.unembedding.bias), row_of(b.head.unembedding.bias)}});
  return tensors.take();
}

}  // namespace attnviz
