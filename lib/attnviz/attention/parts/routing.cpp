#include "attnviz/attention/parts/routing.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

namespace attnviz {

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

// The numbers of one token's experts, in memory that is kept from token to token.
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

  // Leaves out the experts of groups that are not looked at.
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

  // The places of the `count` largest numbers, in front.
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
    constexpr double kLeast = 1e-20;  // DeepSeek-V3's: sigmoids may all be nearly 0
    const double sum =
        router_.normed ? std::accumulate(chosen_.begin(), chosen_.end(), kLeast) : 1.0;
    std::ranges::transform(chosen_, factors.begin(), [&](double score) {
      return static_cast<float>(score / sum * static_cast<double>(router_.scale));
    });
    if (!router_.expert_scale.empty()) {
      scale_each(experts, factors);
    }
  }

  // By factors of the experts' own, which may change their order.
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

}  // namespace attnviz
