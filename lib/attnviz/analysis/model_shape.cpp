#include "attnviz/analysis/model_shape.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <numeric>
#include <string_view>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/tensor.h"

namespace attnviz {

namespace {

constexpr std::string_view kWhat = "the model";

std::size_t product(std::initializer_list<std::size_t> sizes) {
  return checked_product(sizes, kWhat);
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

AttentionCounts plus(const AttentionCounts& a, const AttentionCounts& b) {
  const AttentionCounts both{sum({a.query, b.query}), sum({a.key, b.key}), sum({a.value, b.value}),
                             sum({a.output, b.output}), sum({a.biases, b.biases})};
  sum({both.query, both.key, both.value, both.output, both.biases});
  return both;
}

AttentionCounts times(const AttentionCounts& a, std::size_t n) {
  return {product({a.query, n}), product({a.key, n}), product({a.value, n}), product({a.output, n}),
          product({a.biases, n})};
}

LayerCounts plus(const LayerCounts& a, const LayerCounts& b) {
  return {plus(a.attention, b.attention), sum({a.mlp, b.mlp}), sum({a.norms, b.norms})};
}

LayerCounts times(const LayerCounts& a, std::size_t n) {
  return {times(a.attention, n), product({a.mlp, n}), product({a.norms, n})};
}

// The parameters of heads that are alike, when `n_heads` of them read `n_kv_heads` keys and values.
AttentionCounts count_heads(const HeadsShape& heads, std::size_t d_model, bool output,
                            std::size_t n_heads, std::size_t n_kv_heads) {
  AttentionCounts counts;
  counts.query = product({n_heads, d_model, heads.d_head});
  counts.key = product({n_kv_heads, d_model, heads.d_head});
  counts.value = product({n_kv_heads, d_model, heads.d_value});
  counts.output = output ? product({n_heads, heads.d_value, d_model}) : 0;
  counts.biases = (heads.query_bias ? n_heads * heads.d_head : 0) +
                  (heads.key_bias ? n_kv_heads * heads.d_head : 0) +
                  (heads.value_bias ? n_kv_heads * heads.d_value : 0);
  return counts;
}

LayerCounts count_layer(const LayerShape& layer, std::size_t d_model) {
  LayerCounts counts;
  for (const HeadsShape& heads : layer.heads) {
    counts.attention = plus(counts.attention, count_heads(heads, d_model, layer.output,
                                                          heads.n_heads, heads.n_kv_heads));
  }
  counts.attention.biases += layer.output_biases;
  counts.mlp = sum({product({layer.gated ? 3U : 2U, d_model, layer.d_ff}), layer.mlp_biases});
  counts.norms = layer.norms;
  return counts;
}

std::size_t numbers_of(const Norm& norm) noexcept {
  return norm.weight.size() + norm.bias.size();
}

std::size_t numbers_of(const StoredMatrix& matrix) noexcept {
  return matrix.rows * matrix.cols;
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
                     !head.value.bias.empty()};
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
  shape.output = weights.has_output();
  shape.output_biases = weights.output.bias.size();
  const Mlp& mlp = weights.mlp;
  shape.d_ff = mlp.present() ? mlp.up.d_out() : 0;
  shape.gated = !mlp.gate.weight.empty();
  shape.mlp_biases = mlp.gate.bias.size() + mlp.up.bias.size() + mlp.down.bias.size();
  for (const Norm* norm :
       {&weights.query_norm, &weights.key_norm, &weights.attention_norm,
        &weights.after_attention_norm, &weights.mlp_norm, &weights.after_mlp_norm}) {
    shape.norms += numbers_of(*norm);
  }
  return shape;
}

bool are_alike(const LayerShape& a, const LayerShape& b) {
  return a.heads == b.heads && a.output == b.output && a.output_biases == b.output_biases &&
         a.d_ff == b.d_ff && a.gated == b.gated && a.mlp_biases == b.mlp_biases &&
         a.norms == b.norms;
}

}  // namespace

std::size_t LayerShape::n_heads() const noexcept {
  return std::accumulate(heads.begin(), heads.end(), std::size_t{0},
                         [](std::size_t n, const HeadsShape& group) { return n + group.n_heads; });
}

std::size_t LayerShape::n_kv_heads() const noexcept {
  return std::accumulate(
      heads.begin(), heads.end(), std::size_t{0},
      [](std::size_t n, const HeadsShape& group) { return n + group.n_kv_heads; });
}

std::size_t ModelShape::n_layers() const noexcept {
  return std::accumulate(layers.begin(), layers.end(), std::size_t{0},
                         [](std::size_t n, const LayerShape& run) { return n + run.n_layers; });
}

ModelShape model_shape(const Model& model) {
  ModelShape shape;
  shape.d_model = model.config.d_model;
  shape.n_ctx = model.config.n_ctx;
  for (const LayerWeights& weights : model.layers) {
    LayerShape layer = layer_shape(weights);
    shape.keeps_keys =
        shape.keeps_keys && weights.mask.value_or(model.config.mask).kind != MaskKind::kNone;
    if (!shape.layers.empty() && are_alike(shape.layers.back(), layer)) {
      ++shape.layers.back().n_layers;
    } else {
      shape.layers.push_back(std::move(layer));
    }
  }
  shape.n_vocab = model.embeddings.rows;
  shape.n_positions = model.position_embeddings.rows;
  shape.n_segments = model.segment_embeddings.rows;
  const OutputHead& head = model.head;
  shape.outer_norms = numbers_of(model.embedding_norm) + numbers_of(head.norm);
  shape.tied =
      !head.unembedding.weight.empty() && head.unembedding.weight.data == model.embeddings.data;
  shape.unembedding = shape.tied ? 0 : numbers_of(head.unembedding.weight);
  shape.output_transform = numbers_of(head.transform.weight) + head.transform.bias.size() +
                           numbers_of(head.transform_norm);
  shape.output_biases = head.unembedding.bias.size();
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
  counts.by_shape.reserve(shape.layers.size());
  for (const LayerShape& layer : shape.layers) {
    const LayerCounts one = count_layer(layer, shape.d_model);
    counts.by_shape.push_back(one);
    counts.layers = plus(counts.layers, times(one, layer.n_layers));
  }
  const auto is_first = [&counts](const LayerCounts& one) {
    return one == counts.by_shape.front();
  };
  if (std::ranges::all_of(counts.by_shape, is_first)) {
    counts.layer = counts.by_shape.front();
  }
  for (const LayerShape& layer : shape.layers) {
    for (const HeadsShape& heads : layer.heads) {
      const AttentionCounts one = count_heads(heads, shape.d_model, layer.output, 1, 1);
      const bool is_very_first = &layer == shape.layers.data() && &heads == layer.heads.data();
      if (is_very_first) {
        counts.head = one;
      } else if (counts.head != one) {
        counts.head.reset();
        break;
      }
    }
  }
  counts.token_embeddings = product({shape.n_vocab, shape.d_model});
  counts.positions = product({shape.n_positions, shape.d_model});
  counts.segments = product({shape.n_segments, shape.d_model});
  counts.outer_norms = shape.outer_norms;
  counts.output_head = sum({shape.unembedding, shape.output_transform, shape.output_biases});
  const AttentionCounts& attention = counts.layers.attention;
  counts.total =
      sum({counts.token_embeddings, counts.positions, counts.segments, counts.outer_norms,
           counts.output_head, counts.layers.mlp, counts.layers.norms, attention.query,
           attention.key, attention.value, attention.output, attention.biases});
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
  for (const LayerShape& layer : shape.layers) {
    for (const HeadsShape& heads : layer.heads) {
      const std::size_t width = sum({heads.d_head, heads.d_value});
      numbers = sum({numbers, product({layer.n_layers, heads.n_kv_heads, width})});
    }
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
  }
  return rows;
}

}  // namespace attnviz
