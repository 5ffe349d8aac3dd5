// A model as attention needs it: shapes, weight views and the owner of their memory.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/choices.h"
#include "attnviz/core/stored_matrix.h"
#include "attnviz/core/tensor.h"
#include "attnviz/core/unread.h"
#include "attnviz/model/mask.h"
#include "attnviz/model/mixers.h"
#include "attnviz/model/transformer_parts.h"

namespace attnviz {

/// Position information: added to the embeddings (sinusoidal, learned), to queries and keys (rope),
/// to scores (alibi, relative), or absent.
enum class Positions { kNone, kSinusoidal, kRope, kAlibi, kLearned, kRelative };

/// The positions that a user can choose; learned and relative positions are stored in a model's
/// file.
inline constexpr std::array kPositionChoices = {
    Choice{"none", Positions::kNone}, Choice{"sinusoidal", Positions::kSinusoidal},
    Choice{"rope", Positions::kRope}, Choice{"alibi", Positions::kAlibi}};

std::string_view positions_name(Positions positions) noexcept;
/// One of kPositionChoices. Throws Error{kUsage} naming them, with did-you-mean.
Positions parse_positions(std::string_view name);

/// One attention head. Heads of one layer may differ in d_head and d_value. In layers with latents
/// d_in is the latents' rank instead of d_model, and the last dimensions of every key come from the
/// latents.
struct HeadWeights {
  Projection query;     // [d_model, d_head]
  Projection key;       // [d_model, d_head]
  Projection value;     // [d_model, d_value]
  StoredMatrix output;  // [d_value, d_model] ("value-up"), or empty
  // [d_model, d_value], or empty. If present, W_O receives the context times σ(x̂ · output_gate),
  // where x̂ is the input of attention (Qiu et al. 2025; Qwen3-Next).
  Projection output_gate = {};

  std::size_t d_head() const noexcept { return query.d_out(); }
  std::size_t d_value() const noexcept { return value.d_out(); }
};

/// Added to the scores of each head, depending on how far a key is from its query, and on which
/// side (T5, Raffel et al. 2020, section 2.1).
struct DistanceBias {
  std::size_t reach = 0;      // keys farther away get the bias of this distance
  MatrixBuffer of_heads;      // [n_heads, 2 reach + 1]: column key - query + reach
  std::size_t n_learned = 0;  // numbers in the file from which they are computed
};

/// A decoder layer's attention to another text, between self-attention and the MLP: queries of its
/// own tokens, keys and values of the encoder's output for the other text. Every query sees every
/// key. Source: Vaswani et al. 2017, section 3.2.3.
struct CrossAttention {
  std::vector<HeadWeights> heads;
  Projection output;         // [sum of d_value, d_model]
  Norm norm = {};            // before it (after it and the residual when kPostNorm)
  double score_scale = 0.0;  // of q·k; 0: 1 / √d_head

  bool present() const noexcept { return !heads.empty(); }
};

/// One layer: attention or, without heads, another mixer. States beside the heads read the same
/// input and add to the same stream: Falcon-H1. The output of attention is the first of these that
/// applies:
///   concat(contexts) · output.weight + output.bias     when `output` has a weight;
///   sum over heads of context · head.output + output.bias   when the heads have an output;
///   concat(contexts)                                    otherwise (last layer only).
struct LayerWeights {
  std::vector<HeadWeights> heads;
  Projection output;  // [sum of d_value, d_model], or empty; the bias may stand alone
  // A layer without heads has one of these, or none and adds nothing. A layer with heads may have a
  // recurrence, too.
  Convolution convolution = {};
  Recurrence recurrence = {};
  Latents latents = {};  // read by its heads; if absent, they read the tokens

  // How the layer attends where it differs from the model.
  std::optional<Mask> mask = {};
  std::shared_ptr<const Rope> rope =
      {};                    // null: frequencies 10000^(-2i / d_head), if positions are rope
  double score_scale = 0.0;  // of q·k; 0: 1 / √d_head
  float soft_cap = 0.0f;     // c: scores become c · tanh(score / c); 0: none
  // For each head a logit beside those of the keys, whose weight goes to none of them (gpt-oss,
  // OpenAI 2025); or empty.
  std::span<const float> sinks = {};
  // Norms of queries and keys, before or after the rotation: weights [d_head] that all heads share,
  // or one set for each query head, or KV head, one after another.
  Norm query_norm = {}, key_norm = {};
  bool norms_heads_together = false;  // their means run over all heads of a token: OLMo 2
  bool norms_turned_heads = false;    // these norms come after the rotation: HunYuan
  Norm value_norm = {};               // of each head's [d_value]: Gemma 4
  std::shared_ptr<const DistanceBias> distance_bias = {};  // of relative positions
  CrossAttention cross = {};
  // An earlier layer whose keys and values its heads use; their projections are that layer's.
  std::optional<std::size_t> keys_from = {};

  // The parts around attention, in the order given by the model's LayerOrder.
  Norm attention_norm = {};        // before attention (after it and the residual when kPostNorm)
  Norm after_attention_norm = {};  // of the output of attention
  Norm mlp_norm = {};
  Norm after_mlp_norm = {};
  Mlp mlp = {};  // for every token; with experts the shared MLP, or empty
  Experts experts = {};
  LayerInput input = {};
  float branch_scale = 1.0f;  // of the outputs of attention and MLP: Granite's residual multiplier
  float result_scale = 1.0f;  // of the layer's whole output: Gemma 4's layer scalar
  Laurel laurel = {};
  AltUpLayer altup = {};  // in all layers of models with several streams

  /// The norm [d_head] of one head's queries, or keys.
  Norm query_norm_of(std::size_t head) const noexcept;
  Norm key_norm_of(std::size_t head) const noexcept;

  /// How the layer mixes tokens.
  MixerKind mixer() const noexcept;
  /// Whether states stand beside heads.
  bool has_both() const noexcept { return !heads.empty() && recurrence.present(); }
  /// Whether it has an MLP or experts.
  bool has_mlp() const noexcept { return mlp.present() || experts.present(); }

  bool has_output() const noexcept {
    return heads.empty() || !output.weight.empty() || !heads.front().output.empty();
  }
};

/// Numbers, for each head, its pair of key and value matrices, in order of first appearance: heads
/// that share theirs (grouped-query attention, Ainslie et al. 2023) have the same number.
std::vector<std::size_t> key_value_heads(const LayerWeights& layer);

/// The column where each head's context begins among those of all heads side by side, followed by
/// their total width.
std::vector<std::size_t> context_columns(const LayerWeights& layer);

/// The W_O of each head, [d_value, d_model]; empty if the layer has none.
std::vector<StoredMatrix> head_outputs(const LayerWeights& layer);

/// The parts a model consists of, and its input.
enum class ModelKind {
  kAttention,    // layers of attention, over pieces of a text: weights JSON, random
  kTransformer,  // a complete model of some family, over the ids of its own tokenizer
};

/// A pattern that a head was identified as: "induction".
struct NamedHead {
  std::size_t layer = 0;
  std::size_t head = 0;
  std::string name;
};

/// What a model states about itself.
struct ModelConfig {
  std::string name;    // "random", "demo", or the file's name
  std::string origin;  // where it comes from, for readers of its pictures; empty: its name says it
  std::size_t d_model = 0;
  std::string tokenizer = "words";  // "words", "chars" or "bytes"
  Mask mask;
  Positions positions = Positions::kNone;
  ModelKind kind = ModelKind::kAttention;
  std::string family;     // of transformers: "gpt2", as in a config.json's model_type
  std::size_t n_ctx = 0;  // the longest text; 0: any
  std::vector<std::uint32_t> end_of_text;     // ids of tokens that end a text (transformers)
  std::vector<std::uint32_t> never_written;   // ids that decoding never chooses
  std::optional<std::uint32_t> first_token;   // the start token of an encoder-decoder's decoder
  std::optional<std::uint32_t> forced_token;  // the first token it writes, in any case
  std::vector<IgnoredKey> ignored_keys;
  std::vector<std::string> unknown_keys;  // keys and tensors of its files, unknown to attnviz
  std::optional<std::vector<NamedHead>> named_heads;  // by layer, then head; absent: not measured
  LayerOrder order = LayerOrder::kAttentionOnly;
  bool residual = true;         // add each layer's output to its input
  bool random_weights = false;  // attention patterns carry no meaning
  std::uint64_t seed = 0;       // of random weights and of random embeddings

  bool is_transformer() const noexcept { return kind == ModelKind::kTransformer; }
  /// Whether `n_tokens` tokens exceed the model's context.
  bool is_too_long(std::size_t n_tokens) const noexcept { return n_ctx != 0 && n_tokens > n_ctx; }
};

/// From the residual stream to logits over the vocabulary: norm, transform, projection,
/// unembedding, scale, cap.
struct OutputHead {
  Norm norm;             // of the last layer's output
  Projection transform;  // [d_model, d_model], then activation and transform_norm: BERT; or empty
  Activation activation = Activation::kGelu;
  Norm transform_norm;
  Projection projection;   // [d_model, d_embed], where embeddings are narrower: OPT; or empty
  Projection unembedding;  // [d_model or d_embed, n_vocab]; empty: the model predicts nothing
  float scale = 1.0f;      // of the logits: Cohere
  float soft_cap = 0.0f;   // c: logits become c · tanh(logit / c); 0: none
};

/// The tensors in a model's files, by type.
struct StoredWeights {
  struct Numbers {
    StoredType type = StoredType::kF32;
    std::size_t count = 0;
    std::size_t n_tensors = 0;
    std::size_t bytes() const noexcept { return stored_bytes(type, count); }
  };
  std::vector<Numbers> used;  // tensors that the model uses, each type once; empty: no files
  struct Unused {
    std::string name;
    std::string file;
    std::string_view why;  // why it changes nothing; empty: unknown
  };
  std::vector<Unused> unused_tensors;  // other tensors in the files
  std::size_t n_unused_bytes = 0;
};

/// Each token's own embeddings for every layer (Gemma 3n and 4). For a token with embedding x in
/// the stream, p [n_layers, e] is (norm(x · projection / √d_model) + √e · its row) / √2.
struct LayerEmbeddings {
  StoredMatrix table;     // [n_vocab, n_layers · e], or empty; ids beyond it have the first row
  Projection projection;  // [d_model, n_layers · e]
  Norm norm;              // of each layer's [e]

  bool present() const noexcept { return !table.empty(); }
};

/// Weights are views into `storage`; copies share it. At least one layer has heads. For an
/// encoder-decoder this is the decoder, which owns the encoder.
struct Model {
  ModelConfig config;
  std::vector<LayerWeights> layers;

  std::vector<std::string> vocabulary;  // pieces with an embedding, [n_vocab]; may be empty
  StoredMatrix embeddings;              // [n_vocab, d_model], or d_embed where they are projected
  ConstMatrix inputs;  // [n_tokens, d_model]: the residual stream itself, by position; or empty
  std::string text;    // the text that weights by hand were made for; or empty
  bool random_unknown = true;  // pieces without an embedding: a seeded random one, or an error

  // Transformers: additions to the embeddings of token ids, and operations on the sum.
  float embedding_scale = 1.0f;      // of the tokens' embeddings
  Projection embedding_projection;   // [d_embed, d_model], where embeddings are narrower: OPT
  StoredMatrix position_embeddings;  // [first_position + n_ctx, d_model], or empty
  std::size_t first_position = 0;    // the row of the first token: 2 in RoBERTa
  std::optional<std::uint32_t> no_position;  // token without a position: has row first_position - 1
  bool sines_first = false;         // sinusoidal: all sines before all cosines, as in Marian
  StoredMatrix segment_embeddings;  // [n_segments, d_model], or empty
  Norm embedding_norm;
  LayerEmbeddings layer_embeddings;
  AltUp altup;

  OutputHead head;

  // Reads the text that cross-attention attends to; null: no encoder. Its head's norm applies to
  // its output.
  std::shared_ptr<const Model> encoder;

  StoredWeights stored;
  std::shared_ptr<const void> storage;

  std::size_t n_layers() const noexcept { return layers.size(); }
  /// The largest number of heads in any layer.
  std::size_t n_heads() const noexcept;
  /// The first layer with heads.
  const LayerWeights& first_attention() const noexcept;
  /// Whether some layers use keys and values of others.
  bool shares_keys() const noexcept;
  /// The layers whose keys and values others use.
  std::set<std::size_t> lending_layers() const;
  /// Whether layers have states that are updated token by token.
  bool has_states() const noexcept;
  /// Sets its own name and family, and its encoder's; both appear in messages.
  void set_name(std::string name, std::string family);
};

/// The input for a text of n tokens.
struct ModelInput {
  std::span<const std::string_view> pieces;  // [n]: looked up by models of attention alone
  std::span<const std::uint32_t> ids;        // [n]: looked up by transformers
  std::span<const std::uint8_t> segments;    // [n], 0 or 1: BERT's token types; empty: all 0
  std::size_t first_position = 0;            // of the first token, in transformers
  ConstMatrix encoded;  // [n_source, d]: encode() of the text that a decoder attends to

  ModelInput() = default;
  /// Accepts any contiguous list of pieces.
  template <std::convertible_to<std::span<const std::string_view>> Pieces>
  ModelInput(const Pieces& given) noexcept : pieces(given) {}

  std::size_t size() const noexcept { return std::max(pieces.size(), ids.size()); }
};

/// Returns the residual stream that enters layer 0, [n_tokens, d_model]: inputs by position, or the
/// embedding of each piece (random and seeded when the model has none: the same piece, the same
/// vector), plus sinusoidal positions (Vaswani et al. 2017, section 3.5) when the model has them.
/// For a transformer: the embeddings of the ids, scaled, with those of positions and segments, and
/// their norm.
///
/// Throws Error{kUsage} when the model has `inputs` for another number of tokens, when a piece has
/// no embedding and the model forbids random ones, when an id or a segment is outside of its table,
/// or when the text is longer than the model's context.
MatrixBuffer embed(const Model& model, const ModelInput& input);

/// Returns each token's input to every layer beside the stream, [n_tokens, n_layers · e]; empty if
/// the model has no layer embeddings. `stream` is the result of embed() for the same input.
MatrixBuffer embed_for_layers(const Model& model, const ModelInput& input, ConstMatrix stream);

/// The pieces without an embedding, for which embed() draws vectors from the seed: each once, in
/// order of first appearance. Empty when the model has `inputs`, or forbids random embeddings.
/// Views into `pieces`.
std::vector<std::string_view> random_pieces(const Model& model,
                                            std::span<const std::string_view> pieces);

}  // namespace attnviz
