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

/// One `model_type` of a config.json, and how its tensors' names map onto a Model.
struct Family {
  std::string_view model_type;
  std::string_view class_name;  // what the names of its classes begin with: "Llama"
  /// Throws Error{kMalformed} for a config or tensors that contradict each other.
  Model (*read)(const HfConfig& config, TensorFiles files);
  /// The `model_type`s of a "text_config" in it, beside its own and that with "_text" behind it.
  std::array<std::string_view, 2> text_types = {};
  std::string_view left_out = {};  // parts of such models that are not read
  std::string_view gguf = {};      // what GGUF files call it, where that is another family's name
  std::string_view quant_method = {};  // of quantised weights that are read
};

/// All of them, by name.
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

// What BART, mBART and Marian have in common: the encoder-decoder of Vaswani et al. 2017.

struct BartTraits {
  Traits encoder, decoder;
};

/// Both stacks as in Vaswani et al. 2017: norms after the sums, biases everywhere, one table of
/// embeddings. Positions are left to the family. Sizes missing in the config are the defaults of
/// transformers.
BartTraits bart_traits(const HfConfig& config);

/// Reads both stacks from the same files, with or without the prefix "model.".
Model read_bart_stacks(const BartTraits& traits, TensorFiles files);

// What Hugging Face configs of many families say in the same way.

/// What a family's library assumes where a config is silent. 0: it must say.
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

/// The shapes and names that Llama and its descendants have in common.
Traits read_traits(const HfConfig& config, const ConfigDefaults& defaults = {});

/// Sets the names of experts' tensors in transformers: one for each expert, as in most published
/// files, and one for all, as transformers 5 keeps them in memory.
///
/// Source  https://github.com/huggingface/transformers: src/transformers/conversion_mapping.py
void name_experts(TensorNames& names);

/// c of a soft cap, 0 for none. Null says that there is none, whatever the family's default is.
float soft_cap(const HfConfig& config, std::string_view key, double otherwise);

/// "tie_word_embeddings" of a config, or of the one that its object stands in.
bool is_tied(const HfConfig& config, bool otherwise);

/// A token's id, or nothing if the config has none. Throws Error{kMalformed} if it is not an id.
std::optional<std::uint32_t> token_id(const HfConfig& config, std::string_view key);

/// "decoder_start_token_id", which decoders of encoders begin with, or "pad_token_id" in its place.
std::optional<std::uint32_t> decoder_start(const HfConfig& config);

/// Checks an option of a family's own code. Throws Error{kUnsupported} if `key` has another value
/// than `expected`, as value_text() writes it; it may be absent.
void require(const HfConfig& config, std::string_view key, std::string_view expected);

/// Throws Error{kMalformed} without "rope_parameters", in place of which the family's library has
/// scaled ones.
void require_rope_parameters(const HfConfig& config);

/// Rotary positions that are the same in all layers.
void use_rope(const HfConfig& config, Traits& traits);
void use_rope(const HfConfig& config, const RopeFacts& facts, Traits& traits);

/// The config's "sliding_window", or `otherwise` when it does not say; 0: none, as null says.
std::size_t sliding_window(const HfConfig& config, std::size_t otherwise);

/// For configs that say elsewhere that no layer slides. Throws Error{kUnsupported} when
/// "layer_types" calls a layer "sliding_attention", with `said` as what it contradicts.
void require_none_sliding(const HfConfig& config, std::string_view said);

/// window:`window` in those layers that "layer_types" calls "sliding_attention", or, without such a
/// list, where `is_sliding` says so. A window of 0: in none; throws as require_none_sliding() does.
void slide(const HfConfig& config, std::size_t window,
           const std::function<bool(std::size_t layer)>& is_sliding, Traits& traits);

/// The same in all layers. Throws Error{kUnsupported} when "layer_types" has others beside them.
void use_sliding_window(const HfConfig& config, std::size_t window, Traits& traits);

/// Which layers "layer_types" calls "sliding_attention"; nothing without such a list.
std::optional<std::vector<bool>> sliding_layers(const HfConfig& config);

/// Which layers have experts: every "decoder_sparse_step"-th, but for those in "mlp_only_layers".
std::function<bool(std::size_t layer)> sparse_layers(const HfConfig& config);

/// Reads a decoder from its files: what stands beside its tensors in those of transformers, and
/// what is `harmless` in this family, is passed over.
Model read_hf_decoder(TensorFiles files, const Traits& traits,
                      const std::vector<HarmlessTensor>& ignorable = {});

}  // namespace attnviz
