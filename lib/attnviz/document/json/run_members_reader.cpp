#include "attnviz/document/json/run_members_reader.h"

#include <fmt/core.h>

#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

#include "attnviz/core/message.h"
#include "attnviz/document/json/run_json.h"

namespace attnviz {

namespace {

// One number a turn.
std::vector<float> shares_at(const JsonNode& node, std::string_view key, std::size_t n_turns) {
  const JsonNode list = node.at(key);
  const std::span<const float> numbers = list.as_numbers();
  if (numbers.size() != n_turns) {
    list.fail(fmt::format("expected {} numbers, one a turn, found {}", n_turns, numbers.size()));
  }
  return {numbers.begin(), numbers.end()};
}

}  // namespace

TurnAttention read_turn_attention(const JsonNode& node, std::size_t n_turns) {
  return {shares_at(node, "mean", n_turns), shares_at(node, "from_last", n_turns)};
}

void read_sinks(const JsonNode& node, bool is_selected, AttentionDocument& document) {
  std::vector<std::span<const float>> heads;
  if (is_selected) {
    heads = node.as_number_lists();
  } else {
    for (const JsonNode& layer : node.as_list("a list of layers")) {
      const std::vector<std::span<const float>> of_layer = layer.as_number_lists();
      heads.insert(heads.end(), of_layer.begin(), of_layer.end());
    }
  }
  if (heads.size() != document.patterns.size()) {
    node.fail(fmt::format("expected one of each of {}, found {}",
                          counted(document.patterns.size(), "pattern"), heads.size()));
  }
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const std::span<const float> numbers = heads[i];
    if (!numbers.empty() && numbers.size() != document.query_tokens.size()) {
      node.fail(fmt::format("head {} of them: expected {} numbers, one a token, found {}", i,
                            document.query_tokens.size(), numbers.size()));
    }
    document.patterns[i].sink.assign(numbers.begin(), numbers.end());
  }
}

std::vector<RoutedLayer> read_router(const JsonNode& node, std::size_t n_tokens) {
  const std::vector<std::size_t> layers = read_indices(node.at("layers"));
  const std::vector<std::size_t> n_experts = read_indices(node.at("n_experts"));
  const auto experts = node.at("experts").as_list("a list of layers");
  const auto weights = node.at("weights").as_list("a list of layers");
  if (n_experts.size() != layers.size() || experts.size() != layers.size() ||
      weights.size() != layers.size()) {
    node.fail("expected n_experts, experts and weights of each of the layers");
  }
  std::vector<RoutedLayer> routed;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const ConstMatrix numbers = experts[i].as_matrix();
    const ConstMatrix factors = weights[i].as_matrix();
    if (numbers.rows != n_tokens || factors.rows != n_tokens || numbers.cols != factors.cols) {
      experts[i].fail(
          fmt::format("expected experts and weights of {}", counted(n_tokens, "token")));
    }
    RoutedTokens tokens{n_experts[i], numbers.cols, {}, {}};
    for (std::size_t token = 0; token < n_tokens; ++token) {
      for (std::size_t k = 0; k < numbers.cols; ++k) {
        const float expert = numbers(token, k);
        if (!(expert >= 0.0f && expert < static_cast<float>(n_experts[i]) &&
              expert == std::floor(expert))) {
          experts[i].fail(fmt::format("expected whole numbers below {}", n_experts[i]));
        }
        tokens.experts.push_back(static_cast<std::uint32_t>(expert));
        tokens.factors.push_back(factors(token, k));
      }
    }
    routed.push_back({layers[i], std::move(tokens)});
  }
  return routed;
}

}  // namespace attnviz
