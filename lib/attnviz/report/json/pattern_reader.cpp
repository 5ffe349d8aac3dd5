#include "attnviz/report/json/attention_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "attnviz/core/choices.h"
#include "attnviz/core/message.h"
#include "attnviz/report/json/document_json.h"

namespace attnviz {

namespace {

// One number per turn.
std::vector<float> shares_at(const JsonNode& node, std::string_view key, std::size_t n_turns) {
  const JsonNode list = node.at(key);
  const std::span<const float> numbers = list.as_numbers();
  if (numbers.size() != n_turns) {
    list.fail(
        fmt::format("expected {} numbers, one for each turn, found {}", n_turns, numbers.size()));
  }
  return {numbers.begin(), numbers.end()};
}

// Reads a rectangle [layer][head]; `layers` and `heads` name them, else they are counted from 0.
void read_layers(const std::vector<JsonNode>& layers, const std::vector<std::size_t>& layer_names,
                 const std::vector<std::size_t>& head_names, AttentionDocument& document) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const auto heads = layers[i].as_list("a list of heads' [query][key] matrices");
    if (heads.size() != head_names.size()) {
      layers[i].fail(fmt::format("expected {} heads, found {}", head_names.size(), heads.size()));
    }
    for (std::size_t j = 0; j < heads.size(); ++j) {
      document.patterns.push_back({{layer_names[i], head_names[j]}, heads[j].as_matrix()});
    }
  }
}

std::vector<std::size_t> counted_from_zero(std::size_t count) {
  std::vector<std::size_t> names(count);
  for (std::size_t i = 0; i < count; ++i) {
    names[i] = i;
  }
  return names;
}

HeadId read_head(const JsonNode& node) {
  HeadId head;
  read_optional(node, "layer", head.layer);
  read_optional(node, "head", head.head);
  if (std::max(head.layer, head.head) > kMostIndex) {
    node.fail(fmt::format("expected numbers of layers and heads up to {}", kMostIndex));
  }
  return head;
}

RolloutRequest read_rollout(const JsonNode& node) {
  RolloutRequest rollout;
  read_optional(node, "residual", rollout.residual);
  if (!(rollout.residual >= 0.0f && rollout.residual < 1.0f)) {
    node.at("residual")
        .fail(fmt::format("expected a number from 0 to below 1, found {}", rollout.residual));
  }
  read_optional(node, "over", rollout.over,
                [](std::string_view word) { return parse_choice("rollout", word, kRolloutOvers); });
  read_optional(node, "weighted", rollout.weighted);
  return rollout;
}

// The kind of average that `node` states, and the heads averaged: those in `averaged`, else every
// head of every listed layer.
DocumentAverage read_average(const JsonNode& root, const JsonNode& node) {
  DocumentAverage average;
  if (node.key() == "rollout") {
    average = {AverageOver::kAll, {}, read_rollout(node)};
  } else {
    average.over = parsed(node, parse_average);
  }
  if (const auto averaged = root.find("averaged")) {
    for (const JsonNode& entry : averaged->as_list("a list of heads")) {
      const HeadId head = read_head(entry);
      if (!average.heads.empty() && head <= average.heads.back()) {
        entry.fail("expected different heads in rising order");
      }
      average.heads.push_back(head);
    }
    if (average.heads.empty()) {
      averaged->fail("expected at least one head, found none");
    }
    return average;
  }
  constexpr std::size_t kMostHeads = 1'000'000;
  const std::vector<std::size_t> heads = read_indices(root.at("heads"));
  const std::vector<std::size_t> layers = read_indices(root.at("layers"));
  if (layers.size() > kMostHeads / std::max<std::size_t>(heads.size(), 1)) {
    node.fail(fmt::format("expected at most {} heads in layers and heads", kMostHeads));
  }
  if (heads.empty() || layers.empty()) {
    node.fail("expected at least one head in layers and heads, found none");
  }
  for (const std::size_t layer : layers) {
    for (const std::size_t head : heads) {
      average.heads.push_back({layer, head});
    }
  }
  return average;
}

// Checks that means over heads, or over layers, belong to listed layers or heads.
void require_same_groups(const JsonNode& averaged, const AttentionDocument& document) {
  if (document.average->over == AverageOver::kAll) {
    return;
  }
  const bool by_layer = document.average->over == AverageOver::kHeads;
  std::set<std::size_t> of_means, of_patterns;
  for (const HeadId head : document.average->heads) {
    of_means.insert(by_layer ? head.layer : head.head);
  }
  for (const DocumentPattern& pattern : document.patterns) {
    of_patterns.insert(by_layer ? pattern.head.layer : pattern.head.head);
  }
  if (of_means != of_patterns) {
    averaged.fail(by_layer ? "expected heads in each of the layers, and in no others"
                           : "expected each of the heads in some layer, and no others");
  }
}

void read_rectangle(const JsonNode& root, const JsonNode& attention, AttentionDocument& document) {
  const auto layers = attention.as_list("a list of layers");
  if (layers.empty()) {
    attention.fail("expected at least one layer, found none");
  }
  const auto rollout = root.find("rollout");
  if (const auto average = rollout ? rollout : root.find("average")) {
    document.average = read_average(root, *average);
  }
  const auto names = [&root, &document](std::string_view key, std::size_t count,
                                        AverageOver averaged) {
    const auto node = root.find(key);
    const bool is_mean = document.average && (document.average->over == averaged ||
                                              document.average->over == AverageOver::kAll);
    if (!node || (is_mean && count == 1)) {
      return counted_from_zero(count);
    }
    std::vector<std::size_t> list = read_indices(*node);
    if (list.size() != count || !std::is_sorted(list.begin(), list.end()) ||
        std::adjacent_find(list.begin(), list.end()) != list.end()) {
      node->fail(fmt::format("expected {} different indices in rising order", count));
    }
    return list;
  };
  const std::size_t n_heads =
      layers.front().as_list("a list of heads' [query][key] matrices").size();
  read_layers(layers, names("layers", layers.size(), AverageOver::kLayers),
              names("heads", n_heads, AverageOver::kHeads), document);
  if (const auto averaged = root.find("averaged"); averaged && document.average) {
    require_same_groups(*averaged, document);
  }
  name_means(document);
}

void read_selected(const JsonNode& selected, AttentionDocument& document) {
  for (const JsonNode& entry : selected.as_list("a list of heads")) {
    const HeadId head = read_head(entry);
    if (!document.patterns.empty() && head <= document.patterns.back().head) {
      entry.fail("expected different heads in rising order");
    }
    document.patterns.push_back({head, entry.at("attention").as_matrix()});
  }
  if (document.patterns.empty()) {
    selected.fail("expected at least one head, found none");
  }
}

}  // namespace

void read_patterns(const JsonNode& object, AttentionDocument& document) {
  if (const auto selected = object.find("selected")) {
    read_selected(*selected, document);
  } else {
    read_rectangle(object, object.at("attention"), document);
  }
}

void read_nested_list(const JsonNode& root, AttentionDocument& document) {
  if (root.kind() != JsonKind::kList) {
    document.patterns.push_back({{0, 0}, root.as_matrix()});
    return;
  }
  const auto items = root.as_list("[q][k], [head][q][k] or [layer][head][q][k]");
  if (items.front().kind() == JsonKind::kList) {
    const std::size_t n_heads = items.front().as_list("a list of heads").size();
    return read_layers(items, counted_from_zero(items.size()), counted_from_zero(n_heads),
                       document);
  }
  for (std::size_t head = 0; head < items.size(); ++head) {
    document.patterns.push_back({{0, head}, items[head].as_matrix()});
  }
}

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
    node.fail(fmt::format("expected one for each of {}, found {}",
                          counted(document.patterns.size(), "pattern"), heads.size()));
  }
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const std::span<const float> numbers = heads[i];
    if (!numbers.empty() && numbers.size() != document.query_tokens.size()) {
      node.fail(fmt::format("head {} of them: expected {} numbers, one for each token, found {}", i,
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

std::vector<DocumentWords::Source> read_sources(const JsonNode& root,
                                                const AttentionDocument& document) {
  const auto ranges = root.find("merged_ranges");
  const auto ids = root.find("merged_token_ids");
  if (!ranges || !ids) {
    return {};
  }
  const auto range_list = read_index_lists(*ranges);
  const auto id_list = read_index_lists(*ids);
  const std::size_t n_words = document.query_tokens.size();
  for (const auto& [node, count] :
       {std::pair{*ranges, range_list.size()}, std::pair{*ids, id_list.size()}}) {
    if (count != n_words) {
      node.fail(
          fmt::format("expected one for each of {}, found {}", counted(n_words, "token"), count));
    }
  }
  std::vector<DocumentWords::Source> sources;
  for (std::size_t word = 0; word < n_words; ++word) {
    const std::vector<std::size_t>& range = range_list[word];
    const bool is_range = range.size() == 2 && range[0] <= range[1] &&
                          (!document.text || range[1] <= document.text->size());
    if (!is_range) {
      ranges->fail(fmt::format("expected bytes [begin, end) of the text (item {})", word));
    }
    sources.push_back({range[0], range[1], {id_list[word].begin(), id_list[word].end()}});
  }
  return sources;
}

}  // namespace attnviz
