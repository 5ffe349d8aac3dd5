#include "attnviz/document/router_document.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace attnviz {

AttentionDocument router_document(const Model& model, const TokenizedText& text,
                                  const AttentionRequest& request,
                                  const std::vector<RoutedLayer>& layers) {
  std::vector<HeadId> places;
  std::size_t n_experts = 0;
  for (const RoutedLayer& one : layers) {
    places.push_back({one.layer, 0});
    n_experts = std::max(n_experts, one.tokens.n_experts);
  }
  AttentionDocument document = attention_document(model, text, request, places);
  document.kind = PatternKind::kRouter;
  document.run.mask.reset();
  document.key_tokens.clear();
  for (std::size_t expert = 0; expert < n_experts; ++expert) {
    document.key_tokens.push_back(std::to_string(expert));
  }
  const std::size_t n_tokens = text.size();
  const auto factors = std::make_shared<MatrixBuffer>(layers.size() * n_tokens, n_experts);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const RoutedTokens& routed = layers[i].tokens;
    const Matrix own = factors->view().row_block(i * n_tokens, n_tokens);
    for (std::size_t token = 0; token < routed.n_tokens(); ++token) {
      const std::span<const std::uint32_t> experts = routed.experts_of(token);
      for (std::size_t k = 0; k < experts.size(); ++k) {
        own(token, experts[k]) = routed.factors_of(token)[k];
      }
    }
    document.patterns[i].weights = own;
  }
  const RoutedTokens& first = layers.front().tokens;
  document.notes.push_back(
      fmt::format("each token gets {} of {} experts in a layer; numbers are what their outputs are "
                  "multiplied by",
                  first.n_used, first.n_experts));
  document.storage = factors;
  return document;
}

}  // namespace attnviz
