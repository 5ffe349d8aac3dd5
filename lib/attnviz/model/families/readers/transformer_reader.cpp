#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/formats/llama_cpp_keys.h"
#include "attnviz/model/families/readers/part_readers.h"
#include "attnviz/model/families/traits.h"

namespace attnviz {

namespace {

std::string weight(std::string_view name) {
  return fmt::format("{}.weight", name);
}

class TransformerReader {
 public:
  TransformerReader(const Traits& traits, WeightReader weights)
      : traits_(traits), names_(traits.names), weights_(std::move(weights)) {}

  Model read() {
    Model model;
    model.config.d_model = traits_.d_model;
    model.config.n_ctx = traits_.n_ctx;
    model.config.positions = traits_.positions;
    model.config.order = traits_.order;
    model.config.mask.kind = traits_.sees_all ? MaskKind::kNone : MaskKind::kCausal;
    read_embeddings(model);
    for (std::size_t i = 0; i < traits_.n_layers; ++i) {
      model.layers.push_back(read_layer(i, model.layers));
      if (const Rope* const rope = model.layers.back().rope.get()) {
        model.config.n_ctx = std::max(model.config.n_ctx, rope->n_ctx);
      }
    }
    if (traits_.most_tokens != 0) {
      model.config.n_ctx = std::min(model.config.n_ctx, traits_.most_tokens);
    }
    if (std::ranges::all_of(model.layers,
                            [](const LayerWeights& layer) { return layer.heads.empty(); })) {
      throw Error(ErrorKind::kUnsupported,
                  fmt::format("{}expected attention in some layer, found none: there is nothing to "
                              "be seen",
                              traits_.where));
    }
    read_head(model);
    model.storage = weights_.storage();
    model.stored = weights_.stored();
    return model;
  }

 private:
  Norm norm(std::string_view name, std::size_t size) {
    return read_norm(weights_, name, {size},
                     {traits_.norm_kind, traits_.norm_bias, traits_.epsilon, traits_.norm_offset});
  }
  Norm norm(std::string_view name) { return norm(name, traits_.d_model); }

  StoredMatrix table(std::string_view name, std::size_t rows) {
    return weights_.table(weight(name), rows, traits_.d_model);
  }

  Projection linear(const std::string& name, std::size_t d_in, std::size_t d_out, Presence bias) {
    return traits_.conv1d ? weights_.conv1d(name, d_in, d_out)
                          : weights_.linear(name, d_in, d_out, bias);
  }

  void read_embeddings(Model& model) {
    const std::string embeddings = weight(names_.embeddings);
    const std::size_t n_vocab =
        traits_.n_vocab != 0 ? traits_.n_vocab : weights_.rows_of(embeddings);
    const std::size_t width = traits_.d_embed != 0 ? traits_.d_embed : traits_.d_model;
    model.embeddings = weights_.table(embeddings, n_vocab, width);
    model.embedding_scale = traits_.embedding_scale;
    if (traits_.d_embed != 0) {
      model.embedding_projection = weights_.linear(names_.embedding_projection, traits_.d_embed,
                                                   traits_.d_model, Presence::kNo);
    }
    if (traits_.positions == Positions::kLearned) {
      if (traits_.n_positions <= traits_.first_position) {
        throw Error(ErrorKind::kMalformed,
                    fmt::format("{}max_position_embeddings: expected more than {}, found {}",
                                traits_.where, traits_.first_position, traits_.n_positions));
      }
      model.position_embeddings = table(names_.positions, traits_.n_positions);
      model.first_position = traits_.first_position;
      model.no_position = traits_.no_position;
    }
    if (traits_.n_segments > 0) {
      model.segment_embeddings = table(names_.segments, traits_.n_segments);
    }
    if (traits_.embedding_norm) {
      model.embedding_norm = norm(names_.embedding_norm);
    }
    if (traits_.layer_inputs > 0) {
      read_layer_embeddings(traits_.n_layer_vocab != 0 ? traits_.n_layer_vocab : n_vocab,
                            model.layer_embeddings);
    }
    if (traits_.altup.n_streams > 1) {
      model.altup = read_altup(traits_, weights_);
    }
  }

  void read_layer_embeddings(std::size_t n_vocab, LayerEmbeddings& read) {
    const std::size_t width = traits_.n_layers * traits_.layer_inputs;
    read.table = weights_.table(weight(names_.layer_embeddings), n_vocab, width);
    read.projection =
        weights_.linear(names_.layer_projection, traits_.d_model, width, Presence::kNo);
    read.norm = norm(names_.layer_projection_norm, traits_.layer_inputs);
  }

  LayerTraits shape_of(std::size_t layer) const {
    LayerTraits shape;
    shape.n_heads = traits_.n_heads;
    shape.n_kv_heads = traits_.n_kv_heads;
    shape.d_head = traits_.d_head;
    shape.d_ff = traits_.d_ff;
    if (traits_.vary) {
      traits_.vary(layer, shape);
    }
    return shape;
  }

  HeadMatrices read_heads(const LayerNaming& named, const LayerTraits& shape) {
    const std::size_t d = traits_.d_model;
    const std::size_t queries = shape.n_heads * shape.d_head * (traits_.gated_output ? 2 : 1);
    const std::size_t keys = shape.n_kv_heads * shape.d_head;
    const auto read = [&](std::string_view name, std::size_t d_out) {
      return linear(named(name), d, d_out, traits_.qkv_bias);
    };
    if (traits_.qkv == QkvStorage::kSeparate) {
      HeadMatrices separate{read(names_.query, queries), read(names_.key, keys), {}};
      separate.value = shape.values_are_keys ? separate.key : read(names_.value, keys);
      return separate;
    }
    const Projection all = read(names_.qkv, queries + 2 * keys);
    if (traits_.qkv == QkvStorage::kByGroup) {
      return {all, {}, {}};
    }
    return {columns(all, 0, queries), columns(all, queries, keys),
            columns(all, queries + keys, keys)};
  }

  std::vector<HeadWeights> cut(const HeadMatrices& matrices, const LayerTraits& shape) const {
    if (traits_.gated_output) {
      return cut_gated_heads(traits_.where, matrices, shape.n_heads, shape.n_kv_heads);
    }
    return traits_.qkv == QkvStorage::kByGroup
               ? cut_groups(traits_.where, matrices.query, shape.n_heads, shape.n_kv_heads)
               : cut_heads(traits_.where, matrices, shape.n_heads, shape.n_kv_heads);
  }

  // The layer's own queries with another layer's keys and values.
  std::vector<HeadWeights> cut_queries(const LayerNaming& named, const LayerTraits& shape,
                                       const LayerWeights& of_keys) {
    if (of_keys.heads.size() != shape.n_heads || of_keys.heads.front().d_head() != shape.d_head) {
      throw Error(ErrorKind::kMalformed,
                  fmt::format("{}{}: expected heads of the shape of layer {}, whose keys it takes",
                              traits_.where, named(names_.query), *shape.keys_from));
    }
    const Projection query = linear(named(names_.query), traits_.d_model,
                                    shape.n_heads * shape.d_head, traits_.qkv_bias);
    std::vector<HeadWeights> heads = of_keys.heads;
    for (std::size_t head = 0; head < heads.size(); ++head) {
      heads[head].query = columns(query, head * shape.d_head, shape.d_head);
    }
    return heads;
  }

  // An RMS norm with weights of 1.
  Norm plain_norm(std::size_t size) {
    MatrixBuffer ones(1, size);
    std::ranges::fill(ones.view().row(0), 1.0f);
    return {NormKind::kRms, weights_.keep(std::move(ones)), {}, traits_.epsilon, 0.0f};
  }

  void read_attention(const LayerNaming& named, const LayerTraits& shape,
                      std::span<const LayerWeights> before, LayerWeights& layer) {
    layer.query_norm = head_norm(named, names_.query_norm, shape.n_heads, shape.d_head);
    layer.keys_from = shape.keys_from;
    if (shape.keys_from) {
      const LayerWeights& of_keys = before[*shape.keys_from];
      layer.heads = cut_queries(named, shape, of_keys);
      layer.key_norm = of_keys.key_norm;
      layer.value_norm = of_keys.value_norm;
    } else if (traits_.latents.rank > 0) {
      read_latent_heads(traits_, named, shape, weights_, layer);
    } else {
      layer.heads = cut(read_heads(named, shape), shape);
      layer.key_norm = head_norm(named, names_.key_norm, shape.n_kv_heads, shape.d_head);
      layer.value_norm = traits_.value_norm ? plain_norm(shape.d_head) : Norm();
    }
    const std::size_t d_value = traits_.latents.rank > 0 ? traits_.latents.d_value : shape.d_head;
    layer.output =
        linear(named(names_.output), shape.n_heads * d_value, traits_.d_model, traits_.output_bias);
    if (traits_.has_sinks) {
      layer.sinks = read_sinks(weights_, named(names_.sinks), shape.n_heads);
    }
    layer.norms_turned_heads = traits_.norms_turned_heads;
    layer.norms_heads_together =
        layer.query_norm.present() && traits_.head_norms == HeadNorms::kTogether;
  }

  Convolution read_convolution(const LayerNaming& named, std::size_t width) {
    const std::size_t d = traits_.d_model;
    Convolution read;
    read.width = width;
    read.in = linear(named(names_.conv_in), d, 3 * d, traits_.convolution_bias);
    read.out = linear(named(names_.conv_out), d, d, traits_.convolution_bias);
    const std::string kernel = weight(named(names_.conv));
    read.kernel = weights_.numbers_in_rows(kernel, d, width);
    if (const std::string bias = fmt::format("{}.bias", named(names_.conv));
        weights_.has(bias, traits_.convolution_bias)) {
      read.bias = weights_.vector(bias, d);
    }
    return read;
  }

  LayerInput read_layer_input(const LayerNaming& named) {
    const std::size_t d = traits_.d_model;
    return {weights_.linear(named(names_.input_gate), d, traits_.layer_inputs, Presence::kNo),
            weights_.linear(named(names_.input_projection), traits_.layer_inputs, d, Presence::kNo),
            norm(named(names_.input_norm)), traits_.activation};
  }

  // The norm of queries or keys, for `n_heads` heads.
  Norm head_norm(const LayerNaming& named, std::string_view name, std::size_t n_heads,
                 std::size_t d_head) {
    const bool is_of_each = name.find("{}") != std::string_view::npos;
    const std::string first = is_of_each ? fmt::format(fmt::runtime(name), 0) : std::string(name);
    if (!weights_.has(weight(named(first)), traits_.query_key_norm)) {
      return {};
    }
    const NormFacts facts{traits_.norm_kind, Presence::kOptional, traits_.epsilon,
                          traits_.norm_offset};
    switch (traits_.head_norms) {
      case HeadNorms::kShared:
        return read_norm(weights_, named(first), {d_head}, facts);
      case HeadNorms::kTogether:
        return read_norm(weights_, named(first), {n_heads * d_head}, facts);
      case HeadNorms::kOfEach:
        break;
    }
    if (!is_of_each) {
      return read_norm(weights_, named(first), {n_heads, d_head}, facts);
    }
    std::vector<Norm> norms;
    for (std::size_t head = 0; head < n_heads; ++head) {
      norms.push_back(
          read_norm(weights_, named(fmt::format(fmt::runtime(name), head)), {d_head}, facts));
    }
    return joined_norms(weights_, norms);
  }

  struct MlpNames {
    std::string_view gate, up, down, gate_up;
  };

  // The MLP that all tokens share beside the experts.
  Mlp read_shared_mlp(const LayerNaming& named, std::size_t d_ff) {
    const MlpNames names{names_.shared_mlp_gate, names_.shared_mlp_up, names_.shared_mlp_down,
                         names_.shared_mlp_gate_up};
    return read_mlp(named, names, !names.gate_up.empty(), d_ff);
  }

  Mlp read_mlp(const LayerNaming& named, const MlpNames& names, bool gate_with_up,
               std::size_t d_ff) {
    const std::size_t d = traits_.d_model;
    const auto read = [&](std::string_view name, std::size_t d_in, std::size_t d_out) {
      return linear(named(name), d_in, d_out, traits_.mlp_bias);
    };
    Mlp mlp;
    if (gate_with_up) {
      const Projection both = read(names.gate_up, d, 2 * d_ff);
      mlp.gate = columns(both, 0, d_ff);
      mlp.up = columns(both, d_ff, d_ff);
    } else {
      if (traits_.gated) {
        mlp.gate = read(names.gate, d, d_ff);
      }
      mlp.up = read(names.up, d, d_ff);
    }
    mlp.down = read(names.down, d_ff, d);
    mlp.activation = traits_.activation;
    return mlp;
  }

  void read_norms(const LayerNaming& named, std::size_t index, const LayerTraits& shape,
                  LayerWeights& layer) {
    if (!shape.mixes || !shape.has_mlp) {
      (shape.mixes ? layer.attention_norm : layer.mlp_norm) = norm(named(names_.attention_norm));
    } else if (traits_.norm_before) {
      if (index > 0 || traits_.first_norm) {
        layer.attention_norm = norm(named(names_.attention_norm));
      }
      layer.mlp_norm = traits_.one_norm ? layer.attention_norm : norm(named(names_.mlp_norm));
    }
    if (traits_.norm_after) {
      layer.after_attention_norm = norm(named(names_.after_attention_norm));
      layer.after_mlp_norm = norm(named(names_.after_mlp_norm));
    }
  }

  double score_scale(std::size_t layer) const {
    if (!traits_.scale_by_layer) {
      return traits_.score_scale;
    }
    const double usual = 1.0 / std::sqrt(static_cast<double>(traits_.d_head));
    return (traits_.score_scale == 0.0 ? usual : traits_.score_scale) /
           static_cast<double>(layer + 1);
  }

  LayerWeights read_layer(std::size_t index, std::span<const LayerWeights> before) {
    const LayerNaming named(names_.layer, index);
    const LayerTraits shape = shape_of(index);
    LayerWeights layer;
    if (shape.convolution > 0) {
      layer.convolution = read_convolution(named, shape.convolution);
    } else if (shape.has_states || shape.has_both) {
      layer.recurrence = read_states(traits_, named, weights_);
    }
    if (shape.mixes && !shape.has_states && shape.convolution == 0) {
      read_attention(named, shape, before, layer);
    }
    read_norms(named, index, shape, layer);
    if (!shape.has_mlp) {
      // The layer has only attention or its substitute.
    } else if (has_experts(traits_, index)) {
      const std::size_t shared = traits_.experts.shared_d_ff;
      layer.mlp = shared > 0 ? read_shared_mlp(named, shared) : Mlp();
      layer.experts = read_experts(traits_, named, weights_);
    } else {
      const MlpNames own{names_.gate, names_.up, names_.down, names_.gate_up};
      layer.mlp = read_mlp(named, own, traits_.gate_with_up, shape.d_ff);
      layer.mlp.sparsity = shape.sparsity;
    }
    if (traits_.altup.n_streams > 1) {
      layer.altup = read_altup_layer(traits_, named, weights_);
    }
    if (traits_.laurel_rank > 0) {
      layer.laurel = read_laurel(traits_, named, weights_);
    }
    if (traits_.layer_inputs > 0) {
      layer.input = read_layer_input(named);
    }
    if (traits_.result_scale) {
      layer.result_scale = weights_.numbers({named(names_.result_scale)}, {1}).front();
    }
    layer.branch_scale = traits_.branch_scale;
    if (layer.heads.empty()) {
      return layer;
    }
    layer.score_scale = score_scale(index);
    layer.soft_cap = traits_.soft_cap;
    if (traits_.distance_buckets.n > 0) {
      layer.distance_bias = read_distance_bias(traits_, named, shape.n_heads, before, weights_);
    }
    if (traits_.has_cross) {
      layer.cross = read_cross(traits_, named, shape, weights_);
    }
    if (traits_.rope) {
      layer.rope = traits_.rope(index);
    }
    if (traits_.mask) {
      layer.mask = traits_.mask(index);
    }
    return layer;
  }

  void read_head(Model& model) {
    OutputHead& head = model.head;
    if (traits_.last_norm) {
      head.norm = norm(names_.norm);
    }
    head.soft_cap = traits_.logit_soft_cap;
    head.scale = traits_.logit_scale;
    if (traits_.tied) {
      model.config.origin = tied_note(weights_, names_.embeddings, names_.unembedding);
    }
    if (traits_.sees_all) {
      return read_guessing_head(model);
    }
    if (traits_.d_embed != 0) {
      head.projection = weights_.linear(names_.output_projection, traits_.d_model, traits_.d_embed,
                                        Presence::kNo);
    }
    head.unembedding = read_unembedding(weights_, names_.unembedding, traits_.tied,
                                        model.embeddings, traits_.unembedding_bias);
    const std::string bias(head.unembedding.weight.empty() ? "" : names_.logit_bias);
    if (!bias.empty() && weights_.has(bias)) {
      head.unembedding.bias = weights_.numbers({bias}, {1, head.unembedding.d_out()});
    }
  }

  // The masked-token head, which base models lack.
  void read_guessing_head(Model& model) {
    if (names_.transform.empty() || !weights_.has(weight(names_.transform))) {
      return;
    }
    OutputHead& head = model.head;
    head.transform =
        weights_.linear(names_.transform, traits_.d_model, traits_.d_model, traits_.transform_bias);
    head.activation = traits_.head_activation;
    head.transform_norm = norm(names_.transform_norm);
    const bool is_tied = traits_.tied || !weights_.has(weight(names_.unembedding));
    head.unembedding =
        read_unembedding(weights_, names_.unembedding, is_tied, model.embeddings, Presence::kNo);
    if (traits_.unembedding_bias != Presence::kNo) {
      read_guessing_bias(head.unembedding);
    }
    if (traits_.tied) {
      weights_.pass_over({tied_unembedding(names_.unembedding)});
    }
  }

  // One parameter with two names, which files may hold twice.
  void read_guessing_bias(Projection& unembedding) {
    const std::size_t n_vocab = unembedding.d_out();
    const std::string other = fmt::format("{}.bias", names_.unembedding);
    unembedding.bias = weights_.vector({names_.unembedding_bias, other}, n_vocab);
    if (weights_.has(other) &&
        !std::ranges::equal(weights_.vector(other, n_vocab), unembedding.bias)) {
      throw Error(ErrorKind::kUnsupported,
                  fmt::format("{}expected the numbers of {}", weights_.where(other),
                              names_.unembedding_bias));
    }
  }

  const Traits& traits_;
  const TensorNames& names_;
  WeightReader weights_;
};

}  // namespace

Model read_transformer(const Traits& traits, WeightReader weights) {
  return TransformerReader(traits, std::move(weights)).read();
}

}  // namespace attnviz
