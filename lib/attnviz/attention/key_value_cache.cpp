#include "attnviz/attention/key_value_cache.h"

#include <algorithm>

namespace attnviz {

namespace {

std::size_t key_floats(std::size_t d_head, std::size_t max_tokens) {
  const std::size_t keys = kernels::KeyPanels::rounded_up(max_tokens);
  return checked_product({keys, d_head}, "the keys of a text");
}

// Rounded up to whole cache lines.
std::size_t value_floats(const Projection& value, std::size_t max_tokens) {
  constexpr std::size_t kLine = 16;
  return (checked_product({max_tokens, value.d_out()}, "the values of a text") + kLine - 1) /
         kLine * kLine;
}

}  // namespace

LayerCache::LayerCache(const LayerWeights& layer, std::size_t max_tokens)
    : n_shared_(layer.latents.n_shared()),
      n_channels_(layer.convolution.n_channels()),
      n_kept_(layer.recurrence.n_kept()) {
  for (const HeadWeights& head : layer.heads) {
    keys_.add(head.key);
    values_.add(head.value);
  }
  std::size_t floats = checked_product({max_tokens, n_channels_}, "the channels of a text");
  for (const Projection* key : keys_.list()) {
    floats += key_floats(key->d_out() + n_shared_, max_tokens);
  }
  for (const Projection* value : values_.list()) {
    floats += value_floats(*value, max_tokens);
  }
  memory_ = MatrixBuffer(1, floats + n_kept_);
  float* next = channel_memory_ = memory_.view().data;
  key_memory_.reserve(keys_.size());
  for (const Projection* key : keys_.list()) {
    key_memory_.push_back(next);
    next += key_floats(key->d_out() + n_shared_, max_tokens);
  }
  value_memory_.reserve(values_.size());
  for (const Projection* value : values_.list()) {
    value_memory_.push_back(next);
    next += value_floats(*value, max_tokens);
  }
  state_memory_ = next;
}

kernels::KeyPanels LayerCache::keys(const Projection& key, std::size_t n_tokens) const noexcept {
  return {n_tokens, key.d_out() + n_shared_, key_memory_[keys_.place_of(key)]};
}

Matrix LayerCache::values(const Projection& value, std::size_t n_tokens) const noexcept {
  return {value_memory_[values_.place_of(value)], n_tokens, value.d_out(), value.d_out()};
}

Matrix LayerCache::channels(std::size_t n_tokens) const noexcept {
  return {channel_memory_, n_tokens, n_channels_, n_channels_};
}

Matrix LayerCache::take_state(std::size_t n_tokens) noexcept {
  n_state_tokens_ = n_tokens;
  return {state_memory_, 1, n_kept_, n_kept_};
}

void LayerCache::mark() {
  marked_.assign(state_memory_, state_memory_ + n_kept_);
  n_marked_tokens_ = n_state_tokens_;
}

void LayerCache::return_to_mark() noexcept {
  std::ranges::copy(marked_, state_memory_);
  n_state_tokens_ = n_marked_tokens_;
}

double LayerCache::bytes(const LayerWeights& layer, std::size_t max_tokens) {
  DifferentProjections keys, values;
  for (const HeadWeights& head : layer.heads) {
    keys.add(head.key);
    values.add(head.value);
  }
  auto numbers =
      static_cast<double>(layer.convolution.n_channels() + keys.size() * layer.latents.n_shared());
  for (const auto* all : {&keys, &values}) {
    for (const Projection* projection : all->list()) {
      numbers += static_cast<double>(projection->d_out());
    }
  }
  return (numbers * static_cast<double>(max_tokens) +
          static_cast<double>(layer.recurrence.n_kept())) *
         static_cast<double>(sizeof(float));
}

KeyValueCache::KeyValueCache(const Model& model, std::size_t max_tokens) : max_tokens_(max_tokens) {
  layers_.reserve(model.n_layers());
  for (const LayerWeights& layer : model.layers) {
    layers_.emplace_back(layer, max_tokens);
  }
}

bool KeyValueCache::continues() const noexcept {
  return std::ranges::all_of(
      layers_, [this](const LayerCache& layer) { return layer.continues(n_tokens_); });
}

void KeyValueCache::mark() {
  n_marked_ = 0;
  for (LayerCache& layer : layers_) {
    layer.mark();
  }
  n_marked_ = n_tokens_;
}

bool KeyValueCache::return_to_mark() noexcept {
  if (n_marked_ == 0 || n_marked_ != n_tokens_) {
    return false;
  }
  for (LayerCache& layer : layers_) {
    layer.return_to_mark();
  }
  return true;
}

double KeyValueCache::bytes(const Model& model, std::size_t max_tokens) {
  double sum = 0.0;
  for (const LayerWeights& layer : model.layers) {
    sum += LayerCache::bytes(layer, max_tokens);
  }
  return sum;
}

}  // namespace attnviz
