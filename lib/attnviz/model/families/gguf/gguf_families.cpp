#include "attnviz/model/families/gguf/gguf_families.h"

namespace attnviz {

std::span<const GgufArchitecture> gguf_architectures() noexcept {
  static constexpr GgufArchitecture kArchitectures[] = {
      {"bert", "bert", read_gguf_bert},
      {"bloom", "bloom", read_gguf_bloom},
      {"chatglm", "glm", read_gguf_chatglm},
      {"cohere2", "cohere2", read_gguf_cohere2},
      {"command-r", "cohere", read_gguf_command_r},
      {"deepseek2", "deepseek_v2", read_gguf_deepseek2},
      {"falcon", "falcon", read_gguf_falcon},
      {"falcon-h1", "falcon_h1", read_gguf_falcon_h1},
      {"gemma", "gemma", read_gguf_gemma},
      {"gemma-embedding", "gemma3_text", read_gguf_gemma_embedding},
      {"gemma2", "gemma2", read_gguf_gemma2},
      {"gemma3", "gemma3", read_gguf_gemma3},
      {"gemma3n", "gemma3n", read_gguf_gemma3n},
      {"gemma4", "gemma4", read_gguf_gemma4},
      {"glm4", "glm4", read_gguf_glm4},
      {"gpt-oss", "gpt_oss", read_gguf_gpt_oss},
      {"gptoss", "gpt_oss", read_gguf_gpt_oss},
      {"gpt2", "gpt2", read_gguf_gpt2},
      {"gptneox", "gpt_neox", read_gguf_gptneox},
      {"granite", "granite", read_gguf_granite},
      {"granitemoe", "granitemoe", read_gguf_granitemoe},
      {"granitehybrid", "granitemoehybrid", read_gguf_granitehybrid},
      {"hunyuan-dense", "hunyuan_v1_dense", read_gguf_hunyuan_dense},
      {"lfm2", "lfm2", read_gguf_lfm2},
      {"llama", "llama", read_gguf_llama},
      {"minicpm", "minicpm", read_gguf_minicpm},
      {"mistral3", "mistral3", read_gguf_mistral3},
      {"modern-bert", "modernbert", read_gguf_modern_bert},
      {"nemotron_h", "nemotron_h", read_gguf_nemotron_h},
      {"nemotron_h_moe", "nemotron_h", read_gguf_nemotron_h},
      {"nomic-bert", "nomic_bert", read_gguf_nomic_bert},
      {"olmo2", "olmo2", read_gguf_olmo2},
      {"phi2", "phi", read_gguf_phi2},
      {"phi3", "phi3", read_gguf_phi3},
      {"qwen2", "qwen2", read_gguf_qwen2},
      {"qwen2moe", "qwen2_moe", read_gguf_qwen2moe},
      {"qwen2vl", "qwen2_vl", read_gguf_qwen2vl},
      {"qwen3", "qwen3", read_gguf_qwen3},
      {"qwen35", "qwen3_5", read_gguf_qwen3next},
      {"qwen35moe", "qwen3_5_moe", read_gguf_qwen3next},
      {"qwen3moe", "qwen3_moe", read_gguf_qwen3moe},
      {"qwen3next", "qwen3_next", read_gguf_qwen3next},
      {"qwen3vl", "qwen3_vl", read_gguf_qwen3vl},
      {"smollm3", "smollm3", read_gguf_smollm3},
      {"stablelm", "stablelm", read_gguf_stablelm},
      {"starcoder2", "starcoder2", read_gguf_starcoder2},
      {"t5", "t5", read_gguf_t5},
  };
  return kArchitectures;
}

}  // namespace attnviz
