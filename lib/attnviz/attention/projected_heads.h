// The queries, keys and values of some heads of a layer.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "attnviz/attention/head_math.h"
#include "attnviz/attention/key_value_cache.h"
#include "attnviz/attention/row_weights.h"
#include "attnviz/core/tensor.h"
#include "attnviz/kernels/products.h"
#include "attnviz/model/different_projections.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// Tokens that are projected at once: whole register tiles and panels of keys, and enough of them
/// that packing the weights, which happens anew for each block of tokens, takes almost no time.
inline constexpr std::size_t kProjectedRows = 192;

/// The tokens to project: a whole text, or the tokens that follow cached ones.
struct NewTokens {
  std::size_t count = 0;
  std::size_t first = 0;        // position of the first one in the text
  LayerCache* cache = nullptr;  // holds earlier tokens' keys and values, and gets the new ones
  const JointFactors* joint = nullptr;  // for layers that norm their heads together
  bool has_keys = false;                // another layer has already filled the cache

  /// Length of the text so far.
  std::size_t n_tokens() const noexcept { return first + count; }
};

/// The projected tokens of heads of one layer. What heads share, as keys and values in
/// grouped-query attention, is computed and kept once.
class ProjectedHeads {
 public:
  /// Uses `memory` and enlarges it where needed: tokens times the columns of all products, or only
  /// of the queries where a cache takes keys and values. `memory`, `layer`, `rotation`, the cache
  /// and the joint factors must outlive it. Throws what MatrixBuffer throws.
  ProjectedHeads(const LayerWeights& layer, const Rotation& rotation,
                 std::span<const std::size_t> heads, const NewTokens& tokens, bool with_values,
                 MatrixBuffer& memory);

  /// A range of the matrix products to compute, each over all new tokens.
  struct Products {
    std::size_t first;
    std::size_t count;
  };
  /// All products, in groups of at most `most` (at least 1). A group consists of quantised weights
  /// that are adjacent in memory, so that tokens are converted to integers only once for all of
  /// them; other products stand alone.
  std::vector<Products> products(std::size_t most) const;
  std::size_t n_products() const noexcept {
    return query_weights_.size() +
           (tokens_.has_keys ? 0 : key_weights_.size() + value_weights_.size());
  }
  /// The number of columns of all products together.
  double width() const noexcept;

  /// Computes kProjectedRows rows of some products(), or as many as are left: those of the new
  /// tokens from `first` on, a multiple of kProjectedRows. Different blocks and products may be
  /// computed by different threads at the same time, each with its own scratch. The bits of a
  /// product do not depend on which others it is grouped with.
  void project(Products products, const HeadInputs& inputs, std::size_t first,
               MatrixBuffer& scratch);

  /// The tensors of the head at `index` in the constructor's `heads`; without values when these
  /// were not wanted.
  HeadTensors tensors(std::size_t index) const noexcept;

 private:
  void take_memory(MatrixBuffer& memory);
  // Length of keys, with the part that heads share.
  std::size_t d_head(const Projection& key) const noexcept {
    return key.d_out() + layer_.latents.n_shared();
  }
  // Products are ordered: queries, then keys, then values.
  std::size_t first_key() const noexcept { return queries_.size(); }
  std::size_t first_value() const noexcept { return queries_.size() + keys_.size(); }
  const Projection& projection(std::size_t product) const noexcept;
  bool goes_with_next(std::size_t product) const noexcept;
  HeadSide side_of(std::size_t product, std::size_t first, std::size_t count) const noexcept;
  void finish(std::size_t product, Matrix rows, std::size_t first);
  void project_one(std::size_t product, const HeadInputs& inputs, std::size_t first,
                   MatrixBuffer& scratch);

  const LayerWeights& layer_;
  const Rotation& rotation_;
  NewTokens tokens_;
  DifferentProjections query_weights_, key_weights_, value_weights_;
  std::vector<Norm> query_norms_, key_norms_;              // of each product
  std::vector<Matrix> queries_;                            // [new tokens, d_head] each
  std::vector<kernels::KeyPanels> keys_;                   // of all tokens
  std::vector<Matrix> values_;                             // [n_tokens, d_value]
  std::vector<std::size_t> query_of_, key_of_, value_of_;  // by head
};

}  // namespace attnviz
