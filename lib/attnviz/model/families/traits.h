// The differences between families of transformers, and the one reader that all of them share; also
// tools of the families' readers: shapes, heads from fused matrices, names of activations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/model/hf_config.h"
#include "attnviz/model/model.h"
#include "attnviz/model/weight_reader.h"

namespace attnviz {

/// Reads Hugging Face's name: "gelu", "gelu_new", "silu", …. Throws Error{kUnsupported} naming the
/// known ones, the key and its value.
Activation read_activation(const HfConfig& config, std::string_view key,
                           std::string_view otherwise);

/// The default number of dimensions of each head: d_model / n_heads. Throws Error{kMalformed}, with
/// `where` in front, when it is not a whole number.
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

/// Query, key and value matrices of all heads: [d_model, n_heads · d_head], and for keys and values
/// [d_model, n_kv_heads · d_head].
struct HeadMatrices {
  Projection query, key, value;
};

/// Cuts the matrices into heads, groups of which share keys and values. Throws Error{kMalformed},
/// with `where` in front, when the groups are not of equal size.
std::vector<HeadWeights> cut_heads(std::string_view where, const HeadMatrices& matrices,
                                   std::size_t n_heads, std::size_t n_kv_heads);

/// As above; the query columns of each head are followed by as many columns of its output gate.
std::vector<HeadWeights> cut_gated_heads(std::string_view where, const HeadMatrices& matrices,
                                         std::size_t n_heads, std::size_t n_kv_heads);

/// As above, from one matrix [d_model, (n_heads + 2 n_kv_heads) · d_head], in which each group's
/// queries come before its key and its value.
std::vector<HeadWeights> cut_groups(std::string_view where, const Projection& qkv,
                                    std::size_t n_heads, std::size_t n_kv_heads);

/// Properties that a family's norms share.
struct NormFacts {
  NormKind kind = NormKind::kRms;
  Presence bias = Presence::kNo;
  double epsilon = 1e-6;
  float weight_offset = 0.0f;
};

/// Reads `name`.weight and, as the facts say, `name`.bias, of a shape; layer norms may have
/// TensorFlow's names, gamma and beta.
Norm read_norm(WeightReader& weights, std::string_view name,
               std::initializer_list<std::size_t> shape, const NormFacts& facts);

/// Joins the norms of single heads, their weights one after another. At least one.
Norm joined_norms(WeightReader& weights, const std::vector<Norm>& norms);

/// Tensors of Hugging Face files that need not be read: buffers, which old versions saved, heads
/// for other tasks and, in a tied model, the unembedding.
inline constexpr std::string_view kBuffer = "no weight: computed from the config";
std::vector<HarmlessTensor> heads_of_other_tasks();
HarmlessTensor tied_unembedding(std::string_view name);

/// The tensors of `count` layers from `first` on, which predict tokens further ahead; `pattern` has
/// {} for the layer's number. At most 64 layers.
std::vector<HarmlessTensor> layers_ahead(std::string_view pattern, std::size_t first,
                                         std::size_t count);

/// A layer's sinks, [n_heads]. Throws Error{kMalformed} for NaN or infinity.
std::span<const float> read_sinks(WeightReader& weights, const std::string& name,
                                  std::size_t n_heads);

/// A note for a tied model in whose file `unembedding`.weight differs from `embeddings`.weight:
/// transformers 4 predicts with the embeddings, transformers 5 with the file's unembedding. Empty
/// if they are equal, or only one exists.
std::string tied_note(const WeightReader& weights, std::string_view embeddings,
                      std::string_view unembedding);

/// Reads the unembedding: the embeddings in a tied model, or `name`.weight [n_vocab, d_model] with
/// `name`.bias; empty when a file leaves it out, as base models do.
Projection read_unembedding(WeightReader& weights, std::string_view name, bool is_tied,
                            const StoredMatrix& embeddings, Presence bias = Presence::kNo);

/// Names of tensors; those of a layer follow its prefix, in which {} stands for its number. Names
/// of tensors that a family lacks are never looked up.
struct TensorNames {
  std::string_view embeddings = {}, positions = {}, segments = {}, embedding_norm = {};
  std::string_view embedding_projection = {}, output_projection = {};  // of narrower embeddings
  std::string_view norm = {}, unembedding = {};
  std::string_view layer = {};
  std::string_view query = {}, key = {}, value = {}, qkv = {},
                   output = {};                     // qkv: all three in one
  std::string_view query_norm = {}, key_norm = {};  // {}: one for each head
  std::string_view attention_norm = {}, after_attention_norm = {}, mlp_norm = {},
                   after_mlp_norm = {};
  std::string_view conv_in = {}, conv = {}, conv_out = {};
  // States: their inputs in one tensor; or q, k, v in one beside z, δ and b; or, sorted by key
  // head, q, k, v, z in one and b, δ in another.
  std::string_view state_in = {}, state_qkv = {}, state_z = {}, state_step = {}, state_beta = {},
                   state_qkvz = {}, state_ba = {};
  std::string_view state_conv = {}, state_rate = {}, state_log_rate = {}, state_step_bias = {},
                   state_skip = {}, state_norm = {}, state_out = {};
  // Each token's own embeddings for layers, outside of layers and in them.
  std::string_view layer_embeddings = {}, layer_projection = {}, layer_projection_norm = {};
  std::string_view input_gate = {}, input_projection = {}, input_norm = {};
  std::string_view result_scale = {};
  // Several streams; outside of layers {} stands for a stream's number minus 1.
  std::string_view altup_enter = {}, altup_leave = {};
  std::string_view altup_norm = {}, altup_router = {}, altup_prediction = {}, altup_correction = {},
                   altup_input_scale = {};
  std::string_view laurel_left = {}, laurel_right = {}, laurel_norm = {};
  std::string_view gate = {}, up = {}, down = {}, gate_up = {};  // gate_up: both in one
  std::string_view sinks = {};
  std::string_view distance_bias = {};
  // A decoder's cross-attention.
  std::string_view cross_query = {}, cross_key = {}, cross_value = {}, cross_output = {},
                   cross_norm = {};
  std::string_view logit_bias = {};  // [1, n_vocab]
  // Latents; one tensor computes keys and values from them, or two.
  std::string_view query_down = {}, query_down_norm = {}, key_down = {}, key_down_norm = {};
  std::string_view key_value_up = {}, key_up = {}, value_up = {};
  std::string_view router = {}, choice_bias = {};
  // Experts. If each has its own tensors, {} stands for its number; a tensor for all of them is
  // given by its full name, and so is its bias. Both layouts are read.
  std::string_view expert_gate = {}, expert_up = {}, expert_down = {};
  std::string_view experts_gate = {}, experts_up = {}, experts_gate_up = {}, experts_down = {};
  std::string_view experts_gate_bias = {}, experts_up_bias = {}, experts_gate_up_bias = {},
                   experts_down_bias = {};
  // Projections into and out of the narrower stream that experts work on.
  std::string_view expert_latent_in = {}, expert_latent_out = {};
  // Experts separate from the shared MLP: the router's norm and scales, norms on either side.
  std::string_view router_scale = {}, expert_scale = {}, expert_norm = {}, after_expert_norm = {},
                   after_shared_norm = {};
  // The MLP that all tokens share beside experts, and its gate.
  std::string_view shared_mlp_gate = {}, shared_mlp_up = {}, shared_mlp_down = {},
                   shared_mlp_gate_up = {}, shared_gate = {};
  // BERT's head, which predicts masked tokens.
  std::string_view transform = {}, transform_norm = {}, unembedding_bias = {};
};

/// How queries, keys and values are stored.
enum class QkvStorage {
  kSeparate,
  kStacked,  // in one matrix: all queries, all keys, all values
  kByGroup,  // in one matrix: for each KV head its queries, its key, its value
};

/// How the norms of queries and keys treat heads.
enum class HeadNorms {
  kShared,    // each head by itself, with the same weights: Qwen 3
  kOfEach,    // each head by itself, with its own weights: Cohere
  kTogether,  // all heads of a token together: OLMo 2
};

/// Experts instead of MLPs. If there are several, `router` describes everything but the tensors.
struct ExpertTraits {
  std::size_t n = 0;  // 0: none
  std::size_t d_ff = 0;
  Router router;
  Presence router_bias = Presence::kNo;
  bool has_choice_bias = false;
  Presence bias = Presence::kNo;
  // If one tensor holds all experts:
  bool interleaved = false;  // gate and up alternate; else all gates come first
  bool turned = false;       // stored [n, d_in, d_out]
  float limit = 0.0f;        // as in Mlp
  std::size_t d_latent = 0;  // width of their narrower stream; 0: d_model
  bool has_shared_gate = false;
  std::function<bool(std::size_t layer)> in_layer;  // empty: all layers
  std::size_t shared_d_ff = 0;                      // of the MLP beside them; 0: none
  bool apart = false;  // with their own norms, and a router that reads the stream: Gemma 4
};

/// Several residual streams: Gemma 3n.
struct AltUpTraits {
  std::size_t n_streams = 1;
  std::size_t active = 0;
  bool input_scale = true;  // of a LayerInput's input
};

/// States instead of attention, or beside it, without their tensors; shapes as in Recurrence.
struct StateTraits {
  Recurrence shape;
  Presence bias = Presence::kNo;          // of the projections
  std::optional<Presence> out_bias = {};  // of the output projection, if it differs
  Presence conv_bias = Presence::kNo;     // of the convolution
  Presence norm = Presence::kYes;
};

/// Distances in buckets, each with a number for each head (T5).
struct DistanceBuckets {
  std::size_t n = 0;  // 0: no biases
  std::size_t most_distance = 0;
  bool of_each_layer = false;  // otherwise all layers use the first one's table
};

/// Latents from which queries, keys and values are computed.
struct LatentTraits {
  std::size_t query_rank = 0;  // 0: queries are computed from the tokens
  std::size_t rank = 0;        // of keys and values; 0: no latents
  std::size_t n_shared = 0;    // numbers of a key that heads share, the only ones that rotate
  std::size_t d_value = 0;
  Presence down_bias = Presence::kNo;
  double epsilon = 1e-6;  // of their norms, regardless of the other norms
  bool is_one = true;     // one tensor computes keys and values
};

/// The shape of one layer, where layers differ: Gemma 4, LFM2.
struct LayerTraits {
  std::size_t n_heads = 0;
  std::size_t n_kv_heads = 0;
  std::size_t d_head = 0;
  std::size_t d_ff = 0;
  bool values_are_keys = false;          // values are projected as keys are
  std::optional<std::size_t> keys_from;  // an earlier layer whose keys and values it takes
  std::size_t convolution = 0;  // width of a convolution instead of attention; 0: attention
  // A layer may have states or nothing instead of attention (with nothing, its one norm is the
  // MLP's), or nothing instead of the MLP.
  bool has_states = false;
  bool has_both = false;  // states beside attention
  bool mixes = true;
  bool has_mlp = true;
  double sparsity = 0.0;  // as in Mlp
};

/// A config requests layers in a few bytes, and memory is allocated for each before any weight is
/// checked.
inline constexpr std::size_t kMostLayers = 4096;

/// A family's shapes, from its config and from the family itself. The defaults are Llama's.
struct Traits {
  std::string where;  // prefix of messages
  TensorNames names;

  std::size_t n_layers = 0;  // up to kMostLayers
  std::size_t n_vocab = 0;   // 0: the number of embeddings
  std::size_t d_model = 0;
  std::size_t d_embed = 0;  // of embeddings that are projected to d_model; 0: not projected
  std::size_t d_ff = 0;
  std::size_t d_head = 0;
  std::size_t n_heads = 0;
  std::size_t n_kv_heads = 0;
  std::size_t n_ctx = 0;
  std::size_t original_n_ctx = 0;  // before rotary positions were scaled; 0: n_ctx
  std::size_t most_tokens = 0;     // limit below n_ctx, for any scaling of positions; 0: n_ctx

  std::function<void(std::size_t layer, LayerTraits& shape)> vary;  // empty: all layers are alike

  Positions positions = Positions::kRope;
  std::function<std::shared_ptr<const Rope>(std::size_t layer)> rope;  // of rotary positions
  std::size_t n_positions = 0;                                         // rows of learned ones
  std::size_t first_position = 0;
  std::optional<std::uint32_t> no_position;  // as in Model
  std::size_t n_segments = 0;

  LayerOrder order = LayerOrder::kPreNorm;
  bool sees_all = false;  // tokens see those after them: encoders
  std::function<std::optional<Mask>(std::size_t layer)> mask;  // empty: the model's mask

  NormKind norm_kind = NormKind::kRms;
  Presence norm_bias = Presence::kNo;
  double epsilon = 1e-6;
  float norm_offset = 0.0f;     // Gemma stores a norm's weight minus 1
  bool embedding_norm = false;  // before layer 0: BLOOM
  bool norm_before = true;      // of the inputs of attention and the MLP; OLMo 2 has none
  bool first_norm = true;       // in layer 0, too; ModernBERT's has none before attention
  bool norm_after = false;      // of the outputs of attention and the MLP: Gemma 2
  bool one_norm = false;        // attention and MLP share one norm: Phi-2
  bool last_norm = true;        // after the last layer

  QkvStorage qkv = QkvStorage::kSeparate;
  bool conv1d = false;  // matrices are stored [d_in, d_out]: GPT-2
  Presence qkv_bias = Presence::kNo;
  Presence output_bias = Presence::kNo;
  DistanceBuckets distance_buckets;
  bool has_cross = false;  // a decoder with cross-attention
  Presence query_key_norm = Presence::kNo;
  HeadNorms head_norms = HeadNorms::kShared;
  bool norms_turned_heads = false;  // these norms come after the rotation: HunYuan
  bool value_norm = false;          // RMS norm of each head's values, without weights: Gemma 4
  double score_scale = 0.0;         // 0: 1 / √d_head
  bool scale_by_layer = false;      // also by 1 / (layer + 1): an option of GPT-2
  float soft_cap = 0.0f;
  bool has_sinks = false;     // a logit per head that belongs to no key: gpt-oss
  bool gated_output = false;  // an output gate after each head's queries: Qwen3-Next

  StateTraits states;  // of layers that have them
  LatentTraits latents;

  Activation activation = Activation::kSilu;
  bool gated = true;
  bool gate_with_up = false;  // in one matrix, the gate first: Phi-3
  Presence mlp_bias = Presence::kNo;
  ExpertTraits experts;

  float embedding_scale = 1.0f;   // Gemma: √d_model
  std::size_t layer_inputs = 0;   // width of each token's own embedding for a layer; 0: none
  std::size_t n_layer_vocab = 0;  // tokens with these embeddings; 0: all
  AltUpTraits altup;
  std::size_t laurel_rank = 0;  // 0: none
  float branch_scale = 1.0f;    // of the outputs of attention and MLP: Granite
  bool result_scale = false;    // a number in the file scales each layer's output: Gemma 4
  Presence convolution_bias = Presence::kNo;
  bool tied = false;
  Presence unembedding_bias = Presence::kNo;
  float logit_scale = 1.0f;
  float logit_soft_cap = 0.0f;
  // BERT's head:
  Activation head_activation = Activation::kGelu;
  Presence transform_bias = Presence::kNo;
};

/// Removes rotary positions from the layers for which `is_plain` is true.
void keep_unrotated(const std::function<bool(std::size_t layer)>& is_plain, Traits& traits);

/// Removes positions of any kind.
void remove_positions(Traits& traits);

/// Lets every token see all others, or, where `is_sliding` is true, those up to `reach` tokens
/// away.
void attend_bidirectionally(Traits& traits, std::size_t reach,
                            const std::function<bool(std::size_t layer)>& is_sliding);

/// The last layer before `end` that slides, or does not, as `slides` says; later layers take its
/// keys. Throws Error{kMalformed}, with `where` in front, if no layer qualifies.
std::size_t last_alike(std::string_view where, std::size_t end, bool slides,
                       const std::function<bool(std::size_t layer)>& is_sliding);

/// Tensors of keys and values that files may contain although an earlier layer's are used instead.
std::vector<HarmlessTensor> unused_keys(const TensorNames& names);

/// Sets learned positions: a table of `n` rows, added before the first layer.
void use_learned_positions(Traits& traits, std::size_t n, std::size_t first_position = 0);

/// Uses layer norms instead of RMS norms.
void norm_layers(Traits& traits, Presence bias, double epsilon);

/// Sets an encoder like BERT (Devlin et al. 2019): tokens see all others, layer norms follow the
/// sums, positions are learned, biases everywhere, an MLP without a gate. Needs d_model and
/// n_heads. Throws Error{kMalformed} when heads cannot share d_model.
void set_encoder(Traits& traits, std::size_t n_positions, double epsilon);

/// Sets biases in attention and the MLP, everywhere or nowhere.
void set_biases(Traits& traits, Presence presence);

/// Throws Error{kMalformed} when the numbers contradict each other or the tensors.
Model read_transformer(const Traits& traits, WeightReader weights);

/// Reads a decoder and the encoder of the text that it attends to from the same files. Throws as
/// read_transformer() does.
Model read_encoder_decoder(const Traits& encoder, const Traits& decoder, WeightReader weights);

}  // namespace attnviz
