#include "attnviz/model/families/traits.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/formats/llama_cpp_keys.h"
#include "attnviz/kernels/row_kernels.h"

namespace attnviz {

Activation read_activation(const HfConfig& config, std::string_view key,
                           std::string_view otherwise) {
  using Named = std::pair<std::string_view, Activation>;
  static constexpr std::array kNames = {
      Named{"gelu", Activation::kGelu},
      Named{"gelu_new", Activation::kGeluTanh},
      Named{"gelu_pytorch_tanh", Activation::kGeluTanh},
      Named{"gelu_fast", Activation::kGeluTanh},
      Named{"silu", Activation::kSilu},
      Named{"swish", Activation::kSilu},
      Named{"relu", Activation::kRelu},
      Named{"relu2", Activation::kReluSquared},
  };
  const std::string_view name = config.text_or(key, otherwise);
  const auto* const found = std::ranges::find(kNames, name, &Named::first);
  if (found == kNames.end()) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}{}: expected gelu, gelu_new, gelu_pytorch_tanh, gelu_fast, silu, "
                            "swish, relu or relu2, found {}",
                            config.node().where(), key, in_quotes(name)));
  }
  return found->second;
}

std::size_t even_share(std::string_view where, std::size_t d_model, std::size_t n_heads) {
  if (d_model % n_heads != 0) {
    throw Error(ErrorKind::kMalformed, fmt::format("{}{} dimensions cannot be shared by {}", where,
                                                   d_model, counted(n_heads, "head")));
  }
  return d_model / n_heads;
}

LayerNaming::LayerNaming(std::string_view pattern, std::size_t layer)
    : prefix_(fmt::format(fmt::runtime(pattern), layer)) {}

Projection columns(const Projection& projection, std::size_t first, std::size_t count) {
  return {projection.weight.col_block(first, count),
          projection.bias.empty() ? projection.bias : projection.bias.subspan(first, count)};
}

namespace {

void require_even_groups(std::string_view where, std::size_t n_heads, std::size_t n_kv_heads) {
  if (n_kv_heads == 0 || n_heads % n_kv_heads != 0) {
    throw Error(ErrorKind::kMalformed, fmt::format("{}{} cannot share {} keys and values evenly",
                                                   where, counted(n_heads, "head"), n_kv_heads));
  }
}

}  // namespace

std::vector<HeadWeights> cut_heads(std::string_view where, const HeadMatrices& matrices,
                                   std::size_t n_heads, std::size_t n_kv_heads) {
  require_even_groups(where, n_heads, n_kv_heads);
  const std::size_t d_query = matrices.query.d_out() / n_heads;
  const std::size_t d_head = matrices.key.d_out() / n_kv_heads;
  const std::size_t group = n_heads / n_kv_heads;
  std::vector<HeadWeights> heads(n_heads);
  for (std::size_t head = 0; head < n_heads; ++head) {
    const std::size_t shared = head / group * d_head;
    heads[head].query = columns(matrices.query, head * d_query, d_query);
    heads[head].key = columns(matrices.key, shared, d_head);
    heads[head].value = columns(matrices.value, shared, d_head);
  }
  return heads;
}

std::vector<HeadWeights> cut_gated_heads(std::string_view where, const HeadMatrices& matrices,
                                         std::size_t n_heads, std::size_t n_kv_heads) {
  std::vector<HeadWeights> heads = cut_heads(where, matrices, n_heads, n_kv_heads);
  for (HeadWeights& head : heads) {
    const std::size_t d_head = head.key.d_out();
    head.output_gate = columns(head.query, d_head, d_head);
    head.query = columns(head.query, 0, d_head);
  }
  return heads;
}

std::vector<HeadWeights> cut_groups(std::string_view where, const Projection& qkv,
                                    std::size_t n_heads, std::size_t n_kv_heads) {
  require_even_groups(where, n_heads, n_kv_heads);
  const std::size_t group = n_heads / n_kv_heads;
  const std::size_t d_head = qkv.d_out() / (n_heads + 2 * n_kv_heads);
  std::vector<HeadWeights> heads(n_heads);
  for (std::size_t head = 0; head < n_heads; ++head) {
    const std::size_t first = head / group * (group + 2) * d_head;
    heads[head].query = columns(qkv, first + head % group * d_head, d_head);
    heads[head].key = columns(qkv, first + group * d_head, d_head);
    heads[head].value = columns(qkv, first + (group + 1) * d_head, d_head);
  }
  return heads;
}

Norm read_norm(WeightReader& weights, std::string_view name,
               std::initializer_list<std::size_t> shape, const NormFacts& facts) {
  const std::string weight = fmt::format("{}.weight", name);
  const std::string bias = fmt::format("{}.bias", name);
  Norm norm{facts.kind, {}, {}, facts.epsilon, facts.weight_offset};
  if (facts.kind == NormKind::kRms) {
    norm.weight = weights.numbers({weight}, shape);
    return norm;
  }
  // TensorFlow's names, found in old BERT files.
  const std::string beta = fmt::format("{}.beta", name);
  norm.weight = weights.numbers({weight, fmt::format("{}.gamma", name)}, shape);
  if (facts.bias == Presence::kYes || weights.has(bias, facts.bias)) {
    norm.bias = weights.numbers({bias, beta}, shape);
  }
  return norm;
}

Norm joined_norms(WeightReader& weights, const std::vector<Norm>& norms) {
  Norm joined = norms.front();
  const auto join = [&](std::span<const float> Norm::*part) {
    const std::size_t size = (joined.*part).size();
    MatrixBuffer all(1, norms.size() * size);
    for (std::size_t i = 0; i < norms.size(); ++i) {
      std::ranges::copy((norms[i].*part).first(std::min(size, (norms[i].*part).size())),
                        all.view().row_data(0) + i * size);
    }
    return size == 0 ? std::span<const float>() : weights.keep(std::move(all));
  };
  joined.weight = join(&Norm::weight);
  joined.bias = join(&Norm::bias);
  return joined;
}

std::vector<HarmlessTensor> heads_of_other_tasks() {
  return {{"score.*", kOtherTask}, {"classifier.*", kOtherTask}, {"qa_outputs.*", kOtherTask}};
}

HarmlessTensor tied_unembedding(std::string_view name) {
  return {fmt::format("{}.weight", name), "the embeddings are used instead"};
}

std::vector<HarmlessTensor> layers_ahead(std::string_view pattern, std::size_t first,
                                         std::size_t count) {
  constexpr std::size_t kMost = 64;
  std::vector<HarmlessTensor> ignorable;
  for (std::size_t i = first; i < first + std::min(count, kMost); ++i) {
    ignorable.push_back({fmt::format(fmt::runtime(pattern), i), kMultiToken});
  }
  return ignorable;
}

std::span<const float> read_sinks(WeightReader& weights, const std::string& name,
                                  std::size_t n_heads) {
  const std::span<const float> sinks = weights.vector(name, n_heads);
  // The search for the largest score ignores sinks: a NaN would count as no sink at all.
  if (!kernels::all_finite(sinks)) {
    throw Error(ErrorKind::kMalformed, weights.where(name) + "expected finite numbers");
  }
  return sinks;
}

std::string tied_note(const WeightReader& weights, std::string_view embeddings,
                      std::string_view unembedding) {
  const std::string other = fmt::format("{}.weight", unembedding);
  return weights.differ(fmt::format("{}.weight", embeddings), other)
             ? fmt::format(
                   "the embeddings predict, as the model is tied (transformers 4), although "
                   "its {} is another matrix, which transformers 5 takes",
                   other)
             : std::string();
}

Projection read_unembedding(WeightReader& weights, std::string_view name, bool is_tied,
                            const StoredMatrix& embeddings, Presence bias) {
  if (is_tied) {
    return {WeightReader::turned(embeddings), {}};
  }
  if (!weights.has(fmt::format("{}.weight", name))) {
    return {};
  }
  return weights.linear(name, embeddings.cols, embeddings.rows, bias);
}

void keep_unrotated(const std::function<bool(std::size_t layer)>& is_plain, Traits& traits) {
  traits.rope = [is_plain, rope = traits.rope, none = std::make_shared<const Rope>()](
                    std::size_t layer) { return is_plain(layer) ? none : rope(layer); };
}

void remove_positions(Traits& traits) {
  traits.positions = Positions::kNone;
  traits.rope = {};
}

void attend_bidirectionally(Traits& traits, std::size_t reach,
                            const std::function<bool(std::size_t layer)>& is_sliding) {
  traits.sees_all = true;
  traits.mask = [near = Mask{MaskKind::kAround, reach}, is_sliding](std::size_t layer) {
    return is_sliding(layer) ? std::optional(near) : std::nullopt;
  };
}

std::size_t last_alike(std::string_view where, std::size_t end, bool slides,
                       const std::function<bool(std::size_t layer)>& is_sliding) {
  for (std::size_t layer = end; layer-- > 0;) {
    if (is_sliding(layer) == slides) {
      return layer;
    }
  }
  throw Error(ErrorKind::kMalformed,
              fmt::format("{}no layer before {} has keys for those that take others'", where, end));
}

std::vector<HarmlessTensor> unused_keys(const TensorNames& names) {
  const std::string layer = fmt::format(fmt::runtime(names.layer), "#");
  std::vector<HarmlessTensor> unused;
  for (const std::string_view name : {names.key, names.value, names.key_norm}) {
    unused.push_back({fmt::format("{}{}.weight", layer, name),
                      "the layer takes the keys and values of another one"});
  }
  return unused;
}

void use_learned_positions(Traits& traits, std::size_t n, std::size_t first_position) {
  traits.positions = Positions::kLearned;
  traits.n_positions = n;
  traits.first_position = first_position;
  traits.rope = {};
}

void norm_layers(Traits& traits, Presence bias, double epsilon) {
  traits.norm_kind = NormKind::kLayer;
  traits.norm_bias = bias;
  traits.epsilon = epsilon;
}

void set_encoder(Traits& traits, std::size_t n_positions, double epsilon) {
  traits.sees_all = true;
  traits.order = LayerOrder::kPostNorm;
  traits.n_kv_heads = traits.n_heads;
  traits.d_head = even_share(traits.where, traits.d_model, traits.n_heads);
  traits.n_ctx = n_positions;
  use_learned_positions(traits, n_positions);
  norm_layers(traits, Presence::kYes, epsilon);
  set_biases(traits, Presence::kYes);
  traits.transform_bias = traits.unembedding_bias = Presence::kYes;
  traits.embedding_norm = true;
  traits.last_norm = false;
  traits.gated = false;
  traits.activation = Activation::kGelu;
}

void set_biases(Traits& traits, Presence presence) {
  traits.qkv_bias = traits.output_bias = traits.mlp_bias = presence;
}

}  // namespace attnviz
