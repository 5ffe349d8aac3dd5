#include "attnviz/model/families/families.h"

namespace attnviz {

std::span<const Family> families() noexcept {
  constexpr std::string_view kVision = "vision";
  static constexpr Family kFamilies[] = {
      {"bert", "Bert", read_bert},
      {"bloom", "Bloom", read_bloom},
      {"camembert", "Camembert", read_roberta, {}, {}, "bert"},
      {"cohere", "Cohere", read_cohere},
      {"cohere2", "Cohere2", read_cohere2},
      {"distilbert", "DistilBert", read_distilbert, {}, {}, "bert"},
      {"falcon", "Falcon", read_falcon},
      {"gemma", "Gemma", read_gemma},
      {"gemma2", "Gemma2", read_gemma2},
      {"gemma3", "Gemma3", read_gemma3, {}, kVision},
      {"gemma3_text", "Gemma3", read_gemma3},
      {"gemma4", "Gemma4", read_gemma4, {}, "vision, audio"},
      {"gemma4_text", "Gemma4", read_gemma4},
      {"gpt2", "GPT2", read_gpt2},
      {"gpt_neox", "GPTNeoX", read_gpt_neox},
      {"gpt_oss", "GptOss", read_gpt_oss, {}, {}, {}, "mxfp4"},
      {"gptj", "GPTJ", read_gptj},
      {"granite", "Granite", read_granite},
      {"granitemoe", "GraniteMoe", read_granitemoe},
      {"granitemoehybrid", "GraniteMoeHybrid", read_granitemoehybrid, {}, {}, "granitehybrid"},
      {"lfm2", "Lfm2", read_lfm2},
      {"llama", "Llama", read_llama},
      {"ministral", "Ministral", read_ministral, {}, {}, "llama"},
      {"ministral3", "Ministral3", read_ministral3, {}, {}, "mistral3"},
      {"mistral", "Mistral", read_mistral, {}, {}, "llama"},
      {"mistral3", "Mistral3", read_mistral3, {"mistral", "ministral3"}, kVision},
      {"mixtral", "Mixtral", read_mixtral, {}, {}, "llama"},
      {"modernbert", "ModernBert", read_modernbert},
      {"nemotron_h", "NemotronH", read_nemotron_h},
      {"nomic_bert", "NomicBert", read_nomic_bert},
      {"olmo2", "Olmo2", read_olmo2},
      {"olmo3", "Olmo3", read_olmo3, {}, {}, "olmo2"},
      {"opt", "OPT", read_opt},
      {"phi", "Phi", read_phi},
      {"phi3", "Phi3", read_phi3},
      {"qwen2", "Qwen2", read_qwen2},
      {"qwen2_5_vl", "Qwen2_5_VL", read_qwen2_vl, {}, kVision, "qwen2vl"},
      {"qwen2_moe", "Qwen2Moe", read_qwen2_moe, {}, {}, "qwen2moe"},
      {"qwen2_vl", "Qwen2VL", read_qwen2_vl, {}, kVision},
      {"qwen3", "Qwen3", read_qwen3},
      {"qwen3_5", "Qwen3_5", read_qwen3_5, {}, kVision},
      {"qwen3_5_moe", "Qwen3_5Moe", read_qwen3_5_moe, {}, kVision},
      {"qwen3_5_moe_text", "Qwen3_5Moe", read_qwen3_5_moe},
      {"qwen3_5_text", "Qwen3_5", read_qwen3_5},
      {"qwen3_moe", "Qwen3Moe", read_qwen3_moe, {}, {}, "qwen3moe"},
      {"qwen3_next", "Qwen3Next", read_qwen3_next, {}, {}, "qwen3next"},
      {"qwen3_vl", "Qwen3VL", read_qwen3_vl, {}, kVision},
      {"roberta", "Roberta", read_roberta, {}, {}, "bert"},
      {"smollm3", "SmolLM3", read_smollm3},
      {"stablelm", "StableLm", read_stablelm},
      {"starcoder2", "Starcoder2", read_starcoder2},
      {"xlm-roberta", "XLMRoberta", read_roberta, {}, {}, "bert"},
  };
  return kFamilies;
}

}  // namespace attnviz
