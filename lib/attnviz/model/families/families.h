// The families of transformers whose Hugging Face files attnviz reads.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "attnviz/formats/tensor_files.h"
#include "attnviz/model/hf_config.h"
#include "attnviz/model/model.h"

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

}  // namespace attnviz
