#include "attnviz/attention/projected_heads.h"

#include <algorithm>
#include <iterator>

#include "attnviz/kernels/row_kernels.h"

namespace attnviz {

namespace {

// A tensor's floats, rounded up so that each tensor begins at a cache line.
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
  float* next = shaped(memory, 1, floats).data;
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

const Projection& ProjectedHeads::projection(std::size_t product) const noexcept {
  return product < first_key()     ? query_weights_[product]
         : product < first_value() ? key_weights_[product - first_key()]
                                   : value_weights_[product - first_value()];
}

// Whether the next product's weights are adjacent to this one's in memory, and of the same kind.
bool ProjectedHeads::goes_with_next(std::size_t product) const noexcept {
  const std::size_t next = product + 1;
  if (next == n_products() || next == first_key() || next == first_value() ||
      layer_.latents.present()) {
    return false;
  }
  const auto [weight, bias] = projection(product);
  const auto [next_weight, next_bias] = projection(next);
  if (!is_quantised(weight.type)) {
    return false;
  }
  StoredMatrix after = weight;
  after.data = static_cast<const std::byte*>(weight.data) +
               weight.cols * stored_bytes(weight.type, weight.stride);
  after.cols = next_weight.cols;
  return next_weight == after && next_bias.empty() == bias.empty() &&
         next_bias.data() == bias.data() + bias.size();
}

std::vector<ProjectedHeads::Products> ProjectedHeads::products(std::size_t most) const {
  std::vector<Products> all;
  for (std::size_t product = 0; product < n_products(); ++product) {
    if (!all.empty() && all.back().count < most && goes_with_next(product - 1)) {
      ++all.back().count;
    } else {
      all.push_back({product, 1});
    }
  }
  return all;
}

HeadSide ProjectedHeads::side_of(std::size_t product, std::size_t first,
                                 std::size_t count) const noexcept {
  const bool is_query = product < first_key();
  const auto factors = [&](const std::vector<float> JointFactors::*which) {
    return layer_.norms_heads_together
               ? std::span<const float>(tokens_.joint->*which).subspan(first, count)
               : std::span<const float>{};
  };
  return {projection(product), is_query ? query_norms_[product] : key_norms_[product - first_key()],
          is_query, factors(is_query ? &JointFactors::queries : &JointFactors::keys),
          layer_.norms_turned_heads};
}

void ProjectedHeads::project(Products products, const HeadInputs& inputs, std::size_t first,
                             MatrixBuffer& scratch) {
  if (products.count == 1) {
    return project_one(products.first, inputs, first, scratch);
  }
  const std::size_t count = std::min(kProjectedRows, tokens_.count - first);
  Projection together = projection(products.first);
  std::size_t bias = together.bias.size();
  for (std::size_t i = 1; i < products.count; ++i) {
    const Projection& next = projection(products.first + i);
    together.weight.cols += next.d_out();
    bias += next.bias.size();
  }
  together.bias = {together.bias.data(), bias};
  const Matrix all = shaped(scratch, count, together.d_out());
  const HeadInputs rows = inputs.row_block(first, count);
  project_side(together, products.first < first_key() ? rows.queries : rows.keys, all);
  std::size_t col = 0;
  for (std::size_t i = 0; i < products.count; ++i) {
    const std::size_t product = products.first + i;
    const std::size_t width = projection(product).d_out();
    finish(product, all.col_block(col, width), first);
    col += width;
  }
}

// Copies a product's output for the new tokens from `first` on to its tensor.
void ProjectedHeads::finish(std::size_t product, Matrix rows, std::size_t first) {
  const std::size_t position = tokens_.first + first;
  if (product >= first_value()) {
    const Matrix values = values_[product - first_value()].row_block(position, rows.rows);
    kernels::copy(rows, values, /*stream=*/false);
    return apply_norm(layer_.value_norm, values, values);
  }
  norm_and_rotate(side_of(product, first, rows.rows), rotation_, position, rows);
  if (product < first_key()) {
    kernels::copy(rows, queries_[product].row_block(first, rows.rows), /*stream=*/false);
  } else {
    keys_[product - first_key()].pack(rows, position);
  }
}

void ProjectedHeads::project_one(std::size_t product, const HeadInputs& inputs, std::size_t first,
                                 MatrixBuffer& scratch) {
  const std::size_t count = std::min(kProjectedRows, tokens_.count - first);
  const auto [queries, keys] = inputs.row_block(first, count);
  const std::size_t position = tokens_.first + first;
  if (product < first_key()) {
    project_rotated(side_of(product, first, count), rotation_, queries, position,
                    queries_[product].row_block(first, count));
  } else if (product < first_value()) {
    const Matrix rows = shaped(scratch, count, d_head(projection(product)));
    project_side(projection(product), keys, rows);
    finish(product, rows, first);
  } else {
    project_values(layer_, projection(product), keys,
                   values_[product - first_value()].row_block(position, count));
  }
}

HeadTensors ProjectedHeads::tensors(std::size_t index) const noexcept {
  return {queries_[query_of_[index]], &keys_[key_of_[index]],
          value_of_.empty() ? ConstMatrix{} : ConstMatrix(values_[value_of_[index]]),
          tokens_.first};
}

}  // namespace attnviz
