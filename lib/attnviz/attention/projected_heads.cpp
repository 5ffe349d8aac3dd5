#include "attnviz/attention/projected_heads.h"

#include <algorithm>
#include <iterator>

namespace attnviz {

namespace {

// A tensor's floats and what is left free behind them, so that each begins with a cache line.
std::size_t with_margin(std::size_t n_floats) noexcept {
  constexpr std::size_t kLine = 16;
  return (n_floats + kLine - 1) / kLine * kLine;
}

}  // namespace

ProjectedHeads::ProjectedHeads(const LayerWeights& layer, const Rotation& rotation,
                               std::span<const std::size_t> heads, const NewTokens& tokens,
                               bool with_values, MatrixBuffer& memory)
    : layer_(layer), rotation_(rotation), tokens_(tokens) {
  query_of_.reserve(heads.size());
  key_of_.reserve(heads.size());
  value_of_.reserve(heads.size());
  for (const std::size_t head : heads) {
    const HeadWeights& weights = layer.heads[head];
    query_of_.push_back(query_weights_.add(weights.query));
    query_norms_.resize(query_weights_.size(), layer.query_norm_of(head));
    key_of_.push_back(key_weights_.add(weights.key));
    key_norms_.resize(key_weights_.size(), layer.key_norm_of(head));
    if (with_values) {
      value_of_.push_back(value_weights_.add(weights.value));
    }
  }
  take_memory(memory);
}

void ProjectedHeads::take_memory(MatrixBuffer& memory) {
  const bool is_kept = tokens_.cache != nullptr;
  const auto key_floats = [&](const Projection* key) {
    return is_kept ? 0 : with_margin(kernels::KeyPanels::n_floats(tokens_.count, d_head(*key)));
  };
  const auto row_floats = [&](const Projection* projection) {
    return with_margin(tokens_.count * projection->d_out());
  };
  std::size_t floats = 0;
  for (const Projection* query : query_weights_.list()) {
    floats += row_floats(query);
  }
  for (const Projection* key : key_weights_.list()) {
    floats += key_floats(key);
  }
  for (const Projection* value : value_weights_.list()) {
    floats += is_kept ? 0 : row_floats(value);
  }
  if (memory.cols() < floats) {
    memory = {};  // before more is taken
    memory = MatrixBuffer(1, floats);
  }
  float* next = memory.view().data;
  keys_.reserve(key_weights_.size());
  for (const Projection* key : key_weights_.list()) {
    keys_.push_back(is_kept ? tokens_.cache->keys(*key, tokens_.n_tokens())
                            : kernels::KeyPanels(tokens_.count, d_head(*key), next));
    next += key_floats(key);
  }
  const auto take_rows = [&](const Projection* projection) {
    const Matrix rows{next, tokens_.count, projection->d_out(), projection->d_out()};
    next += row_floats(projection);
    return rows;
  };
  std::ranges::transform(query_weights_.list(), std::back_inserter(queries_), take_rows);
  std::ranges::transform(
      value_weights_.list(), std::back_inserter(values_), [&](const Projection* value) {
        return is_kept ? tokens_.cache->values(*value, tokens_.n_tokens()) : take_rows(value);
      });
}

double ProjectedHeads::width() const noexcept {
  std::size_t width = 0;
  for (const auto* all : {&query_weights_, &key_weights_, &value_weights_}) {
    for (const Projection* projection : all->list()) {
      width += projection->d_out();
    }
  }
  return static_cast<double>(width);
}

void ProjectedHeads::project(std::size_t product, const HeadInputs& inputs, std::size_t first,
                             MatrixBuffer& scratch) {
  const std::size_t count = std::min(kProjectedRows, tokens_.count - first);
  const auto [queries, keys] = inputs.row_block(first, count);
  const std::size_t position = tokens_.first + first;
  const std::size_t first_value = queries_.size() + keys_.size();
  const auto factors = [&](const std::vector<float> JointFactors::*which) {
    return layer_.norms_heads_together
               ? std::span<const float>(tokens_.joint->*which).subspan(first, count)
               : std::span<const float>{};
  };
  if (product < queries_.size()) {
    project_rotated({query_weights_[product], query_norms_[product], /*is_query=*/true,
                     factors(&JointFactors::queries)},
                    rotation_, queries, position, queries_[product].row_block(first, count));
  } else if (product < first_value) {
    const std::size_t key = product - queries_.size();
    project_keys(key, {key_weights_[key], key_norms_[key], false, factors(&JointFactors::keys)},
                 keys, position, scratch);
  } else {
    const std::size_t value = product - first_value;
    project_values(layer_, value_weights_[value], keys, values_[value].row_block(position, count));
  }
}

void ProjectedHeads::project_keys(std::size_t index, const HeadSide& side, ConstMatrix x,
                                  std::size_t position, MatrixBuffer& scratch) {
  if (const std::size_t width = d_head(side.projection); scratch.cols() != width) {
    scratch = MatrixBuffer(kProjectedRows, width);
  }
  const Matrix keys = scratch.view().row_block(0, x.rows);
  project_rotated(side, rotation_, x, position, keys);
  keys_[index].pack(keys, position);
}

HeadTensors ProjectedHeads::tensors(std::size_t index) const noexcept {
  return {queries_[query_of_[index]], &keys_[key_of_[index]],
          value_of_.empty() ? ConstMatrix{} : ConstMatrix(values_[value_of_[index]]),
          tokens_.first};
}

}  // namespace attnviz
