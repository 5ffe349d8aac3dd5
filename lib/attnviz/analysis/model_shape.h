// The sizes of a model, with or without its weights, and what follows from them: the number of
// parameters in each part, and the memory that patterns and kept keys and values take.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/model/model.h"
#include "attnviz/model/random_model.h"

namespace attnviz {

/// A group of identically shaped heads in one attention layer.
struct HeadsShape {
  std::size_t n_heads = 0;
  std::size_t n_kv_heads = 0;  // groups of n_heads / n_kv_heads heads share keys and values
  std::size_t d_head = 0;      // of queries and keys
  std::size_t d_value = 0;
  bool query_bias = false, key_bias = false, value_bias = false;
  bool own_keys = true, own_values = true;  // projected here, not in another layer; values not
                                            // taken from the keys
  bool keeps = true;                        // keeps keys and values of its own for the next token

  bool operator==(const HeadsShape&) const = default;
};

/// A run of identically shaped layers. Matrices: W_Q [d_model, d_head] per head, W_K [d_model,
/// d_head] and W_V [d_model, d_value] ("value-down") per key/value head, W_O [d_value, d_model] per
/// head ("value-up"). With latents, W_Q is [query_rank, d_head] unless query_rank is 0, W_K
/// [key_rank, d_head - shared_key] and W_V [key_rank, d_value].
struct LayerShape {
  std::vector<HeadsShape> heads;
  std::size_t query_rank = 0, key_rank = 0;  // of latents; 0: projected from the tokens directly
  std::size_t shared_key = 0;                // numbers of every key that do not come from W_K
  std::size_t latents = 0;                   // parameters of the matrices that make latents
  std::size_t latent_biases = 0;
  bool output = true;  // whether it has a W_O
  std::size_t output_biases = 0;
  std::size_t d_ff = 0;  // 0: no MLP, or not counted
  bool gated = false;    // an MLP of three matrices [d_model, d_ff]; otherwise of two
  std::size_t mlp_biases = 0;
  std::size_t n_experts = 0;       // instead of the MLP, or next to it; 0: none
  std::size_t n_used_experts = 0;  // per token
  std::size_t expert_d_ff = 0;
  std::size_t expert = 0;  // parameters of one expert
  std::size_t router = 0;  // parameters of the router, and of the gate of a shared MLP
  std::size_t norms = 0;   // parameters of all norms, including those of queries and keys
  MixerKind mixer = MixerKind::kAttention;
  std::size_t convolution = 0;  // width in tokens, or that of the states' one; 0: none
  std::size_t cross = 0;        // parameters of cross-attention, with its norm; 0: none
  std::size_t states = 0;       // numbers of states, for a text of any length; 0: none
  std::size_t other = 0;        // parameters of other mixers, gates, sinks, layer inputs, streams
  std::size_t n_layers = 1;     // consecutive layers with this shape

  std::size_t n_heads() const noexcept;
  std::size_t n_kv_heads() const noexcept;
  /// Numbers kept per token for later tokens: keys and values, or the latents from which both can
  /// be recomputed (0 without latents).
  std::size_t kept() const noexcept;
  std::size_t kept_latents() const noexcept { return key_rank + shared_key; }
  bool operator==(const LayerShape&) const = default;
};

struct ModelShape {
  std::size_t d_model = 0;
  std::size_t n_ctx = 0;  // 0: any
  std::vector<LayerShape> layers;

  std::size_t n_vocab = 0;          // rows of the token embeddings; 0: none, or not counted
  std::size_t n_positions = 0;      // rows of learned position embeddings
  std::size_t position_biases = 0;  // parameters of the scores' relative position biases
  std::size_t n_segments = 0;
  std::size_t layer_embeddings = 0;  // parameters of each token's per-layer embeddings
  std::size_t outer_norms = 0;  // parameters of the norms of embeddings and of the last layer's
                                // output

  bool tied = false;                     // the unembedding is the token embedding matrix
  std::size_t unembedding = 0;           // parameters of an unembedding of its own
  std::size_t output_transform = 0;      // parameters between the last norm and the unembedding:
                                         // BERT's, OPT's
  std::size_t d_embed = 0;               // width of token embeddings, if narrower; 0: d_model
  std::size_t embedding_projection = 0;  // parameters that widen them
  std::size_t output_biases = 0;

  std::size_t encoder = 0;  // parameters of the encoder that cross-attention reads, without the
                            // shared token embeddings; 0: none

  bool keeps_keys = true;  // no token sees later ones, so keys and values can be kept

  std::size_t n_layers() const noexcept;
  /// The first layers with experts; null if none have any.
  const LayerShape* first_routed() const noexcept;
  /// The first layers with latents; null if none have any.
  const LayerShape* first_latent() const noexcept;
  /// The first layers with heads.
  const LayerShape& first_attention() const noexcept;
};

/// The shape of a model. Tied embeddings and the keys and values of a group stay shared.
ModelShape model_shape(const Model& model);

/// A model described by its sizes, without biases, norms and positions.
struct DescribedModel {
  RandomShape attention;
  std::size_t n_vocab = 0;  // 0: embeddings are not counted
  std::size_t n_ctx = 0;
  std::size_t d_ff = 0;  // 0: MLPs are not counted
  bool gated = false;
  bool tied = false;  // otherwise the unembedding is as large as the embeddings
};

/// Throws Error{kUsage} as completed() does.
ModelShape model_shape(const DescribedModel& described);

/// Parameters of attention.
struct AttentionCounts {
  std::size_t query = 0;   // W_Q
  std::size_t key = 0;     // W_K
  std::size_t value = 0;   // W_V, value-down
  std::size_t output = 0;  // W_O, value-up
  std::size_t biases = 0;
  std::size_t latents = 0;  // matrices that make the latents all heads read

  std::size_t total() const noexcept { return query + key + value + output + biases + latents; }
  bool operator==(const AttentionCounts&) const = default;
};

inline constexpr std::pair<std::string_view, std::size_t AttentionCounts::*> kAttentionParts[] = {
    {"W_Q", &AttentionCounts::query},       {"W_K", &AttentionCounts::key},
    {"W_V", &AttentionCounts::value},       {"W_O", &AttentionCounts::output},
    {"latents", &AttentionCounts::latents}, {"biases", &AttentionCounts::biases}};

struct LayerCounts {
  AttentionCounts attention;
  std::size_t mlp = 0;      // with its biases; in layers with experts, the MLP that all tokens
                            // share
  std::size_t experts = 0;  // all of them, with the router
  std::size_t norms = 0;
  std::size_t other = 0;  // convolutions, states, gates, sinks, layer inputs, further streams
  std::size_t cross = 0;  // cross-attention, with its norms

  std::size_t total() const noexcept {
    return attention.total() + mlp + experts + norms + other + cross;
  }
  bool operator==(const LayerCounts&) const = default;
};

struct ParameterCounts {
  /// Parameters that one head uses: keys and values are counted whole, even where heads share them;
  /// biases are those of the head's query, key and value. Absent if heads differ.
  std::optional<AttentionCounts> head;
  std::optional<LayerCounts> layer;  // absent if layers differ
  LayerCounts layers;                // all of them; a group's keys and values count once

  std::size_t token_embeddings = 0;
  std::size_t positions = 0;
  std::size_t segments = 0;
  std::size_t layer_embeddings = 0;
  std::size_t outer_norms = 0;
  std::size_t encoder = 0;      // in encoder-decoders, where all else is the decoder's
  std::size_t output_head = 0;  // with its transform and biases, without tied embeddings
  std::size_t total = 0;
  std::size_t active = 0;  // used by one token: the total less the experts it is not routed to
};

/// Throws Error{kUsage} if the count is too large for std::size_t.
ParameterCounts count_parameters(const ModelShape& shape);

/// Bytes of a text's patterns, float32 [layer, head, query, key].
struct PatternBytes {
  std::size_t head = 0;
  std::size_t all = 0;
};
/// Throws as count_parameters does.
PatternBytes pattern_bytes(const ModelShape& shape, std::size_t n_tokens);

/// Bytes of a text's keys and values in all layers, and of states, if nothing is dropped and a
/// number takes `bytes_of_number`. Throws as count_parameters does.
std::size_t kept_bytes(const ModelShape& shape, std::size_t n_tokens, std::size_t bytes_of_number);

/// The same if layers with latents keep latents instead; without states. Throws as count_parameters
/// does.
std::size_t kept_latent_bytes(const ModelShape& shape, std::size_t n_tokens,
                              std::size_t bytes_of_number);

/// `numbers` times `bytes_of_number`. Throws as count_parameters does.
std::size_t bytes_of(std::size_t numbers, std::size_t bytes_of_number);

/// Bytes that a text of some length takes.
struct TextMemory {
  std::size_t n_tokens = 0;
  bool beyond_context = false;
  PatternBytes pattern;
  std::size_t kept_float32 = 0;  // keys and values
  std::size_t kept_float16 = 0;
  std::size_t latents_float32 = 0;  // of latents instead; 0 in models without them
  std::size_t latents_float16 = 0;
};

/// For 128, 512, 1,024, 4,096, 16,384 and 131,072 tokens. Throws as count_parameters does.
std::vector<TextMemory> text_memory(const ModelShape& shape);

}  // namespace attnviz
