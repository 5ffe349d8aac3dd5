// GPT-2 (Radford et al. 2019) and GPT-NeoX (Black et al. 2022): layer norms, a fused query, key and
// value matrix, an MLP without a gate.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "attnviz/model/families/parts.h"

namespace attnviz {

/// What tensors are called; those of a layer behind its name, in which {} stands for its number.
struct GptNames {
  std::string_view embeddings, positions, norm, unembedding;
  std::string_view layer, attention_norm, qkv, output, mlp_norm, up, down;
};

/// What a config says, and the family itself. The defaults are GPT-2's.
struct GptTraits {
  std::string where;  // in front of messages
  GptNames names;
  std::size_t n_layers = 0;
  std::size_t n_vocab = 0;
  std::size_t d_model = 0;
  std::size_t n_heads = 0;
  std::size_t d_ff = 0;
  std::size_t n_ctx = 0;
  double epsilon = 1e-5;
  Activation activation = Activation::kGeluTanh;

  LayerOrder order = LayerOrder::kPreNorm;
  std::shared_ptr<const Rope> rope;  // null: learned positions
  bool conv1d = false;               // matrices are stored [d_in, d_out]
  bool by_head = false;              // a head's query, key and value lie side by side
  Presence attention_bias = Presence::kYes;
  bool tied = true;
  bool scale_scores = true;     // by 1 / √d_head
  bool scale_by_layer = false;  // by 1 / (layer + 1), too
};

/// Precondition: d_model is a multiple of n_heads.
Model read_gpt(const GptTraits& traits, WeightReader weights);

}  // namespace attnviz
