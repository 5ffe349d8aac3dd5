#include "attnviz/model/families/gguf_families.h"

#include <algorithm>
#include <array>
#include <utility>

#include "attnviz/formats/harmless_key.h"
#include "attnviz/model/families/encoder.h"
#include "attnviz/model/families/gguf_keys.h"
#include "attnviz/model/families/gpt.h"

namespace attnviz {

namespace {

GptTraits gpt_traits(const GgufMetadata& metadata, const WeightReader& weights) {
  const GgufKeys key(metadata);
  GptTraits traits;
  traits.where = gguf_where(metadata);
  traits.names = {
      .embeddings = "token_embd",
      .positions = "position_embd",
      .norm = "output_norm",
      .unembedding = "output",
      .layer = "blk.{}.",
      .attention_norm = "attn_norm",
      .qkv = "attn_qkv",
      .output = "attn_output",
      .mlp_norm = "ffn_norm",
      .up = "ffn_up",
      .down = "ffn_down",
  };
  traits.n_layers = metadata.size(key("block_count"));
  traits.n_vocab = weights.rows_of("token_embd.weight");
  traits.d_model = metadata.size(key("embedding_length"));
  traits.n_heads = size_of_layers(metadata, key("attention.head_count"));
  even_share(traits.where + key("attention.head_count: "), traits.d_model, traits.n_heads);
  traits.d_ff = size_of_layers(metadata, key("feed_forward_length"));
  traits.n_ctx = metadata.size(key("context_length"));
  traits.epsilon = metadata.positive(key("attention.layer_norm_epsilon"));
  traits.tied = !weights.has("output.weight");
  return traits;
}

}  // namespace

Model read_gguf_gpt2(const GgufMetadata& metadata, WeightReader weights) {
  const GptTraits traits = gpt_traits(metadata, weights);
  return read_gpt(traits, std::move(weights));
}

Model read_gguf_gptneox(const GgufMetadata& metadata, WeightReader weights) {
  GptTraits traits = gpt_traits(metadata, weights);
  traits.activation = Activation::kGelu;
  traits.order = metadata.flag_or(GgufKeys(metadata)("use_parallel_residual"), true)
                     ? LayerOrder::kParallel
                     : LayerOrder::kPreNorm;
  traits.rope = read_gguf_rope(metadata, weights, {traits.d_model / traits.n_heads, traits.n_ctx});
  traits.attention_bias = Presence::kWhereThere;
  return read_gpt(traits, std::move(weights));
}

Model read_gguf_bert(const GgufMetadata& metadata, WeightReader weights) {
  const GgufKeys key(metadata);
  EncoderTraits traits;
  traits.where = gguf_where(metadata);
  traits.names.embeddings = "token_embd";
  traits.names.positions = "position_embd";
  traits.names.segments = "token_types";
  traits.names.embedding_norm = "token_embd_norm";
  traits.names.layer = "blk.{}.";
  traits.names.query = "attn_q";
  traits.names.key = "attn_k";
  traits.names.value = "attn_v";
  traits.names.output = "attn_output";
  traits.names.attention_norm = "attn_output_norm";
  traits.names.up = "ffn_up";
  traits.names.down = "ffn_down";
  traits.names.mlp_norm = "layer_output_norm";
  traits.d_model = metadata.size(key("embedding_length"));
  traits.n_heads = size_of_layers(metadata, key("attention.head_count"));
  traits.d_ff = size_of_layers(metadata, key("feed_forward_length"));
  traits.n_layers = metadata.size(key("block_count"));
  traits.n_vocab = weights.rows_of("token_embd.weight");
  traits.n_positions = weights.rows_of("position_embd.weight");
  traits.n_segments = weights.has("token_types.weight") ? weights.rows_of("token_types.weight") : 0;
  traits.epsilon = metadata.positive(key("attention.layer_norm_epsilon"));
  weights.pass_over({{"cls.weight", kOtherTask},
                     {"cls.bias", kOtherTask},
                     {"cls.output.*", kOtherTask},
                     {"cls.norm.*", kOtherTask}});
  Model model = read_encoder(traits, std::move(weights));
  model.config.n_ctx =
      std::min(model.config.n_ctx, metadata.size_or(key("context_length"), model.config.n_ctx));
  return model;
}

std::span<const GgufArchitecture> gguf_architectures() noexcept {
  static constexpr std::array kArchitectures = {
      GgufArchitecture{"bert", "bert", read_gguf_bert},
      GgufArchitecture{"gemma", "gemma", read_gguf_gemma},
      GgufArchitecture{"gemma2", "gemma2", read_gguf_gemma2},
      GgufArchitecture{"gemma3", "gemma3", read_gguf_gemma3},
      GgufArchitecture{"gpt2", "gpt2", read_gguf_gpt2},
      GgufArchitecture{"gptneox", "gpt_neox", read_gguf_gptneox},
      GgufArchitecture{"llama", "llama", read_gguf_llama},
      GgufArchitecture{"phi3", "phi3", read_gguf_phi3},
      GgufArchitecture{"qwen2", "qwen2", read_gguf_qwen2},
      GgufArchitecture{"qwen3", "qwen3", read_gguf_qwen3},
  };
  return kArchitectures;
}

}  // namespace attnviz
