// The families of transformers whose Hugging Face files attnviz reads.
#pragma once

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
};

/// All of them, by name.
std::span<const Family> families() noexcept;

Model read_gpt2(const HfConfig& config, TensorFiles files);
Model read_gpt_neox(const HfConfig& config, TensorFiles files);
Model read_llama(const HfConfig& config, TensorFiles files);
Model read_mistral(const HfConfig& config, TensorFiles files);
Model read_qwen2(const HfConfig& config, TensorFiles files);
Model read_qwen3(const HfConfig& config, TensorFiles files);
Model read_gemma(const HfConfig& config, TensorFiles files);
Model read_gemma2(const HfConfig& config, TensorFiles files);
Model read_gemma3(const HfConfig& config, TensorFiles files);
Model read_phi3(const HfConfig& config, TensorFiles files);
Model read_bert(const HfConfig& config, TensorFiles files);
Model read_roberta(const HfConfig& config, TensorFiles files);
Model read_distilbert(const HfConfig& config, TensorFiles files);

}  // namespace attnviz
