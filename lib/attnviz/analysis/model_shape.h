// The sizes of a model, whether its weights are there or not, and what follows from them: how many
// parameters stand where, and how much memory patterns and kept keys take.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/model/model.h"
#include "attnviz/model/random_model.h"

namespace attnviz {

/// Heads of one attention layer that are alike.
struct HeadsShape {
  std::size_t n_heads = 0;
  std::size_t n_kv_heads = 0;  // groups of n_heads / n_kv_heads heads share keys and values
  std::size_t d_head = 0;      // of queries and keys
  std::size_t d_value = 0;
  bool query_bias = false, key_bias = false, value_bias = false;
  bool own_keys = true, own_values = true;  // not projected as the keys are, or by another layer
  bool keeps = true;                        // keys and values of its own, for the next token

  bool operator==(const HeadsShape&) const = default;
};

/// Layers that are alike. Matrices: W_Q [d_model, d_head] a head, W_K [d_model, d_head] and W_V
/// [d_model, d_value] ("value-down") a key/value head, W_O [d_value, d_model] a head ("value-up").
/// With latents W_Q is [query_rank, d_head] unless that is 0, W_K [key_rank, d_head - shared_key]
/// and W_V [key_rank, d_value].
struct LayerShape {
  std::vector<HeadsShape> heads;
  std::size_t query_rank = 0, key_rank = 0;  // of latents; 0: these are made of the tokens
  std::size_t shared_key = 0;                // numbers of every key that no W_K makes
  std::size_t latents = 0;                   // numbers of what makes latents
  std::size_t latent_biases = 0;
  bool output = true;  // there is a W_O
  std::size_t output_biases = 0;
  std::size_t d_ff = 0;  // 0: no MLP, or it is not counted
  bool gated = false;    // an MLP of three matrices [d_model, d_ff], else of two
  std::size_t mlp_biases = 0;
  std::size_t n_experts = 0;       // in the MLP's place, or beside it; 0: there are none
  std::size_t n_used_experts = 0;  // that a token gets
  std::size_t expert_d_ff = 0;
  std::size_t expert = 0;  // numbers of one of them
  std::size_t router = 0;  // numbers of what chooses them, and of what opens a shared MLP
  std::size_t norms = 0;   // numbers of all norms, those of queries and keys among them
  MixerKind mixer = MixerKind::kAttention;
  std::size_t convolution = 0;  // tokens that one, or that of states, sees; 0: there is none
  std::size_t cross = 0;        // numbers of cross-attention, with its norm; 0: there is none
  std::size_t states = 0;       // numbers of states, whatever the text's length; 0: there are none
  std::size_t other = 0;        // numbers of what stands in attention's place or takes in inputs
  std::size_t n_layers = 1;     // that follow one another and are so

  std::size_t n_heads() const noexcept;
  std::size_t n_kv_heads() const noexcept;
  /// Numbers of a token that are kept for the next one: its keys and values, or the latents that
  /// these can be made of again, 0 without.
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
  std::size_t position_biases = 0;  // numbers of relative positions' biases of scores
  std::size_t n_segments = 0;
  std::size_t layer_embeddings = 0;  // numbers of each token's own embeddings for layers
  std::size_t outer_norms = 0;  // numbers of the norms of embeddings and of the last layer's output

  bool tied = false;                 // the unembedding is the token embeddings
  std::size_t unembedding = 0;       // numbers of a matrix of its own
  std::size_t output_transform = 0;  // of what stands between the last norm and it: BERT's, OPT's
  std::size_t d_embed = 0;           // of token embeddings that are narrower; 0: d_model
  std::size_t embedding_projection = 0;  // numbers that widen them
  std::size_t output_biases = 0;

  std::size_t encoder = 0;  // numbers of what reads the text that cross-attention looks at, without
                            // the token embeddings that both share; 0: there is none

  bool keeps_keys = true;  // no token sees those behind it, so that keys and values can be kept

  std::size_t n_layers() const noexcept;
  /// The first layers that have experts; null where none have.
  const LayerShape* first_routed() const noexcept;
  /// The first layers that have latents; null where none have.
  const LayerShape* first_latent() const noexcept;
  /// The first layers that have heads.
  const LayerShape& first_attention() const noexcept;
};

/// That of a model, which shares what it shares: tied embeddings, keys and values of groups.
ModelShape model_shape(const Model& model);

/// A model that is told in numbers: no biases, norms and positions.
struct DescribedModel {
  RandomShape attention;
  std::size_t n_vocab = 0;  // 0: embeddings are not counted
  std::size_t n_ctx = 0;
  std::size_t d_ff = 0;  // 0: MLPs are not counted
  bool gated = false;
  bool tied = false;  // otherwise there is an unembedding as large as the embeddings
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
  std::size_t latents = 0;  // what makes the latents that all heads read

  std::size_t total() const noexcept { return query + key + value + output + biases + latents; }
  bool operator==(const AttentionCounts&) const = default;
};

inline constexpr std::pair<std::string_view, std::size_t AttentionCounts::*> kAttentionParts[] = {
    {"W_Q", &AttentionCounts::query},       {"W_K", &AttentionCounts::key},
    {"W_V", &AttentionCounts::value},       {"W_O", &AttentionCounts::output},
    {"latents", &AttentionCounts::latents}, {"biases", &AttentionCounts::biases}};

struct LayerCounts {
  AttentionCounts attention;
  std::size_t mlp = 0;      // with its biases; beside experts what all tokens share
  std::size_t experts = 0;  // all of them, with what chooses them
  std::size_t norms = 0;
  std::size_t other = 0;  // convolutions, states, gates, sinks, layer inputs, further streams
  std::size_t cross = 0;  // cross-attention, with its norms

  std::size_t total() const noexcept {
    return attention.total() + mlp + experts + norms + other + cross;
  }
  bool operator==(const LayerCounts&) const = default;
};

struct ParameterCounts {
  /// What works in one head: keys and values are counted whole, also where heads share them; of
  /// biases those of the head's query, key and value. Nothing when heads differ.
  std::optional<AttentionCounts> head;
  std::optional<LayerCounts> layer;  // nothing when layers differ
  LayerCounts layers;                // all of them; keys and values of a group once

  std::size_t token_embeddings = 0;
  std::size_t positions = 0;
  std::size_t segments = 0;
  std::size_t layer_embeddings = 0;
  std::size_t outer_norms = 0;
  std::size_t encoder = 0;      // of an encoder-decoder, of which all else is the decoder
  std::size_t output_head = 0;  // with its transform and biases; tied embeddings are none of it
  std::size_t total = 0;
  std::size_t active = 0;  // that one token meets: the total less the experts it does not get
};

/// Throws Error{kUsage} when there are more than can be counted.
ParameterCounts count_parameters(const ModelShape& shape);

/// Bytes of a text's patterns, float32 [layer, head, query, key].
struct PatternBytes {
  std::size_t head = 0;
  std::size_t all = 0;
};
/// Throws as count_parameters does.
PatternBytes pattern_bytes(const ModelShape& shape, std::size_t n_tokens);

/// Bytes of all layers' keys and values of a text, and of states, when nothing is forgotten and a
/// number takes `bytes_of_number`. Throws as count_parameters does.
std::size_t kept_bytes(const ModelShape& shape, std::size_t n_tokens, std::size_t bytes_of_number);

/// The same where layers with latents keep these. Throws as count_parameters does.
std::size_t kept_latent_bytes(const ModelShape& shape, std::size_t n_tokens,
                              std::size_t bytes_of_number);

/// `numbers` times the bytes of each. Throws as count_parameters does.
std::size_t bytes_of(std::size_t numbers, std::size_t bytes_of_number);

/// What a text of some length takes; bytes.
struct TextMemory {
  std::size_t n_tokens = 0;
  bool beyond_context = false;
  PatternBytes pattern;
  std::size_t kept_float32 = 0;  // keys and values
  std::size_t kept_float16 = 0;
  std::size_t latents_float32 = 0;  // latents in their place; 0 of models without
  std::size_t latents_float16 = 0;
};

/// For 128, 512, 1,024, 4,096, 16,384 and 131,072 tokens. Throws as count_parameters does.
std::vector<TextMemory> text_memory(const ModelShape& shape);

}  // namespace attnviz
