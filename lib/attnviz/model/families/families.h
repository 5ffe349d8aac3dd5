// The families of transformers whose Hugging Face files attnviz reads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/formats/tensor_files.h"
#include "attnviz/model/families/traits.h"
#include "attnviz/model/hf_config.h"
#include "attnviz/model/model.h"
#include "attnviz/model/rope_scaling.h"

namespace attnviz {

/// One `model_type` of a config.json, and how the names of its tensors map onto a Model.
struct Family {
  std::string_view model_type;
  std::string_view class_name;  // the beginning of its classes' names: "Llama"
  /// Throws Error{kMalformed} for a config or tensors that contradict each other.
  Model (*read)(const HfConfig& config, TensorFiles files);
  /// Other `model_type`s allowed in a "text_config", besides the family's own and its own with
  /// "_text" appended.
  std::array<std::string_view, 2> text_types = {};
  std::string_view left_out = {};  // parts of these models that are not read
  std::string_view gguf = {};      // its name in GGUF files, where that is another family's name
  std::string_view quant_method = {};  // of quantised weights that are supported
};

/// All families, sorted by name.
std::span<const Family> families() noexcept;

Model read_bart(const HfConfig& config, TensorFiles files);
Model read_bert(const HfConfig& config, TensorFiles files);
Model read_bloom(const HfConfig& config, TensorFiles files);
Model read_cohere(const HfConfig& config, TensorFiles files);
Model read_cohere2(const HfConfig& config, TensorFiles files);
Model read_deepseek2(const HfConfig& config, TensorFiles files);
Model read_deepseek3(const HfConfig& config, TensorFiles files);
Model read_distilbert(const HfConfig& config, TensorFiles files);
Model read_falcon(const HfConfig& config, TensorFiles files);
Model read_falcon_h1(const HfConfig& config, TensorFiles files);
Model read_gemma(const HfConfig& config, TensorFiles files);
Model read_gemma2(const HfConfig& config, TensorFiles files);
Model read_gemma3(const HfConfig& config, TensorFiles files);
Model read_gemma3n(const HfConfig& config, TensorFiles files);
Model read_gemma4(const HfConfig& config, TensorFiles files);
Model read_glm(const HfConfig& config, TensorFiles files);
Model read_glm4(const HfConfig& config, TensorFiles files);
Model read_gpt2(const HfConfig& config, TensorFiles files);
Model read_gpt_neo(const HfConfig& config, TensorFiles files);
Model read_gpt_neox(const HfConfig& config, TensorFiles files);
Model read_gpt_oss(const HfConfig& config, TensorFiles files);
Model read_gptj(const HfConfig& config, TensorFiles files);
Model read_granite(const HfConfig& config, TensorFiles files);
Model read_granitemoe(const HfConfig& config, TensorFiles files);
Model read_granitemoehybrid(const HfConfig& config, TensorFiles files);
Model read_hunyuan_dense(const HfConfig& config, TensorFiles files);
Model read_lfm2(const HfConfig& config, TensorFiles files);
Model read_llama(const HfConfig& config, TensorFiles files);
Model read_marian(const HfConfig& config, TensorFiles files);
Model read_mbart(const HfConfig& config, TensorFiles files);
Model read_minicpm(const HfConfig& config, TensorFiles files);
Model read_ministral(const HfConfig& config, TensorFiles files);
Model read_ministral3(const HfConfig& config, TensorFiles files);
Model read_mistral(const HfConfig& config, TensorFiles files);
Model read_mistral3(const HfConfig& config, TensorFiles files);
Model read_mixtral(const HfConfig& config, TensorFiles files);
Model read_modernbert(const HfConfig& config, TensorFiles files);
Model read_nemotron_h(const HfConfig& config, TensorFiles files);
Model read_mt5(const HfConfig& config, TensorFiles files);
Model read_nomic_bert(const HfConfig& config, TensorFiles files);
Model read_olmo2(const HfConfig& config, TensorFiles files);
Model read_olmo3(const HfConfig& config, TensorFiles files);
Model read_opt(const HfConfig& config, TensorFiles files);
Model read_phi(const HfConfig& config, TensorFiles files);
Model read_phi3(const HfConfig& config, TensorFiles files);
Model read_qwen2(const HfConfig& config, TensorFiles files);
Model read_qwen2_moe(const HfConfig& config, TensorFiles files);
Model read_qwen2_vl(const HfConfig& config, TensorFiles files);
Model read_qwen3(const HfConfig& config, TensorFiles files);
Model read_qwen3_moe(const HfConfig& config, TensorFiles files);
Model read_qwen3_5(const HfConfig& config, TensorFiles files);
Model read_qwen3_5_moe(const HfConfig& config, TensorFiles files);
Model read_qwen3_next(const HfConfig& config, TensorFiles files);
Model read_qwen3_vl(const HfConfig& config, TensorFiles files);
Model read_roberta(const HfConfig& config, TensorFiles files);
Model read_smollm3(const HfConfig& config, TensorFiles files);
Model read_stablelm(const HfConfig& config, TensorFiles files);
Model read_starcoder2(const HfConfig& config, TensorFiles files);
Model read_t5(const HfConfig& config, TensorFiles files);
Model read_umt5(const HfConfig& config, TensorFiles files);

// The common parts of BART, mBART and Marian: the encoder-decoder of Vaswani et al. 2017.

struct BartTraits {
  Traits encoder, decoder;
};

/// Both stacks as in Vaswani et al. 2017: norms after the sums, biases everywhere, one table of
/// embeddings. Positions are left to the family. Sizes missing from the config get transformers'
/// defaults.
BartTraits bart_traits(const HfConfig& config);

/// Reads both stacks from the same files, with or without the prefix "model.".
Model read_bart_stacks(const BartTraits& traits, TensorFiles files);

// Settings that the Hugging Face configs of many families share.

/// The defaults of a family's library for keys missing from a config. 0: the key is required.
struct ConfigDefaults {
  std::size_t n_heads = 0;
  std::size_t n_kv_heads = 0;  // 0: as many as heads
  std::size_t d_head = 0;      // 0, or null in the config: d_model / n_heads
  std::size_t n_ctx = 0;
  double epsilon = 1e-6;
  std::size_t original_n_ctx = 0;  // before rotary positions were scaled; 0: n_ctx
  bool tied = false;
  std::size_t d_ff = 0;
  bool d_ff_by_layer = false;  // "intermediate_size" is left to the family
};

/// Reads the shapes and names that Llama and its descendants have in common.
Traits read_traits(const HfConfig& config, const ConfigDefaults& defaults = {});

/// Sets the names of experts' tensors in transformers: one for each expert, as in most published
/// files, and one for all experts, as transformers 5 keeps them in memory.
///
/// Source  https://github.com/huggingface/transformers: src/transformers/conversion_mapping.py
void name_experts(TensorNames& names);

/// c of a soft cap; 0: none. A null value means none, regardless of the family's default.
float soft_cap(const HfConfig& config, std::string_view key, double otherwise);

/// "tie_word_embeddings" of a config, or of the config that contains it.
bool is_tied(const HfConfig& config, bool otherwise);

/// A token's id, or nullopt if the config has none. Throws Error{kMalformed} if the value is not an
/// id.
std::optional<std::uint32_t> token_id(const HfConfig& config, std::string_view key);

/// "decoder_start_token_id", the first token of an encoder-decoder's decoder, or "pad_token_id" if
/// it is missing.
std::optional<std::uint32_t> decoder_start(const HfConfig& config);

/// Checks an option of a family's own code, which may be absent. Throws Error{kUnsupported} if
/// `key` has another value than `expected`, as value_text() formats it.
void require(const HfConfig& config, std::string_view key, std::string_view expected);

/// Throws Error{kMalformed} without "rope_parameters", for which the family's library has scaled
/// defaults.
void require_rope_parameters(const HfConfig& config);

/// Uses the same rotary positions in all layers.
void use_rope(const HfConfig& config, Traits& traits);
void use_rope(const HfConfig& config, const RopeFacts& facts, Traits& traits);

/// The config's "sliding_window", or `otherwise` if it is missing; 0, or null in the config: none.
std::size_t sliding_window(const HfConfig& config, std::size_t otherwise);

/// For configs in which another key says that no layer slides. Throws Error{kUnsupported} when
/// "layer_types" calls a layer "sliding_attention"; `said` is the text it contradicts.
void require_none_sliding(const HfConfig& config, std::string_view said);

/// Masks with window:`window` the layers that "layer_types" calls "sliding_attention", or, without
/// that list, those for which `is_sliding` is true. A window of 0 masks none, and throws as
/// require_none_sliding() does.
void slide(const HfConfig& config, std::size_t window,
           const std::function<bool(std::size_t layer)>& is_sliding, Traits& traits);

/// Uses the window in all layers. Throws Error{kUnsupported} when "layer_types" lists other types
/// too.
void use_sliding_window(const HfConfig& config, std::size_t window, Traits& traits);

/// Which layers "layer_types" calls "sliding_attention"; nullopt without that list.
std::optional<std::vector<bool>> sliding_layers(const HfConfig& config);

/// Which layers have experts: every "decoder_sparse_step"-th, except those in "mlp_only_layers".
std::function<bool(std::size_t layer)> sparse_layers(const HfConfig& config);

/// Reads a decoder from its files. Skips the extra tensors that transformers saves, and those in
/// `ignorable` for this family.
Model read_hf_decoder(TensorFiles files, const Traits& traits,
                      const std::vector<HarmlessTensor>& ignorable = {});

}  // namespace attnviz
