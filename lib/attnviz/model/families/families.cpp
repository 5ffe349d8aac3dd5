#include "attnviz/model/families/families.h"

#include <array>

namespace attnviz {

std::span<const Family> families() noexcept {
  static constexpr std::array kFamilies = {
      Family{"bert", "Bert", read_bert},       Family{"distilbert", "DistilBert", read_distilbert},
      Family{"gemma", "Gemma", read_gemma},    Family{"gemma2", "Gemma2", read_gemma2},
      Family{"gemma3", "Gemma3", read_gemma3}, Family{"gemma3_text", "Gemma3", read_gemma3},
      Family{"gpt2", "GPT2", read_gpt2},       Family{"gpt_neox", "GPTNeoX", read_gpt_neox},
      Family{"llama", "Llama", read_llama},    Family{"mistral", "Mistral", read_mistral},
      Family{"phi3", "Phi3", read_phi3},       Family{"qwen2", "Qwen2", read_qwen2},
      Family{"qwen3", "Qwen3", read_qwen3},    Family{"roberta", "Roberta", read_roberta},
  };
  return kFamilies;
}

}  // namespace attnviz
