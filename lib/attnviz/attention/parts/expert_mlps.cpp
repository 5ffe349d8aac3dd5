#include "attnviz/attention/parts/layer_parts.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "attnviz/attention/blocked_product.h"
#include "attnviz/core/threads.h"
#include "attnviz/kernels/row_kernels.h"

namespace attnviz {

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

// Routes one token at a time; memory is kept from token to token.
class TokenRouter {
 public:
  explicit TokenRouter(const Router& router)
      : router_(router), scores_(router.n_experts()), choice_(scores_.size()) {}

  void route(std::span<const float> logits, std::span<std::uint32_t> experts,
             std::span<float> factors) {
    score(logits);
    if (!std::ranges::all_of(choice_, [](double number) { return std::isfinite(number); })) {
      std::iota(experts.begin(), experts.end(), std::uint32_t{0});
      std::ranges::fill(factors, std::numeric_limits<float>::quiet_NaN());
      return;
    }
    choose(experts);
    weigh(experts, factors);
  }

 private:
  bool is_softmax() const noexcept { return router_.kind != RouterKind::kSigmoid; }

  void score(std::span<const float> logits) {
    std::transform(logits.begin(), logits.end(), scores_.begin(), [this](float z) {
      return is_softmax() ? static_cast<double>(z) : 1.0 / (1.0 + std::exp(-double{z}));
    });
    if (router_.kind == RouterKind::kSoftmax) {
      soften(scores_);
    }
    std::ranges::copy(scores_, choice_.begin());
    for (std::size_t i = 0; i < router_.choice_bias.size(); ++i) {
      choice_[i] += static_cast<double>(router_.choice_bias[i]);
    }
  }

  static void soften(std::span<double> numbers) {
    const double most = std::ranges::max(numbers);
    double sum = 0.0;
    for (double& number : numbers) {
      number = std::exp(number - most);
      sum += number;
    }
    for (double& number : numbers) {
      number /= sum;
    }
  }

  // Leaves out the experts of groups that are not chosen.
  void choose_groups() {
    const std::size_t size = choice_.size() / router_.n_groups;
    std::vector<double> of_group(router_.n_groups);
    for (std::size_t group = 0; group < of_group.size(); ++group) {
      const auto first = choice_.begin() + static_cast<std::ptrdiff_t>(group * size);
      std::vector<double> best(std::min(router_.n_group_best, size));
      std::partial_sort_copy(first, first + static_cast<std::ptrdiff_t>(size), best.begin(),
                             best.end(), std::greater<>());
      of_group[group] = std::accumulate(best.begin(), best.end(), 0.0);
    }
    std::vector<std::uint32_t> order(of_group.size());
    largest_first(of_group, order, order.size());
    for (const std::uint32_t group : std::span(order).subspan(router_.n_used_groups)) {
      std::fill_n(choice_.begin() + static_cast<std::ptrdiff_t>(group * size), size, kNever);
    }
  }

  // Puts the indices of the `count` largest numbers first.
  static void largest_first(std::span<const double> numbers, std::vector<std::uint32_t>& order,
                            std::size_t count) {
    std::iota(order.begin(), order.end(), std::uint32_t{0});
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count),
                      order.end(), [numbers](std::uint32_t a, std::uint32_t b) {
                        return numbers[a] > numbers[b] || (numbers[a] == numbers[b] && a < b);
                      });
  }

  void choose(std::span<std::uint32_t> experts) {
    if (router_.n_groups > 1) {
      choose_groups();
    }
    order_.resize(choice_.size());
    largest_first(choice_, order_, experts.size());
    std::copy_n(order_.begin(), experts.size(), experts.begin());
  }

  void weigh(std::span<std::uint32_t> experts, std::span<float> factors) {
    std::ranges::sort(experts, [this](std::uint32_t a, std::uint32_t b) {
      return scores_[a] > scores_[b] || (scores_[a] == scores_[b] && a < b);
    });
    chosen_.resize(experts.size());
    std::ranges::transform(experts, chosen_.begin(),
                           [this](std::uint32_t e) { return scores_[e]; });
    if (router_.kind == RouterKind::kChosenSoftmax) {
      soften(chosen_);
    }
    constexpr double kLeast = 1e-20;  // as in DeepSeek-V3: sigmoids may all be nearly 0
    const double sum =
        router_.normed ? std::accumulate(chosen_.begin(), chosen_.end(), kLeast) : 1.0;
    std::ranges::transform(chosen_, factors.begin(), [&](double score) {
      return static_cast<float>(score / sum * static_cast<double>(router_.scale));
    });
    if (!router_.expert_scale.empty()) {
      scale_each(experts, factors);
    }
  }

  // Applies the experts' own factors, which may change their order.
  void scale_each(std::span<std::uint32_t> experts, std::span<float> factors) {
    std::vector<std::pair<float, std::uint32_t>> scaled;
    scaled.reserve(experts.size());
    for (std::size_t i = 0; i < experts.size(); ++i) {
      scaled.emplace_back(factors[i] * router_.expert_scale[experts[i]], experts[i]);
    }
    if (std::ranges::all_of(scaled, [](const auto& one) { return std::isfinite(one.first); })) {
      std::ranges::sort(scaled, [](const auto& a, const auto& b) {
        return a.first > b.first || (a.first == b.first && a.second < b.second);
      });
    }
    for (std::size_t i = 0; i < experts.size(); ++i) {
      std::tie(factors[i], experts[i]) = scaled[i];
    }
  }

  const Router& router_;
  std::vector<double> scores_, choice_, chosen_;
  std::vector<std::uint32_t> order_;
};

}  // namespace

RoutedTokens route(const Router& router, ConstMatrix logits) {
  RoutedTokens routed;
  routed.n_experts = router.n_experts();
  routed.n_used = router.n_used;
  routed.experts.resize(logits.rows * router.n_used);
  routed.factors.resize(routed.experts.size());
  TokenRouter token(router);
  for (std::size_t row = 0; row < logits.rows; ++row) {
    token.route(logits.row(row),
                std::span(routed.experts).subspan(row * router.n_used, router.n_used),
                std::span(routed.factors).subspan(row * router.n_used, router.n_used));
  }
  return routed;
}

namespace {

constexpr double kOutputsAtOnce = 64e6;

std::size_t tokens_at_once(std::size_t n_used, std::size_t d_model) noexcept {
  const double token_bytes = static_cast<double>(n_used * d_model * sizeof(float));
  return std::max(static_cast<std::size_t>(kOutputsAtOnce / token_bytes), std::size_t{1});
}

// A token that uses an expert, and the expert's position in its row.
struct Use {
  std::size_t token = 0;
  std::size_t place = 0;  // token * n_used + the expert's position
};

// The uses of each expert by the tokens [first, first + count).
std::vector<std::vector<Use>> uses_of(const RoutedTokens& routed, std::size_t first,
                                      std::size_t count) {
  std::vector<std::vector<Use>> uses(routed.n_experts);
  for (std::size_t token = 0; token < count; ++token) {
    const std::span<const std::uint32_t> experts = routed.experts_of(first + token);
    for (std::size_t i = 0; i < experts.size(); ++i) {
      uses[experts[i]].push_back({token, token * routed.n_used + i});
    }
  }
  return uses;
}

double multiply_adds(const Experts& experts, std::size_t n_uses) noexcept {
  const Mlp& one = experts.each.front();
  const double matrices = one.is_gated() ? 3.0 : 2.0;
  return matrices * static_cast<double>(one.up.d_in()) * static_cast<double>(one.d_ff()) *
         static_cast<double>(n_uses);
}

// Computes one expert's outputs for its tokens into rows of `outputs`.
void run_expert(const Mlp& expert, std::span<const Use> uses, ConstMatrix x, MatrixBuffer& inputs,
                MlpMemory& memory, Matrix outputs) {
  const std::size_t n = uses.size();
  const Matrix both = shaped(inputs, 2 * n, x.cols);
  const Matrix in = both.row_block(0, n);
  const Matrix out = both.row_block(n, n);
  for (std::size_t i = 0; i < n; ++i) {
    std::ranges::copy(x.row(uses[i].token), in.row_data(i));
  }
  run_mlp(expert, in, /*add=*/false, /*n_threads=*/1, memory, out);
  for (std::size_t i = 0; i < n; ++i) {
    std::ranges::copy(ConstMatrix(out).row(i), outputs.row_data(uses[i].place));
  }
}

void add_chunk(const Experts& experts, const RoutedTokens& routed, std::size_t first, ConstMatrix x,
               std::size_t n_threads, ExpertMemory& memory, Matrix out) {
  const std::vector<std::vector<Use>> uses = uses_of(routed, first, x.rows);
  std::vector<std::size_t> busy;
  for (std::size_t expert = 0; expert < uses.size(); ++expert) {
    if (!uses[expert].empty()) {
      busy.push_back(expert);
    }
  }
  const std::size_t n_uses = x.rows * routed.n_used;
  const Matrix outputs = shaped(memory.outputs, n_uses, x.cols);
  const std::size_t threads = worthwhile_threads(multiply_adds(experts, n_uses), n_threads);
  memory.inputs.resize(std::max(memory.inputs.size(), threads));
  memory.mlps.resize(std::max(memory.mlps.size(), threads));
  memory.weights.resize(std::max(memory.weights.size(), threads));
  parallel_for(busy.size(), threads, [&](std::size_t item, std::size_t thread) {
    run_expert(experts.at(busy[item], memory.weights[thread]), uses[busy[item]], x,
               memory.inputs[thread], memory.mlps[thread], outputs);
  });
  for (const std::size_t expert : busy) {
    for (const Use& use : uses[expert]) {
      const float factor = routed.factors[first * routed.n_used + use.place];
      const std::span<const float> from = ConstMatrix(outputs).row(use.place);
      const std::span<float> to = out.row(use.token);
      for (std::size_t d = 0; d < to.size(); ++d) {
        to[d] += factor * from[d];
      }
    }
  }
}

void add_chunks(const Experts& experts, const RoutedTokens& routed, ConstMatrix x,
                std::size_t n_threads, ExpertMemory& memory, Matrix out) {
  const std::size_t step = tokens_at_once(routed.n_used, x.cols);
  for (std::size_t first = 0; first < x.rows; first += step) {
    const std::size_t count = std::min(step, x.rows - first);
    add_chunk(experts, routed, first, x.row_block(first, count), n_threads, memory,
              out.row_block(first, count));
  }
}

}  // namespace

RoutedTokens route_tokens(const Experts& experts, ConstMatrix x, std::size_t n_threads,
                          ExpertMemory& memory) {
  if (experts.router.norm.present()) {
    const Matrix normed = shaped(memory.routed, x.rows, x.cols);
    apply_norm(experts.router.norm, x, normed);
    x = normed;
  }
  const Matrix logits = shaped(memory.logits, x.rows, experts.router.n_experts());
  blocked_product(x, experts.router.gate, n_threads, logits);
  return route(experts.router, logits);
}

void add_experts(const Experts& experts, const RoutedTokens& routed, ConstMatrix x,
                 std::size_t n_threads, ExpertMemory& memory, Matrix out) {
  if (experts.latent_in.weight.empty()) {
    return add_chunks(experts, routed, x, n_threads, memory, out);
  }
  const Matrix both = shaped(memory.latents, 2 * x.rows, experts.latent_in.d_out());
  const Matrix latents = both.row_block(0, x.rows);
  const Matrix sum = both.row_block(x.rows, x.rows);
  blocked_product(x, experts.latent_in, n_threads, latents);
  std::fill_n(sum.data, sum.rows * sum.stride, 0.0f);
  add_chunks(experts, routed, latents, n_threads, memory, sum);
  blocked_product_add(sum, experts.latent_out, n_threads, out);
}

void gate_shared(const Experts& experts, ConstMatrix x, std::size_t n_threads, ExpertMemory& memory,
                 Matrix out) {
  if (experts.shared_gate.weight.empty()) {
    return;
  }
  const Matrix open = shaped(memory.logits, x.rows, 1);
  blocked_product(x, experts.shared_gate, n_threads, open);
  for (std::size_t row = 0; row < out.rows; ++row) {
    kernels::scale(out.row(row), 1.0f / (1.0f + std::exp(-open(row, 0))));
  }
}

double expert_bytes(const Experts& experts, std::size_t n_tokens) noexcept {
  if (!experts.present()) {
    return 0.0;
  }
  const Mlp& one = experts.each.front();
  const std::size_t n = std::min(n_tokens, tokens_at_once(experts.router.n_used, one.up.d_in()));
  const double uses = static_cast<double>(n * experts.router.n_used);
  const auto d_model = static_cast<double>(one.up.d_in());
  const double rows =
      (experts.norm.present() ? 3.0 : 0.0) + (experts.latent_in.weight.empty() ? 0.0 : 2.0);
  const double whole = rows * static_cast<double>(n_tokens) * d_model;
  // Twice the hidden layers: threads keep the memory of the expert with the most tokens.
  return static_cast<double>(sizeof(float)) *
         (uses * (3.0 * d_model + 2.0 * static_cast<double>(one.d_ff())) + whole);
}

}  // namespace attnviz
