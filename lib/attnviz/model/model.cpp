#include "attnviz/model/model.h"

#include <fmt/core.h>

#include <map>
#include <utility>

#include "attnviz/core/choices.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/model/different_projections.h"

namespace attnviz {

std::string_view positions_name(Positions positions) noexcept {
  return positions == Positions::kLearned    ? "learned"
         : positions == Positions::kRelative ? "relative"
                                             : word_for(kPositionChoices, positions);
}

Positions parse_positions(std::string_view name) {
  if (const auto positions = choice_named(kPositionChoices, name)) {
    return *positions;
  }
  throw Error(ErrorKind::kUsage,
              fmt::format("positions {}: expected none, sinusoidal, rope or alibi{}", quoted(name),
                          did_you_mean(name, choice_words(kPositionChoices))));
}

std::vector<std::size_t> key_value_heads(const LayerWeights& layer) {
  DifferentProjections keys;
  DifferentProjections values;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> different;
  std::vector<std::size_t> numbers;
  numbers.reserve(layer.heads.size());
  for (const HeadWeights& head : layer.heads) {
    const std::pair places(keys.add(head.key), values.add(head.value));
    numbers.push_back(different.try_emplace(places, different.size()).first->second);
  }
  return numbers;
}

std::vector<std::size_t> context_columns(const LayerWeights& layer) {
  std::vector<std::size_t> columns = {0};
  columns.reserve(layer.heads.size() + 1);
  for (const HeadWeights& head : layer.heads) {
    columns.push_back(columns.back() + head.d_value());
  }
  return columns;
}

std::vector<StoredMatrix> head_outputs(const LayerWeights& layer) {
  std::vector<StoredMatrix> outputs;
  outputs.reserve(layer.heads.size());
  std::size_t first_row = 0;
  for (const HeadWeights& head : layer.heads) {
    outputs.push_back(layer.output.weight.empty()
                          ? head.output
                          : layer.output.weight.row_block(first_row, head.d_value()));
    first_row += head.d_value();
  }
  return outputs;
}

namespace {

// The part of one of several heads.
Norm part_of(const Norm& norm, std::size_t head, std::size_t d_head) noexcept {
  if (norm.weight.size() <= d_head) {
    return norm;
  }
  Norm part = norm;
  part.weight = norm.weight.subspan(head * d_head, d_head);
  part.bias = norm.bias.empty() ? norm.bias : norm.bias.subspan(head * d_head, d_head);
  return part;
}

}  // namespace

Norm LayerWeights::query_norm_of(std::size_t head) const noexcept {
  return part_of(query_norm, head, heads[head].d_head());
}

Norm LayerWeights::key_norm_of(std::size_t head) const noexcept {
  const std::size_t d_head = heads[head].d_head();
  const std::size_t n_kv_heads = std::max(key_norm.weight.size() / d_head, std::size_t{1});
  return part_of(key_norm, head * n_kv_heads / heads.size(), d_head);
}

MixerKind LayerWeights::mixer() const noexcept {
  return !heads.empty()          ? MixerKind::kAttention
         : convolution.present() ? MixerKind::kConvolution
                                 : recurrence.kind;
}

void Model::set_name(std::string name, std::string family) {
  if (encoder != nullptr) {
    Model named = *encoder;
    named.set_name(name, family);
    encoder = std::make_shared<const Model>(std::move(named));
  }
  config.name = std::move(name);
  config.family = std::move(family);
}

std::size_t Model::n_heads() const noexcept {
  std::size_t most = 0;
  for (const LayerWeights& layer : layers) {
    most = std::max(most, layer.heads.size());
  }
  return most;
}

const LayerWeights& Model::first_attention() const noexcept {
  const auto found = std::find_if(layers.begin(), layers.end(),
                                  [](const LayerWeights& layer) { return !layer.heads.empty(); });
  return found == layers.end() ? layers.front() : *found;
}

bool Model::shares_keys() const noexcept {
  return std::any_of(layers.begin(), layers.end(),
                     [](const LayerWeights& layer) { return layer.keys_from.has_value(); });
}

std::set<std::size_t> Model::lending_layers() const {
  std::set<std::size_t> lending;
  for (const LayerWeights& layer : layers) {
    if (layer.keys_from) {
      lending.insert(*layer.keys_from);
    }
  }
  return lending;
}

bool Model::has_states() const noexcept {
  return std::any_of(layers.begin(), layers.end(),
                     [](const LayerWeights& layer) { return layer.recurrence.present(); });
}

}  // namespace attnviz
