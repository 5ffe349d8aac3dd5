// The keys and values of the tokens that a model has seen, kept for the tokens that follow.
#pragma once

#include <cstddef>
#include <vector>

#include "attnviz/core/tensor.h"
#include "attnviz/kernels/products.h"
#include "attnviz/model/different_projections.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// The cache of one layer: keys and values, or the inputs of its convolution, or its states. What
/// heads share, as in grouped-query attention, is kept once.
class LayerCache {
 public:
  /// For texts of up to `max_tokens`. `layer` must outlive it. Throws what MatrixBuffer throws.
  LayerCache(const LayerWeights& layer, std::size_t max_tokens);

  /// Views of the first `n_tokens`, at most max_tokens; valid as long as the cache. The projection
  /// must belong to the layer. Keys are rotated and packed, [n_tokens, d_head]; values [n_tokens,
  /// d_value].
  kernels::KeyPanels keys(const Projection& key, std::size_t n_tokens) const noexcept;
  Matrix values(const Projection& value, std::size_t n_tokens) const noexcept;
  /// Inputs that a convolution looks back at, [n_tokens, n_channels].
  Matrix channels(std::size_t n_tokens) const noexcept;
  /// The states of a layer after the tokens so far, [1, n_kept()]. The caller updates them to those
  /// after the first `n_tokens`.
  Matrix take_state(std::size_t n_tokens) noexcept;
  /// Whether the next token may follow the first `n_tokens`: states cannot go back.
  bool continues(std::size_t n_tokens) const noexcept {
    return n_kept_ == 0 || n_tokens == 0 || n_tokens == n_state_tokens_;
  }
  /// Saves the states, and restores them.
  void mark();
  void return_to_mark() noexcept;

  /// Bytes that the cache takes.
  static double bytes(const LayerWeights& layer, std::size_t max_tokens);

 private:
  DifferentProjections keys_, values_;
  std::vector<float*> key_memory_, value_memory_;
  std::size_t n_shared_;  // numbers of a key that are not made by a projection
  std::size_t n_channels_;
  float* channel_memory_;
  std::size_t n_kept_;
  std::size_t n_state_tokens_ = 0;  // tokens that the states have seen
  float* state_memory_;
  std::vector<float> marked_;
  std::size_t n_marked_tokens_ = 0;
  MatrixBuffer memory_;
};

/// The caches of all layers of a model.
class KeyValueCache {
 public:
  /// As for LayerCache; memory is touched only as tokens come.
  KeyValueCache(const Model& model, std::size_t max_tokens);

  /// Tokens whose keys and values are cached, in all layers.
  std::size_t n_tokens() const noexcept { return n_tokens_; }
  std::size_t max_tokens() const noexcept { return max_tokens_; }
  /// Sets the number of tokens: more once all layers have cached them, or fewer, to forget the last
  /// ones. Precondition: at most max_tokens().
  void set_tokens(std::size_t n_tokens) noexcept {
    n_tokens_ = n_tokens;
    n_marked_ = n_marked_ > n_tokens ? 0 : n_marked_;  // other tokens may follow
  }
  /// Whether more tokens can follow: all states have seen exactly n_tokens().
  bool continues() const noexcept;
  /// Saves the states after n_tokens(), replacing those saved before.
  void mark();
  /// Restores the saved states; false when they belong to another number of tokens.
  bool return_to_mark() noexcept;

  LayerCache& layer(std::size_t index) noexcept { return layers_[index]; }

  /// Bytes that the cache takes.
  static double bytes(const Model& model, std::size_t max_tokens);

 private:
  std::vector<LayerCache> layers_;
  std::size_t max_tokens_;
  std::size_t n_tokens_ = 0;
  std::size_t n_marked_ = 0;  // 0: nothing is saved
};

}  // namespace attnviz
