#include "attnviz/attention/projected_heads.h"

#include <algorithm>

#include "attnviz/attention/head_math.h"
#include "attnviz/kernels/matmul.h"

namespace attnviz {

namespace {

bool same_projection(const Projection& a, const Projection& b) noexcept {
  return a.weight.data == b.weight.data && a.weight.rows == b.weight.rows &&
         a.weight.cols == b.weight.cols && a.weight.stride == b.weight.stride &&
         a.bias.data() == b.bias.data() && a.bias.size() == b.bias.size();
}

// The place of `projection` among those that are there already; made for it if it is new.
template <class Tensor>
std::size_t place_of(const Projection& projection, std::size_t n_tokens,
                     std::vector<const Projection*>& projections, std::vector<Tensor>& tensors) {
  const auto found = std::find_if(
      projections.begin(), projections.end(),
      [&projection](const Projection* other) { return same_projection(projection, *other); });
  const auto place = static_cast<std::size_t>(found - projections.begin());
  if (found == projections.end()) {
    projections.push_back(&projection);
    tensors.emplace_back(n_tokens, projection.d_out());
  }
  return place;
}

}  // namespace

ProjectedHeads::ProjectedHeads(const Model& model, const LayerWeights& layer,
                               std::span<const std::size_t> heads, std::size_t n_tokens,
                               bool with_values)
    : model_(model) {
  query_of_.reserve(heads.size());
  key_of_.reserve(heads.size());
  value_of_.reserve(heads.size());
  for (const std::size_t head : heads) {
    const HeadWeights& weights = layer.heads[head];
    query_of_.push_back(place_of(weights.query, n_tokens, query_weights_, queries_));
    key_of_.push_back(place_of(weights.key, n_tokens, key_weights_, keys_));
    if (with_values) {
      value_of_.push_back(place_of(weights.value, n_tokens, value_weights_, values_));
    }
  }
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
    project_rotated(model_, *query_weights_[product], rows, first,
                    queries_[product].view().row_block(first, rows.rows));
  } else if (product < first_value) {
    project_keys(product - queries_.size(), rows, first, scratch);
  } else {
    const std::size_t value = product - first_value;
    kernels::matmul(rows, value_weights_[value]->weight, value_weights_[value]->bias,
                    values_[value].view().row_block(first, rows.rows));
  }
}

void ProjectedHeads::project_keys(std::size_t index, ConstMatrix x, std::size_t first,
                                  MatrixBuffer& scratch) {
  const Projection& projection = *key_weights_[index];
  if (scratch.cols() != projection.d_out()) {
    scratch = MatrixBuffer(kProjectedRows, projection.d_out());
  }
  const Matrix keys = scratch.view().row_block(0, x.rows);
  project_rotated(model_, projection, x, first, keys);
  keys_[index].pack(keys, first);
}

HeadTensors ProjectedHeads::tensors(std::size_t index) const noexcept {
  return {queries_[query_of_[index]].view(), &keys_[key_of_[index]],
          value_of_.empty() ? ConstMatrix{} : values_[value_of_[index]].view()};
}

}  // namespace attnviz
