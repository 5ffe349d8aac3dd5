// The architectures whose GGUF files attnviz reads.
#pragma once

#include <span>
#include <string_view>

#include "attnviz/formats/gguf_metadata.h"
#include "attnviz/model/model.h"
#include "attnviz/model/weight_reader.h"

namespace attnviz {

/// One `general.architecture`, and how its keys and tensors map onto a Model.
struct GgufArchitecture {
  std::string_view name;
  std::string_view family;  // as in a config.json's model_type
  /// Throws Error{kMalformed} for metadata or tensors that contradict each other.
  Model (*read)(const GgufMetadata& metadata, WeightReader weights);
};

/// All of them, by name.
std::span<const GgufArchitecture> gguf_architectures() noexcept;

Model read_gguf_bert(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_bloom(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_chatglm(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_cohere2(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_command_r(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_deepseek2(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_falcon(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_falcon_h1(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_gemma(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_gemma2(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_gemma3(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_gemma_embedding(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_gemma3n(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_gemma4(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_glm4(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_gpt2(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_gpt_oss(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_gptneox(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_granite(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_granitemoe(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_granitehybrid(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_hunyuan_dense(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_lfm2(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_llama(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_minicpm(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_mistral3(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_modern_bert(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_nemotron_h(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_nomic_bert(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_olmo2(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_phi2(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_phi3(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_qwen2(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_qwen2moe(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_qwen2vl(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_qwen3next(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_qwen3vl(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_qwen3moe(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_qwen3(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_smollm3(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_stablelm(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_starcoder2(const GgufMetadata& metadata, WeightReader weights);
Model read_gguf_t5(const GgufMetadata& metadata, WeightReader weights);

}  // namespace attnviz
