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

/// Tokens that are projected at once: whole register tiles and panels of keys, and so many that
/// packing the weights, which is done anew for each block of tokens, takes next to no time.
inline constexpr std::size_t kProjectedRows = 192;

/// What is projected: all tokens of a text, or those behind tokens whose keys and values are kept.
struct NewTokens {
  std::size_t count = 0;
  std::size_t first = 0;        // their place in the text
  LayerCache* cache = nullptr;  // has the keys and values of those before, and gets those of these
  const JointFactors* joint = nullptr;  // of layers that norm their heads together
  bool has_keys = false;                // another layer has put keys and values into the cache

  /// Of the text, so far.
  std::size_t n_tokens() const noexcept { return first + count; }
};

/// The projected tokens of heads of one layer. What heads share, as keys and values in
/// grouped-query attention, is computed and kept once.
class ProjectedHeads {
 public:
  /// Takes `memory`, and more of it where that is too little: the tokens times the columns of all
  /// products, or of those of queries where a cache takes keys and values. `memory`, `layer`,
  /// `rotation`, the cache and the joint factors must outlive it. Throws what MatrixBuffer throws.
  ProjectedHeads(const LayerWeights& layer, const Rotation& rotation,
                 std::span<const std::size_t> heads, const NewTokens& tokens, bool with_values,
                 MatrixBuffer& memory);

  /// Some of the matrix products to be done, each over all new tokens.
  struct Products {
    std::size_t first;
    std::size_t count;
  };
  /// All of them, at most `most` at a time, which is at least 1: of quantised weights that lie one
  /// behind the other, as tokens become integers once for them all; others one by one.
  std::vector<Products> products(std::size_t most) const;
  std::size_t n_products() const noexcept {
    return query_weights_.size() +
           (tokens_.has_keys ? 0 : key_weights_.size() + value_weights_.size());
  }
  /// The columns of all products together.
  double width() const noexcept;

  /// Does kProjectedRows rows of some products(), or as many as there are: those of the new tokens
  /// from `first` on, a multiple of kProjectedRows. Different blocks and products may be done by
  /// different threads at the same time, each with a scratch of its own. The bits of a product do
  /// not depend on which others it is done with.
  void project(Products products, const HeadInputs& inputs, std::size_t first,
               MatrixBuffer& scratch);

  /// Of the head at `index` among those that were given; without values when these were not wanted.
  HeadTensors tensors(std::size_t index) const noexcept;

 private:
  void take_memory(MatrixBuffer& memory);
  // Of keys; with the part that heads share.
  std::size_t d_head(const Projection& key) const noexcept {
    return key.d_out() + layer_.latents.n_shared();
  }
  // Queries come first, then keys, then values.
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
  std::vector<Norm> query_norms_, key_norms_;              // of each
  std::vector<Matrix> queries_;                            // [new tokens, d_head] each
  std::vector<kernels::KeyPanels> keys_;                   // of all tokens
  std::vector<Matrix> values_;                             // [n_tokens, d_value]
  std::vector<std::size_t> query_of_, key_of_, value_of_;  // by head
};

}  // namespace attnviz
