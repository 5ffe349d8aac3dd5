#include "attnviz/analysis/compare/compare.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <utility>

#include "attnviz/attention/engine.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/core/threads.h"
#include "attnviz/kernels/row_kernels.h"

namespace attnviz {

namespace {

// Whether both choose in the same way among the same number of experts.
bool route_alike(const Router& a, const Router& b) noexcept {
  return a.n_experts() == b.n_experts() && a.kind == b.kind && a.n_used == b.n_used &&
         a.n_groups == b.n_groups && a.n_used_groups == b.n_used_groups &&
         a.n_group_best == b.n_group_best && a.normed == b.normed && a.scale == b.scale;
}

// Whether both apply the same functions between their products.
bool act_alike(const Mlp& a, const Mlp& b) noexcept {
  return !a.present() || !b.present() ||
         (a.activation == b.activation && a.limit == b.limit && a.gate_scale == b.gate_scale);
}

// Frequencies may differ slightly: GGUF files store their base as a float.
bool turn_alike(const Rope& a, const Rope& b) noexcept {
  constexpr double kRounding = 1e-6;
  return a.magnitude == b.magnitude &&
         std::ranges::equal(a.inverse_frequencies, b.inverse_frequencies, [](double x, double y) {
           return std::abs(x - y) <= kRounding * std::abs(x);
         });
}

}  // namespace

void require_same_heads(const Model& a, const Model& b) {
  const auto fail = [&](const std::string& what) {
    throw Error(ErrorKind::kUsage, fmt::format("{} and {} cannot be compared head by head: {}",
                                               a.config.name, b.config.name, what));
  };
  if (a.n_layers() != b.n_layers()) {
    fail(fmt::format("{} and {}", counted(a.n_layers(), "layer"), b.n_layers()));
  }
  for (std::size_t layer = 0; layer < a.n_layers(); ++layer) {
    const std::size_t n_heads = a.layers[layer].heads.size();
    if (const std::size_t other = b.layers[layer].heads.size(); other != n_heads) {
      fail(fmt::format("layer {} has {} and {}", layer, counted(n_heads, "head"), other));
    }
  }
}

std::vector<std::string> different_settings(const Model& a, const Model& b) {
  std::vector<std::string> found;
  const auto compare = [&found](bool are_same, const char* name) {
    if (!are_same && std::ranges::find(found, name) == found.end()) {
      found.emplace_back(name);
    }
  };
  const auto compare_norms = [&compare](const Norm& one, const Norm& other) {
    compare(!one.present() || !other.present() ||
                (one.kind == other.kind && one.epsilon == other.epsilon),
            "norms' kind or epsilon");
  };
  compare(a.embedding_scale == b.embedding_scale, "scale of embeddings");
  compare(a.altup.n_streams() == b.altup.n_streams() && a.altup.active == b.altup.active,
          "residual streams");
  compare(a.config.positions == b.config.positions, "kind of positions");
  compare(a.config.order == b.config.order && a.config.residual == b.config.residual,
          "order of a layer's parts");
  for (std::size_t layer = 0; layer < std::min(a.n_layers(), b.n_layers()); ++layer) {
    const LayerWeights& one = a.layers[layer];
    const LayerWeights& other = b.layers[layer];
    if (one.rope && other.rope) {
      compare(turn_alike(*one.rope, *other.rope), "rotary frequencies");
      compare(one.rope->query_growth == other.rope->query_growth, "growth of queries");
    } else {
      compare(!one.rope == !other.rope, "rotary frequencies");
    }
    compare(one.mixer() == other.mixer() && one.has_both() == other.has_both(),
            "how layers mix tokens");
    compare(one.score_scale == other.score_scale, "scale of scores");
    compare(one.soft_cap == other.soft_cap, "soft cap of scores");
    compare(one.branch_scale == other.branch_scale && one.result_scale == other.result_scale &&
                one.mlp.hidden_scale == other.mlp.hidden_scale &&
                one.recurrence.out_scale == other.recurrence.out_scale,
            "scale of layer outputs");
    compare(one.norms_heads_together == other.norms_heads_together &&
                one.norms_turned_heads == other.norms_turned_heads &&
                one.value_norm.present() == other.value_norm.present(),
            "norms of queries, keys or values");
    constexpr double kRounding = 1e-6;  // GGUF files store a quantile of it
    compare(std::abs(one.mlp.sparsity - other.mlp.sparsity) < kRounding, "sparsity of MLPs");
    compare(act_alike(one.mlp, other.mlp), "activation of MLPs");
    compare(!one.experts.present() || !other.experts.present() ||
                act_alike(one.experts.each.front(), other.experts.each.front()),
            "activation of experts");
    compare(route_alike(one.experts.router, other.experts.router), "routing to experts");
    compare_norms(one.attention_norm, other.attention_norm);
    compare_norms(one.mlp_norm, other.mlp_norm);
    compare_norms(one.latents.key_norm, other.latents.key_norm);
  }
  compare_norms(a.head.norm, b.head.norm);
  compare(a.head.soft_cap == b.head.soft_cap, "soft cap of logits");
  compare(a.head.scale == b.head.scale, "scale of logits");
  return found;
}

void StreamStore::stream(const RunPlace& /*at*/, ConstMatrix x) {
  MatrixBuffer kept(x.rows, x.cols);
  for (std::size_t row = 0; row < x.rows; ++row) {
    std::ranges::copy(x.row(row), kept.view().row_data(row));
  }
  streams_.push_back(std::move(kept));
}

double stream_bytes(const Model& model, std::size_t n_tokens) noexcept {
  return static_cast<double>(model.n_layers() + 1) * static_cast<double>(n_tokens) *
         static_cast<double>(model.config.d_model) * static_cast<double>(sizeof(float));
}

void StreamComparison::stream(const RunPlace& at, ConstMatrix x) {
  const ConstMatrix before = first_.streams()[n_seen_++].view();
  last_ = MatrixBuffer(x.rows, x.cols);
  for (std::size_t row = 0; row < x.rows; ++row) {
    std::ranges::copy(x.row(row), last_.view().row_data(row));
  }
  if (x.cols != before.cols || x.rows != before.rows) {
    return;
  }
  Departure departure;
  if (at.step == LayerStep::kAfter) {
    departure.layer = at.layer;
  }
  double sum = 0.0;
  for (std::size_t token = 0; token < x.rows; ++token) {
    const double apart = relative_error(before.row(token), x.row(token)).value_or(1.0);
    sum += apart;
    if (apart > departure.largest) {
      departure.largest = apart;
      departure.token = token;
    }
  }
  departure.mean = sum / static_cast<double>(x.rows);
  departures_.push_back(departure);
}

std::vector<double> prediction_kl_bits(const Model& a, ConstMatrix from_a, const Model& b,
                                       ConstMatrix from_b, std::size_t n_threads) {
  std::vector<double> bits;
  const std::size_t n_vocab = a.head.unembedding.d_out();
  if (n_vocab == 0 || n_vocab != b.head.unembedding.d_out()) {
    return bits;
  }
  constexpr std::size_t kLogits = std::size_t{4} << 20;  // of one model at a time
  const std::size_t rows = std::max<std::size_t>(1, kLogits / n_vocab);
  for (std::size_t first = 0; first < from_a.rows; first += rows) {
    const std::size_t count = std::min(rows, from_a.rows - first);
    const MatrixBuffer of_a = run_output_head(a, from_a.row_block(first, count), n_threads);
    const MatrixBuffer of_b = run_output_head(b, from_b.row_block(first, count), n_threads);
    bits.resize(first + count);
    parallel_for(count, n_threads, [&](std::size_t row, std::size_t /*thread*/) {
      const std::span<const float> p = of_a.view().row(row);
      const std::span<const float> q = of_b.view().row(row);
      const double nats =
          kernels::divergence(p, kernels::log_sum_exp(p), q, kernels::log_sum_exp(q));
      bits[first + row] = std::max(0.0, nats * std::numbers::log2e);
    });
  }
  return bits;
}

}  // namespace attnviz
