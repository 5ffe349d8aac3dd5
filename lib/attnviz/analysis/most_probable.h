// The tokens that a model holds most probable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace attnviz {

struct ProbableToken {
  std::uint32_t id = 0;
  double probability = 0.0;
  float logit = 0.0f;
};

/// The `count` most probable tokens, or all of them where there are fewer: the largest logit first,
/// of equal ones the smaller id. Probabilities are the softmax over all logits, in double
/// precision, each at least 0 and at most 1. Precondition: logits are finite, and not empty.
std::vector<ProbableToken> most_probable(std::span<const float> logits, std::size_t count);

/// ln p of one token, likewise. Precondition: there is such a logit.
double log_probability(std::span<const float> logits, std::uint32_t id);

/// How many tokens are more probable, of equal ones those with smaller ids. Precondition: there is
/// such a logit.
std::size_t rank_of(std::span<const float> logits, std::uint32_t id) noexcept;

}  // namespace attnviz
