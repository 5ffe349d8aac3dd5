#include "attnviz/attention/projected_heads.h"

#include <algorithm>
#include <iterator>

#include "attnviz/kernels/matmul.h"

namespace attnviz {

namespace {

// The place of `projection` among those that are there already, or behind them if it is new.
std::size_t place_of(const Projection& projection, std::vector<const Projection*>& projections) {
  const auto found =
      std::find_if(projections.begin(), projections.end(),
                   [&projection](const Projection* other) { return projection == *other; });
  const auto place = static_cast<std::size_t>(found - projections.begin());
  if (found == projections.end()) {
    projections.push_back(&projection);
  }
  return place;
}

// A tensor's floats and what is left free behind them, so that each begins with a cache line.
std::size_t with_margin(std::size_t n_floats) noexcept {
  constexpr std::size_t kLine = 16;
  return (n_floats + kLine - 1) / kLine * kLine;
}

}  // namespace

ProjectedHeads::ProjectedHeads(const LayerWeights& layer, const Rotation& rotation,
                               std::span<const std::size_t> heads, std::size_t n_tokens,
                               bool with_values, MatrixBuffer& memory)
    : layer_(layer), rotation_(rotation) {
  query_of_.reserve(heads.size());
  key_of_.reserve(heads.size());
  value_of_.reserve(heads.size());
  for (const std::size_t head : heads) {
    const HeadWeights& weights = layer.heads[head];
    query_of_.push_back(place_of(weights.query, query_weights_));
    key_of_.push_back(place_of(weights.key, key_weights_));
    if (with_values) {
      value_of_.push_back(place_of(weights.value, value_weights_));
    }
  }
  take_memory(n_tokens, memory);
}

void ProjectedHeads::take_memory(std::size_t n_tokens, MatrixBuffer& memory) {
  const auto key_floats = [n_tokens](const Projection* key) {
    return with_margin(kernels::KeyPanels::n_floats(n_tokens, key->d_out()));
  };
  const auto row_floats = [n_tokens](const Projection* projection) {
    return with_margin(n_tokens * projection->d_out());
  };
  std::size_t floats = 0;
  for (const Projection* key : key_weights_) {
    floats += key_floats(key);
  }
  for (const auto* all : {&query_weights_, &value_weights_}) {
    for (const Projection* projection : *all) {
      floats += row_floats(projection);
    }
  }
  if (memory.cols() < floats) {
    memory = {};  // before more is taken
    memory = MatrixBuffer(1, floats);
  }
  float* next = memory.view().data;
  for (const Projection* key : key_weights_) {
    keys_.emplace_back(n_tokens, key->d_out(), next);
    next += key_floats(key);
  }
  const auto take_rows = [&](const Projection* projection) {
    const Matrix rows{next, n_tokens, projection->d_out(), projection->d_out()};
    next += row_floats(projection);
    return rows;
  };
  std::transform(query_weights_.begin(), query_weights_.end(), std::back_inserter(queries_),
                 take_rows);
  std::transform(value_weights_.begin(), value_weights_.end(), std::back_inserter(values_),
                 take_rows);
}

double ProjectedHeads::width() const noexcept {
  std::size_t width = 0;
  for (const auto* all : {&query_weights_, &key_weights_, &value_weights_}) {
    for (const Projection* projection : *all) {
      width += projection->d_out();
    }
  }
  return static_cast<double>(width);
}

void ProjectedHeads::project(std::size_t product, ConstMatrix x, std::size_t first,
                             MatrixBuffer& scratch) {
  const ConstMatrix rows = x.row_block(first, std::min(kProjectedRows, x.rows - first));
  const std::size_t first_value = queries_.size() + keys_.size();
  if (product < queries_.size()) {
    project_rotated(*query_weights_[product], layer_.query_norm, rotation_, rows, first,
                    queries_[product].row_block(first, rows.rows));
  } else if (product < first_value) {
    project_keys(product - queries_.size(), rows, first, scratch);
  } else {
    const std::size_t value = product - first_value;
    kernels::matmul(rows, value_weights_[value]->weight, value_weights_[value]->bias,
                    values_[value].row_block(first, rows.rows));
  }
}

void ProjectedHeads::project_keys(std::size_t index, ConstMatrix x, std::size_t first,
                                  MatrixBuffer& scratch) {
  const Projection& projection = *key_weights_[index];
  if (scratch.cols() != projection.d_out()) {
    scratch = MatrixBuffer(kProjectedRows, projection.d_out());
  }
  const Matrix keys = scratch.view().row_block(0, x.rows);
  project_rotated(projection, layer_.key_norm, rotation_, x, first, keys);
  keys_[index].pack(keys, first);
}

HeadTensors ProjectedHeads::tensors(std::size_t index) const noexcept {
  return {queries_[query_of_[index]], &keys_[key_of_[index]],
          value_of_.empty() ? ConstMatrix{} : ConstMatrix(values_[value_of_[index]])};
}

}  // namespace attnviz
