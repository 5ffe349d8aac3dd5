// The keys and values of the tokens that a model has seen, kept for those that follow.
#pragma once

#include <cstddef>
#include <vector>

#include "attnviz/core/tensor.h"
#include "attnviz/kernels/products.h"
#include "attnviz/model/different_projections.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// Those of one layer, or what its convolution looks back at, or its states. What heads share, as
/// in grouped-query attention, is kept once.
class LayerCache {
 public:
  /// For texts of up to `max_tokens`. `layer` must outlive it. Throws what MatrixBuffer throws.
  LayerCache(const LayerWeights& layer, std::size_t max_tokens);

  /// Views of the first `n_tokens`, at most max_tokens; valid as long as the cache. The projection
  /// is one of the layer's. Keys are rotated and packed, [n_tokens, d_head]; values [n_tokens,
  /// d_value].
  kernels::KeyPanels keys(const Projection& key, std::size_t n_tokens) const noexcept;
  Matrix values(const Projection& value, std::size_t n_tokens) const noexcept;
  /// Of a convolution: what it looks back at, [n_tokens, n_channels].
  Matrix channels(std::size_t n_tokens) const noexcept;
  /// Of a layer with states: what it keeps of the tokens until now, [1, n_kept()], to be
  /// made that of the first `n_tokens`.
  Matrix take_state(std::size_t n_tokens) noexcept;
  /// Whether the next token may come behind the first `n_tokens`: states cannot go back.
  bool continues(std::size_t n_tokens) const noexcept {
    return n_kept_ == 0 || n_tokens == 0 || n_tokens == n_state_tokens_;
  }
  /// Keeps them, for taking them back.
  void mark();
  void return_to_mark() noexcept;

  /// Bytes that it takes.
  static double bytes(const LayerWeights& layer, std::size_t max_tokens);

 private:
  DifferentProjections keys_, values_;
  std::vector<float*> key_memory_, value_memory_;
  std::size_t n_shared_;  // numbers of a key that no projection makes
  std::size_t n_channels_;
  float* channel_memory_;
  std::size_t n_kept_;
  std::size_t n_state_tokens_ = 0;  // that the states are of
  float* state_memory_;
  std::vector<float> marked_;
  std::size_t n_marked_tokens_ = 0;
  MatrixBuffer memory_;
};

/// Those of a model's layers.
class KeyValueCache {
 public:
  /// As for LayerCache; memory is touched only as tokens come.
  KeyValueCache(const Model& model, std::size_t max_tokens);

  /// Tokens whose keys and values are there, in all layers.
  std::size_t n_tokens() const noexcept { return n_tokens_; }
  std::size_t max_tokens() const noexcept { return max_tokens_; }
  /// Says how many there are now: more when all layers have got them, or fewer, to forget the last
  /// ones. Precondition: at most max_tokens().
  void set_tokens(std::size_t n_tokens) noexcept {
    n_tokens_ = n_tokens;
    n_marked_ = n_marked_ > n_tokens ? 0 : n_marked_;  // other tokens may come
  }
  /// Whether more can come: all states are those of as many tokens as there are.
  bool continues() const noexcept;
  /// Keeps the states of the tokens that there are, in place of those it was told to keep before.
  void mark();
  /// Takes them back; false when they are of another number of tokens than there are.
  bool return_to_mark() noexcept;

  LayerCache& layer(std::size_t index) noexcept { return layers_[index]; }

  /// Bytes that it takes.
  static double bytes(const Model& model, std::size_t max_tokens);

 private:
  std::vector<LayerCache> layers_;
  std::size_t max_tokens_;
  std::size_t n_tokens_ = 0;
  std::size_t n_marked_ = 0;  // 0: nothing is marked
};

}  // namespace attnviz
