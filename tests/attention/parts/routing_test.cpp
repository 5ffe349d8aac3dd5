// Which experts a token gets: small cases computed by hand.
#include "attnviz/attention/parts/layer_parts.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <vector>

namespace attnviz {
namespace {

using Numbers = std::vector<std::uint32_t>;

// A router with as many experts as a row has numbers; its matrix is never read.
Router router_of(std::size_t n_experts, RouterKind kind, std::size_t n_used) {
  static const float nothing = 0.0f;
  Router router;
  router.gate.weight = StoredMatrix(&nothing, 1, n_experts, n_experts);
  router.kind = kind;
  router.n_used = n_used;
  return router;
}

RoutedTokens routed(const Router& router, std::initializer_list<float> logits) {
  const std::vector<float> numbers(logits);
  return route(router, {numbers.data(), numbers.size() / router.n_experts(), router.n_experts(),
                        router.n_experts()});
}

void check_factors(const RoutedTokens& found, std::initializer_list<double> expected) {
  REQUIRE(found.factors.size() == expected.size());
  std::size_t i = 0;
  for (const double factor : expected) {
    CHECK(static_cast<double>(found.factors[i++]) == doctest::Approx(factor).epsilon(1e-6));
  }
}

}  // namespace

TEST_CASE("a softmax over all experts gives factors that do not add up to 1, unless normalized") {
  Router router = router_of(3, RouterKind::kSoftmax, 2);
  const double sum = std::exp(1.0) + std::exp(3.0) + std::exp(2.0);
  RoutedTokens found = routed(router, {1.0f, 3.0f, 2.0f});
  CHECK(found.experts == Numbers{1, 2});
  check_factors(found, {std::exp(3.0) / sum, std::exp(2.0) / sum});
  router.normed = true;
  router.scale = 2.5f;
  const double first = 1.0 / (1.0 + std::exp(-1.0));
  check_factors(routed(router, {1.0f, 3.0f, 2.0f}), {2.5 * first, 2.5 * (1.0 - first)});
}

TEST_CASE("a softmax over the chosen experts equals one over all, normalized") {
  Router all = router_of(4, RouterKind::kSoftmax, 2);
  all.normed = true;
  const Router chosen = router_of(4, RouterKind::kChosenSoftmax, 2);
  const std::initializer_list<float> logits = {0.5f, -1.0f, 2.0f, 1.5f};
  CHECK(routed(chosen, logits).experts == routed(all, logits).experts);
  check_factors(routed(chosen, logits),
                {1.0 / (1.0 + std::exp(-0.5)), 1.0 / (1.0 + std::exp(0.5))});
  check_factors(routed(all, logits), {1.0 / (1.0 + std::exp(-0.5)), 1.0 / (1.0 + std::exp(0.5))});
}

TEST_CASE("a bias changes which experts are chosen, but not their factors") {
  Router router = router_of(3, RouterKind::kSigmoid, 1);
  const std::vector<float> bias = {0.0f, 0.0f, 1.0f};
  router.choice_bias = bias;
  const RoutedTokens found = routed(router, {1.0f, 0.5f, 0.0f});
  CHECK(found.experts == Numbers{2});
  check_factors(found, {0.5});  // σ(0)
}

TEST_CASE("experts are chosen from the groups with the largest sums of best scores") {
  // σ grows with z: the group of experts 2 and 3 has the best single one, that of 0 and 1 the best
  // two.
  Router router = router_of(4, RouterKind::kSigmoid, 2);
  router.n_groups = 2;
  router.n_used_groups = 1;
  const std::initializer_list<float> logits = {1.0f, 1.0f, 2.0f, -5.0f};
  router.n_group_best = 1;
  CHECK(routed(router, logits).experts == Numbers{2, 3});
  router.n_group_best = 2;
  CHECK(routed(router, logits).experts == Numbers{0, 1});
}

TEST_CASE("equal experts: the one with the smaller index is chosen, for every token") {
  const Router router = router_of(3, RouterKind::kChosenSoftmax, 2);
  const RoutedTokens found = routed(router, {0.0f, 0.0f, 0.0f, 1.0f, 1.0f, 2.0f});
  CHECK(found.n_tokens() == 2);
  CHECK(found.experts == Numbers{0, 1, 2, 0});
}

TEST_CASE("numbers that are not finite give factors that are not") {
  const Router router = router_of(2, RouterKind::kSoftmax, 1);
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    CHECK(std::isnan(routed(router, {bad, 0.0f}).factors.front()));
  }
}

TEST_CASE("per-expert scales change factors and their order, but not the choice") {
  Router router = router_of(3, RouterKind::kSoftmax, 2);
  router.normed = true;
  std::vector<float> scale = {9.0f, 0.5f, 2.0f};
  router.expert_scale = scale;
  const RoutedTokens found = routed(router, {1.0f, 3.0f, 2.0f});
  const double first = 1.0 / (1.0 + std::exp(-1.0));
  CHECK(found.experts == Numbers{2, 1});
  check_factors(found, {2.0 * (1.0 - first), 0.5 * first});
  scale[1] = std::numeric_limits<float>::quiet_NaN();
  CHECK(std::isnan(routed(router, {1.0f, 3.0f, 2.0f}).factors.front()));
}

}  // namespace attnviz
