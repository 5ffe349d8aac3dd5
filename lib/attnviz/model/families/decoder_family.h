// Decoders after Llama: RMS norms, rotary positions, gated MLPs; its descendants differ in details.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/model/families/parts.h"

namespace attnviz {

/// What tensors are called; those of a layer behind its name, in which {} stands for its number.
struct DecoderNames {
  std::string_view embeddings, norm, unembedding;
  std::string_view layer;
  std::string_view query, key, value, qkv, output;  // qkv: all three in one
  std::string_view query_norm, key_norm;
  std::string_view attention_norm, after_attention_norm, mlp_norm, after_mlp_norm;
  std::string_view gate, up, down, gate_up;  // gate_up: both in one
};

/// What a family's config says, and the family itself. The defaults are Llama's.
struct DecoderTraits {
  std::string where;  // in front of messages
  DecoderNames names;
  std::size_t n_layers = 0;
  std::size_t n_vocab = 0;  // 0: as many as there are embeddings
  std::size_t d_model = 0;
  std::size_t d_ff = 0;
  std::size_t d_head = 0;
  std::size_t n_heads = 0;
  std::size_t n_kv_heads = 0;
  std::size_t n_ctx = 0;
  std::size_t original_n_ctx = 0;
  std::size_t most_tokens = 0;  // less than n_ctx, however positions are scaled; 0: as n_ctx
  double epsilon = 1e-6;
  Activation activation = Activation::kSilu;

  Presence qkv_bias = Presence::kNo;
  Presence output_bias = Presence::kNo;
  Presence mlp_bias = Presence::kNo;
  Presence query_key_norm = Presence::kNo;  // of each head: Qwen 3, Gemma 3
  bool fused = false;       // q, k and v in one matrix, and gate and up in another: Phi-3
  bool norm_after = false;  // attention and MLP are normed before they are added: Gemma 2
  bool tied = false;
  float norm_offset = 0.0f;      // Gemma stores a norm's weight less 1
  float embedding_scale = 1.0f;  // Gemma: √d_model
  double score_scale = 0.0;      // 0: 1 / √d_head
  float soft_cap = 0.0f;
  float logit_soft_cap = 0.0f;

  std::function<std::optional<Mask>(std::size_t layer)> mask;          // empty: causal
  std::function<std::shared_ptr<const Rope>(std::size_t layer)> rope;  // by layer
};

/// What a family's library assumes where a config is silent. 0: it must say.
struct DecoderDefaults {
  std::size_t n_heads = 0;
  std::size_t n_kv_heads = 0;  // 0: as many as heads
  std::size_t d_head = 0;      // 0: d_model / n_heads
  std::size_t n_ctx = 0;
  double epsilon = 1e-6;
  std::size_t original_n_ctx = 0;  // before rotary positions were scaled; 0: n_ctx
};

/// The shapes and names that all these families have in common.
DecoderTraits read_traits(const HfConfig& config, const DecoderDefaults& defaults = {});

/// Rotary positions that are the same in all layers.
void rotate_all(const HfConfig& config, DecoderTraits& traits);

/// The config's "sliding_window", or `otherwise` when it does not say; 0: none, as null says.
std::size_t sliding_window(const HfConfig& config, std::size_t otherwise);

/// For configs that say elsewhere that no layer slides. Throws Error{kUnsupported} when
/// "layer_types" calls a layer "sliding_attention", with `said` as what it contradicts.
void require_none_sliding(const HfConfig& config, std::string_view said);

/// window:`window` in those layers that "layer_types" calls "sliding_attention", or, without such a
/// list, where `is_sliding` says so. A window of 0: in none; throws as require_none_sliding() does.
void slide(const HfConfig& config, std::size_t window,
           const std::function<bool(std::size_t layer)>& is_sliding, DecoderTraits& traits);

/// The same in all layers.
void slide_everywhere(const HfConfig& config, std::size_t window, DecoderTraits& traits);

/// Which layers "layer_types" calls "sliding_attention"; nothing without such a list.
std::optional<std::vector<bool>> sliding_layers(const HfConfig& config);

Model read_decoder(const DecoderTraits& traits, WeightReader weights);

/// The same from Hugging Face's files.
Model read_hf_decoder(TensorFiles files, const DecoderTraits& traits);

}  // namespace attnviz
