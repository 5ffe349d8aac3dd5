// What the families' readers share: shapes, heads out of fused matrices, names of activations.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/model/hf_config.h"
#include "attnviz/model/model.h"
#include "attnviz/model/weight_reader.h"

namespace attnviz {

/// Hugging Face's name: "gelu", "gelu_new", "silu", …. Throws Error{kUnsupported} naming the known
/// ones, and what the config says where.
Activation read_activation(const HfConfig& config, std::string_view key,
                           std::string_view otherwise);

/// The number of dimensions of each head when no config says it: d_model / n_heads. Throws
/// Error{kMalformed} behind `where` when it does not divide.
std::size_t even_share(std::string_view where, std::size_t d_model, std::size_t n_heads);

/// The names of one layer's tensors.
class LayerNaming {
 public:
  /// `pattern` has {} for the layer's number: "model.layers.{}.".
  LayerNaming(std::string_view pattern, std::size_t layer);
  std::string operator()(std::string_view name) const { return prefix_ + std::string(name); }

 private:
  std::string prefix_;
};

/// Columns [first, first + count) of a projection.
Projection columns(const Projection& projection, std::size_t first, std::size_t count);

/// Query, key and value matrices of all heads, [d_model, n_heads · d_head] or, of keys and values,
/// [d_model, n_kv_heads · d_head].
struct HeadMatrices {
  Projection query, key, value;
};

/// Its heads, of which groups share keys and values. Throws Error{kMalformed} behind `where` when
/// the groups are not even.
std::vector<HeadWeights> cut_heads(std::string_view where, const HeadMatrices& matrices,
                                   std::size_t n_heads, std::size_t n_kv_heads);

/// The same where the columns of each head's queries are followed by as many of its output gate.
std::vector<HeadWeights> cut_gated_heads(std::string_view where, const HeadMatrices& matrices,
                                         std::size_t n_heads, std::size_t n_kv_heads);

/// The same out of one matrix [d_model, (n_heads + 2 n_kv_heads) · d_head], in which the queries of
/// a group stand in front of its key and its value.
std::vector<HeadWeights> cut_groups(std::string_view where, const Projection& qkv,
                                    std::size_t n_heads, std::size_t n_kv_heads);

/// What a family's norms have in common.
struct NormFacts {
  NormKind kind = NormKind::kRms;
  Presence bias = Presence::kNo;
  double epsilon = 1e-6;
  float weight_offset = 0.0f;
};

/// `name`.weight and, as the facts say, `name`.bias, of a shape; layer norms may have TensorFlow's
/// names, gamma and beta.
Norm read_norm(WeightReader& weights, std::string_view name,
               std::initializer_list<std::size_t> shape, const NormFacts& facts);

/// Norms of single heads as one, their weights behind one another. At least one.
Norm joined_norms(WeightReader& weights, const std::vector<Norm>& norms);

/// What may be passed over in files of Hugging Face: buffers, which old versions saved, heads of
/// other tasks and, when it is tied, the unembedding.
inline constexpr std::string_view kBuffer = "no weight: computed from the config";
std::vector<HarmlessTensor> heads_of_other_tasks();
HarmlessTensor tied_unembedding(std::string_view name);

/// The tensors of `count` layers from `first` on, which predict tokens further ahead; `pattern` has
/// {} for the number of the layer. At most 64 layers.
std::vector<HarmlessTensor> layers_ahead(std::string_view pattern, std::size_t first,
                                         std::size_t count);

/// A layer's sinks, [n_heads]. Throws Error{kMalformed} for NaN or infinity.
std::span<const float> read_sinks(WeightReader& weights, const std::string& name,
                                  std::size_t n_heads);

/// What a reader must know of a tied model whose file holds another `unembedding`.weight than
/// `embeddings`.weight: transformers 4 predicts with the embeddings, 5 with what the file holds.
/// Empty where they are the same, or only one is there.
std::string tied_note(const WeightReader& weights, std::string_view embeddings,
                      std::string_view unembedding);

/// The unembedding: the embeddings when they are tied, or `name`.weight [n_vocab, d_model] with
/// `name`.bias; empty when a file leaves it out, as those of base models do.
Projection read_unembedding(WeightReader& weights, std::string_view name, bool is_tied,
                            const StoredMatrix& embeddings, Presence bias = Presence::kNo);

}  // namespace attnviz
