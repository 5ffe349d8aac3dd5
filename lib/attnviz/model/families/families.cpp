#include "attnviz/model/families/families.h"

#include <array>

namespace attnviz {

std::span<const Family> families() noexcept {
  static constexpr std::array kFamilies = {
      Family{"bert", read_bert},     Family{"distilbert", read_distilbert},
      Family{"gemma", read_gemma},   Family{"gemma2", read_gemma2},
      Family{"gemma3", read_gemma3}, Family{"gemma3_text", read_gemma3},
      Family{"gpt2", read_gpt2},     Family{"gpt_neox", read_gpt_neox},
      Family{"llama", read_llama},   Family{"mistral", read_mistral},
      Family{"phi3", read_phi3},     Family{"qwen2", read_qwen2},
      Family{"qwen3", read_qwen3},   Family{"roberta", read_roberta},
  };
  return kFamilies;
}

}  // namespace attnviz
