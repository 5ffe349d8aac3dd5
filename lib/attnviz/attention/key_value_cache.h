// The keys and values of the tokens that a model has seen, kept for those that follow.
#pragma once

#include <cstddef>
#include <vector>

#include "attnviz/core/tensor.h"
#include "attnviz/kernels/key_panels.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// The place of `projection` among `projections`, those that heads share once; their number when it
/// is not there.
std::size_t find_place(const Projection& projection,
                       const std::vector<const Projection*>& projections);
/// The same, put behind them if it is new.
std::size_t place_of(const Projection& projection, std::vector<const Projection*>& projections);

/// Those of one layer, or what its convolution looks back at. What heads share, as in grouped-query
/// attention, is kept once.
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

  /// Bytes that it takes.
  static double bytes(const LayerWeights& layer, std::size_t max_tokens);

 private:
  std::vector<const Projection*> keys_, values_;
  std::vector<float*> key_memory_, value_memory_;
  std::size_t n_channels_;
  float* channel_memory_;
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
  void set_tokens(std::size_t n_tokens) noexcept { n_tokens_ = n_tokens; }

  LayerCache& layer(std::size_t index) noexcept { return layers_[index]; }

  /// Bytes that it takes.
  static double bytes(const Model& model, std::size_t max_tokens);

 private:
  std::vector<LayerCache> layers_;
  std::size_t max_tokens_;
  std::size_t n_tokens_ = 0;
};

}  // namespace attnviz
