#include "attnviz/analysis/model_shape.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <iterator>
#include <set>

#include "attnviz/core/error.h"
#include "attnviz/core/tensor.h"

namespace attnviz {

namespace {

std::size_t product(std::initializer_list<std::size_t> sizes) {
  return checked_product(sizes, "the model");
}

std::size_t sum(std::initializer_list<std::size_t> sizes) {
  std::size_t total = 0;
  for (const std::size_t size : sizes) {
    if (__builtin_add_overflow(total, size, &total)) {
      throw Error(ErrorKind::kUsage, "the model: the size is too large to count");
    }
  }
  return total;
}

// Adds `one` `n` times.
void add(std::size_t& to, std::size_t one, std::size_t n) {
  to = sum({to, product({one, n})});
}

void add(AttentionCounts& to, const AttentionCounts& one, std::size_t n) {
  std::size_t total = 0;  // must be countable, too
  for (const auto& [name, part] : kAttentionParts) {
    add(to.*part, one.*part, n);
    total = sum({total, to.*part});
  }
}

void add(LayerCounts& to, const LayerCounts& one, std::size_t n) {
  add(to.attention, one.attention, n);
  add(to.mlp, one.mlp, n);
  add(to.experts, one.experts, n);
  add(to.norms, one.norms, n);
  add(to.other, one.other, n);
  add(to.cross, one.cross, n);
}

// The first item, if all are equal to it.
template <class Item>
std::optional<Item> common(const std::vector<Item>& items) {
  const bool are_alike =
      !items.empty() && std::ranges::count(items, items.front()) == std::ssize(items);
  return are_alike ? std::optional(items.front()) : std::nullopt;
}

template <class Item>
std::size_t total(const std::vector<Item>& items, std::size_t Item::*number) noexcept {
  std::size_t sum = 0;
  for (const Item& item : items) {
    sum += item.*number;
  }
  return sum;
}

// The parameters of identical heads, `n_heads` of which read `n_kv_heads` keys and values.
AttentionCounts count_heads(const HeadsShape& heads, const LayerShape& layer, std::size_t d_model,
                            std::size_t n_heads, std::size_t n_kv_heads) {
  const std::size_t of_query = layer.query_rank == 0 ? d_model : layer.query_rank;
  const std::size_t of_key = layer.key_rank == 0 ? d_model : layer.key_rank;
  const std::size_t d_key = heads.d_head - layer.shared_key;
  AttentionCounts counts;
  counts.query = product({n_heads, of_query, heads.d_head});
  counts.key = heads.own_keys ? product({n_kv_heads, of_key, d_key}) : 0;
  counts.value = heads.own_values ? product({n_kv_heads, of_key, heads.d_value}) : 0;
  counts.latents = layer.latents;
  counts.output = layer.output ? product({n_heads, heads.d_value, d_model}) : 0;
  counts.biases = (heads.query_bias ? n_heads * heads.d_head : 0) +
                  (heads.key_bias ? n_kv_heads * heads.d_head : 0) +
                  (heads.value_bias ? n_kv_heads * heads.d_value : 0);
  return counts;
}

LayerCounts count_layer(const LayerShape& layer, std::size_t d_model) {
  LayerCounts counts;
  for (const HeadsShape& heads : layer.heads) {
    add(counts.attention, count_heads(heads, layer, d_model, heads.n_heads, heads.n_kv_heads), 1);
  }
  counts.attention.latents = layer.latents;  // even if heads differ
  counts.attention.biases += layer.output_biases + layer.latent_biases;
  counts.mlp = sum({product({layer.gated ? 3U : 2U, d_model, layer.d_ff}), layer.mlp_biases});
  counts.experts = sum({product({layer.n_experts, layer.expert}), layer.router});
  counts.norms = layer.norms;
  counts.other = layer.other;
  counts.cross = layer.cross;
  return counts;
}

std::size_t numbers_of(const Norm& norm) noexcept {
  return norm.weight.size() + norm.bias.size();
}

std::size_t numbers_of(const StoredMatrix& matrix) noexcept {
  return matrix.rows * matrix.cols;
}

std::size_t numbers_of(const Projection& projection) noexcept {
  return numbers_of(projection.weight) + projection.bias.size();
}

std::size_t numbers_of(const Recurrence& states) {
  std::size_t numbers = states.kernel.size() + states.bias.size() + states.rate.size() +
                        states.step_bias.size() + states.skip.size() + numbers_of(states.norm) +
                        numbers_of(states.out);
  for (const PlacedProjection& part : states.in) {
    numbers += numbers_of(part.projection);
  }
  return numbers;
}

// Heads refer to columns of matrices that are stored whole.
std::size_t numbers_of(const CrossAttention& cross) noexcept {
  std::size_t numbers = numbers_of(cross.output) + numbers_of(cross.norm);
  for (const HeadWeights& head : cross.heads) {
    numbers += numbers_of(head.query) + numbers_of(head.key) + numbers_of(head.value);
  }
  return numbers;
}

// Layers may share one table.
std::size_t position_biases(const Model& model) {
  std::set<const DistanceBias*> counted;
  std::size_t numbers = 0;
  for (const LayerWeights& layer : model.layers) {
    const DistanceBias* const bias = layer.distance_bias.get();
    numbers += bias != nullptr && counted.insert(bias).second ? bias->n_learned : 0;
  }
  return numbers;
}

LayerShape layer_shape(const LayerWeights& weights) {
  LayerShape shape;
  const HeadWeights* previous = nullptr;
  for (const HeadWeights& head : weights.heads) {
    HeadsShape alone{1,
                     1,
                     head.d_head(),
                     head.d_value(),
                     !head.query.bias.empty(),
                     !head.key.bias.empty(),
                     !head.value.bias.empty(),
                     !weights.keys_from,
                     !weights.keys_from && !(head.value == head.key),
                     !weights.keys_from};
    const bool shares =
        previous != nullptr && previous->key == head.key && previous->value == head.value;
    previous = &head;
    const auto is_alike = [&alone](HeadsShape group) {
      group.n_heads = group.n_kv_heads = 1;
      return group == alone;
    };
    if (shape.heads.empty() || !is_alike(shape.heads.back())) {
      shape.heads.push_back(alone);
      continue;
    }
    ++shape.heads.back().n_heads;
    shape.heads.back().n_kv_heads += shares ? 0 : 1;
  }
  const Latents& latents = weights.latents;
  shape.query_rank = latents.query_rank();
  shape.key_rank = latents.rank();
  shape.shared_key = latents.n_shared();
  shape.latents = numbers_of(latents.query_down.weight) + numbers_of(latents.key_down.weight);
  shape.latent_biases = latents.query_down.bias.size() + latents.key_down.bias.size();
  shape.output = weights.has_output();
  shape.mixer = weights.mixer();
  shape.convolution = std::max(weights.convolution.width, weights.recurrence.width);
  shape.states = weights.recurrence.n_kept();
  std::size_t gates = 0;
  for (const HeadWeights& head : weights.heads) {
    gates += numbers_of(head.output_gate);
  }
  shape.other = gates + weights.sinks.size() + numbers_of(weights.recurrence) +
                numbers_of(weights.convolution.in) + weights.convolution.kernel.size() +
                weights.convolution.bias.size() + numbers_of(weights.convolution.out) +
                numbers_of(weights.input.gate) + numbers_of(weights.input.projection) +
                numbers_of(weights.laurel.left) + numbers_of(weights.laurel.right) +
                numbers_of(weights.altup.router) + numbers_of(weights.altup.prediction) +
                numbers_of(weights.altup.correction) + weights.altup.input_scale.size() +
                (weights.result_scale != 1.0f ? 1 : 0);
  shape.cross = numbers_of(weights.cross);
  shape.output_biases = weights.output.bias.size();
  const Mlp& mlp = weights.mlp;
  shape.d_ff = mlp.present() ? mlp.up.d_out() : 0;
  shape.gated = mlp.is_gated();
  shape.mlp_biases = mlp.gate.bias.size() + mlp.up.bias.size() + mlp.down.bias.size();
  if (const Experts& experts = weights.experts; experts.present()) {
    const Mlp& one = experts.each.front();
    shape.n_experts = experts.each.size();
    shape.n_used_experts = experts.router.n_used;
    shape.expert_d_ff = one.d_ff();
    shape.expert = numbers_of(one.gate) + numbers_of(one.up) + numbers_of(one.down);
    shape.router = numbers_of(experts.router.gate) + experts.router.choice_bias.size() +
                   numbers_of(experts.shared_gate) + experts.router.expert_scale.size() +
                   numbers_of(experts.latent_in) + numbers_of(experts.latent_out);
  }
  for (const Norm* norm :
       {&weights.query_norm, &weights.attention_norm, &weights.after_attention_norm,
        &weights.mlp_norm, &weights.after_mlp_norm, &weights.input.norm, &latents.query_norm,
        &latents.key_norm, &weights.laurel.norm, &weights.altup.norm, &weights.experts.router.norm,
        &weights.experts.norm, &weights.experts.after_norm, &weights.experts.after_shared_norm}) {
    shape.norms += numbers_of(*norm);
  }
  shape.norms += weights.keys_from ? 0 : numbers_of(weights.key_norm);
  if (weights.mlp_norm.present() &&
      weights.mlp_norm.weight.data() == weights.attention_norm.weight.data()) {
    shape.norms -= numbers_of(weights.mlp_norm);  // one norm for both
  }
  return shape;
}

}  // namespace

std::size_t LayerShape::n_heads() const noexcept {
  return total(heads, &HeadsShape::n_heads);
}

std::size_t LayerShape::n_kv_heads() const noexcept {
  return total(heads, &HeadsShape::n_kv_heads);
}

std::size_t LayerShape::kept() const noexcept {
  std::size_t numbers = 0;
  for (const HeadsShape& alike : heads) {
    numbers += alike.keeps ? alike.n_kv_heads * (alike.d_head + alike.d_value) : 0;
  }
  return numbers;
}

std::size_t ModelShape::n_layers() const noexcept {
  return total(layers, &LayerShape::n_layers);
}

const LayerShape* ModelShape::first_routed() const noexcept {
  const auto found =
      std::ranges::find_if(layers, [](const LayerShape& layer) { return layer.n_experts > 0; });
  return found == layers.end() ? nullptr : &*found;
}

const LayerShape* ModelShape::first_latent() const noexcept {
  const auto found =
      std::ranges::find_if(layers, [](const LayerShape& layer) { return layer.key_rank > 0; });
  return found == layers.end() ? nullptr : &*found;
}

const LayerShape& ModelShape::first_attention() const noexcept {
  const auto found =
      std::ranges::find_if(layers, [](const LayerShape& layer) { return !layer.heads.empty(); });
  return found == layers.end() ? layers.front() : *found;
}

ModelShape model_shape(const Model& model) {
  ModelShape shape;
  shape.d_model = model.config.d_model;
  shape.n_ctx = model.config.n_ctx;
  std::optional<LayerShape> previous;
  for (const LayerWeights& weights : model.layers) {
    const LayerShape layer = layer_shape(weights);
    shape.keeps_keys = shape.keeps_keys && !weights.mask.value_or(model.config.mask).looks_ahead();
    if (previous == layer) {
      ++shape.layers.back().n_layers;
    } else {
      shape.layers.push_back(layer);
      previous = layer;
    }
  }
  shape.n_vocab = model.embeddings.rows;
  shape.n_positions = model.position_embeddings.rows;
  shape.position_biases = position_biases(model);
  shape.n_segments = model.segment_embeddings.rows;
  shape.layer_embeddings = numbers_of(model.layer_embeddings.table) +
                           numbers_of(model.layer_embeddings.projection) +
                           numbers_of(model.layer_embeddings.norm);
  const OutputHead& head = model.head;
  shape.outer_norms = numbers_of(model.embedding_norm) + numbers_of(head.norm);
  shape.tied =
      !head.unembedding.weight.empty() && head.unembedding.weight.data == model.embeddings.data;
  shape.unembedding = shape.tied ? 0 : numbers_of(head.unembedding.weight);
  shape.d_embed = model.embedding_projection.weight.empty() ? 0 : model.embeddings.cols;
  shape.embedding_projection = numbers_of(model.embedding_projection);
  shape.output_transform =
      numbers_of(head.transform) + numbers_of(head.transform_norm) + numbers_of(head.projection);
  shape.output_biases = head.unembedding.bias.size();
  for (std::size_t i = 0; i < model.altup.enter.size(); ++i) {
    shape.embedding_projection += numbers_of(model.altup.enter[i]);
    shape.output_transform += numbers_of(model.altup.leave[i]);
  }
  if (model.encoder != nullptr) {
    const ParameterCounts encoder = count_parameters(model_shape(*model.encoder));
    shape.encoder = encoder.total - encoder.token_embeddings;
  }
  return shape;
}

ModelShape model_shape(const DescribedModel& described) {
  const RandomShape full = completed(described.attention);
  ModelShape shape;
  shape.d_model = full.d_model;
  shape.n_ctx = described.n_ctx;
  shape.n_vocab = described.n_vocab;
  shape.tied = described.tied && described.n_vocab > 0;
  shape.unembedding = described.tied ? 0 : product({described.n_vocab, full.d_model});
  LayerShape layer;
  layer.heads = {{full.n_heads, full.n_kv_heads, full.d_head, full.d_value}};
  layer.d_ff = described.d_ff;
  layer.gated = described.gated;
  layer.n_layers = full.n_layers;
  shape.layers = {layer};
  return shape;
}

ParameterCounts count_parameters(const ModelShape& shape) {
  ParameterCounts counts;
  std::vector<LayerCounts> layers;
  std::vector<AttentionCounts> heads;
  for (const LayerShape& layer : shape.layers) {
    layers.push_back(count_layer(layer, shape.d_model));
    add(counts.layers, layers.back(), layer.n_layers);
    for (const HeadsShape& alike : layer.heads) {
      heads.push_back(count_heads(alike, layer, shape.d_model, 1, 1));
    }
  }
  counts.layer = common(layers);
  counts.head = common(heads);
  counts.token_embeddings =
      sum({product({shape.n_vocab, shape.d_embed == 0 ? shape.d_model : shape.d_embed}),
           shape.embedding_projection});
  counts.positions = sum({product({shape.n_positions, shape.d_model}), shape.position_biases});
  counts.segments = product({shape.n_segments, shape.d_model});
  counts.layer_embeddings = shape.layer_embeddings;
  counts.outer_norms = shape.outer_norms;
  counts.encoder = shape.encoder;
  counts.output_head = sum({shape.unembedding, shape.output_transform, shape.output_biases});
  counts.total =
      sum({counts.token_embeddings, counts.positions, counts.segments, counts.layer_embeddings,
           counts.outer_norms, counts.encoder, counts.output_head, counts.layers.mlp,
           counts.layers.experts, counts.layers.norms, counts.layers.other, counts.layers.cross,
           counts.layers.attention.total()});
  counts.active = counts.total;
  for (const LayerShape& layer : shape.layers) {
    counts.active -= layer.n_layers *
                     (layer.n_experts - std::min(layer.n_used_experts, layer.n_experts)) *
                     layer.expert;
  }
  return counts;
}

PatternBytes pattern_bytes(const ModelShape& shape, std::size_t n_tokens) {
  const std::size_t head = product({n_tokens, n_tokens, sizeof(float)});
  std::size_t n_heads = 0;
  for (const LayerShape& layer : shape.layers) {
    n_heads = sum({n_heads, product({layer.n_layers, layer.n_heads()})});
  }
  return {head, product({n_heads, head})};
}

std::size_t kept_bytes(const ModelShape& shape, std::size_t n_tokens, std::size_t bytes_of_number) {
  std::size_t numbers = 0;
  std::size_t states = 0;
  for (const LayerShape& layer : shape.layers) {
    states = sum({states, product({layer.n_layers, layer.states})});
    for (const HeadsShape& heads : layer.heads) {
      const std::size_t width = sum({heads.d_head, heads.d_value});
      numbers =
          sum({numbers, heads.keeps ? product({layer.n_layers, heads.n_kv_heads, width}) : 0});
    }
  }
  return product({sum({product({numbers, n_tokens}), states}), bytes_of_number});
}

std::size_t kept_latent_bytes(const ModelShape& shape, std::size_t n_tokens,
                              std::size_t bytes_of_number) {
  std::size_t numbers = 0;
  for (const LayerShape& layer : shape.layers) {
    const std::size_t own = layer.key_rank > 0 ? layer.kept_latents() : layer.kept();
    numbers = sum({numbers, product({layer.n_layers, own})});
  }
  return product({numbers, n_tokens, bytes_of_number});
}

std::size_t bytes_of(std::size_t numbers, std::size_t bytes_of_number) {
  return product({numbers, bytes_of_number});
}

std::vector<TextMemory> text_memory(const ModelShape& shape) {
  constexpr std::size_t kFloat32 = 4;
  constexpr std::size_t kFloat16 = 2;
  constexpr std::array<std::size_t, 6> kLengths = {128, 512, 1024, 4096, 16384, 131072};
  std::vector<TextMemory> rows;
  rows.reserve(kLengths.size());
  for (const std::size_t n : kLengths) {
    rows.push_back({n, shape.n_ctx != 0 && n > shape.n_ctx, pattern_bytes(shape, n),
                    kept_bytes(shape, n, kFloat32), kept_bytes(shape, n, kFloat16)});
    if (shape.first_latent() != nullptr) {
      rows.back().latents_float32 = kept_latent_bytes(shape, n, kFloat32);
      rows.back().latents_float16 = kept_latent_bytes(shape, n, kFloat16);
    }
  }
  return rows;
}

}  // namespace attnviz
