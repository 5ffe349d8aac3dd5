// A model's facts in words: what it is made of, how it attends, how its texts are cut.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "attnviz/document/model_info.h"

namespace attnviz {

struct InfoFact {
  std::string label;
  std::string text;
};

/// "0", "0, 2", "0-5, 7": runs of three and more are drawn together. In order.
std::string layer_list(std::span<const std::size_t> layers);

/// Sizes, positions, norms, order, activation, output. `ascii`: in 7 bits.
std::vector<InfoFact> shape_facts(const ModelInfo& info, bool ascii);

/// Masks, score scale, soft caps, norms of queries and keys, RoPE: where layers differ, which does
/// what ("layers 0, 2: window 4,096; layers 1, 3: causal"). None without a model.
std::vector<InfoFact> attention_facts(const ModelInfo& info, bool ascii);

/// None when described in numbers.
std::vector<InfoFact> tokenizer_facts(const ModelInfo& info, bool ascii);

/// Of the files' numbers, or of what they would take.
std::vector<InfoFact> weights_facts(const ModelInfo& info);

/// What a GGUF file says of itself, key by key; empty for other files.
std::vector<InfoFact> metadata_facts(const ModelInfo& info, bool ascii);

}  // namespace attnviz
