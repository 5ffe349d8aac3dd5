// Mixtral (Jiang et al. 2024): Mistral with experts in the MLPs' place.

#include "attnviz/model/families/families.h"
#include "attnviz/model/families/hf_traits.h"

namespace attnviz {

Model read_mixtral(const HfConfig& config, TensorFiles files) {
  ConfigDefaults defaults;
  defaults.n_kv_heads = 8;
  defaults.n_ctx = 131072;
  defaults.epsilon = 1e-5;
  Traits traits = read_traits(config, defaults);
  traits.activation = read_activation(config, "hidden_act", "silu");
  RopeFacts rope{traits.d_head, traits.n_ctx};
  rope.base = 1e6;
  rotate_all(config, rope, traits);
  slide_everywhere(config, sliding_window(config, 0), traits);
  ExpertTraits& experts = traits.experts;
  experts.n = config.size_or("num_local_experts", 8);
  experts.d_ff = traits.d_ff;
  experts.router.kind = RouterKind::kChosenSoftmax;
  experts.router.n_used = config.size_or("num_experts_per_tok", 2);
  TensorNames& names = traits.names;
  if (files.find("model.layers.0.mlp.gate.weight") || files.find("layers.0.mlp.gate.weight")) {
    names.router = "mlp.gate";  // as transformers 5 names them in memory
    name_experts(names);
  } else {
    names.router = "block_sparse_moe.gate";
    names.expert_gate = "block_sparse_moe.experts.{}.w1";
    names.expert_up = "block_sparse_moe.experts.{}.w3";
    names.expert_down = "block_sparse_moe.experts.{}.w2";
  }
  return read_hf_decoder(std::move(files), traits);
}

}  // namespace attnviz
