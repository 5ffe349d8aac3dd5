// Which experts a token gets, and what their outputs are multiplied by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "attnviz/core/tensor.h"
#include "attnviz/model/experts.h"

namespace attnviz {

/// Of each token its experts with their factors, the largest factor first; of equal ones the
/// smallest number.
struct RoutedTokens {
  std::size_t n_experts = 0;
  std::size_t n_used = 0;
  std::vector<std::uint32_t> experts;  // [n_tokens, n_used]
  std::vector<float> factors;          // [n_tokens, n_used]

  std::size_t n_tokens() const noexcept { return n_used == 0 ? 0 : experts.size() / n_used; }
  std::span<const std::uint32_t> experts_of(std::size_t token) const noexcept {
    return std::span(experts).subspan(token * n_used, n_used);
  }
  std::span<const float> factors_of(std::size_t token) const noexcept {
    return std::span(factors).subspan(token * n_used, n_used);
  }
};

/// What the router makes of z = x · gate + bias, logits [n_tokens, n_experts], row by row and in
/// double precision. Where numbers are not finite so are factors, and any experts stand there.
RoutedTokens route(const Router& router, ConstMatrix logits);

}  // namespace attnviz
