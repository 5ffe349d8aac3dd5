// Models with states instead of attention in most layers, or beside it in each, in llama.cpp's GGUF
// form.

#include <fmt/core.h>

#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/model/families/gguf/gguf_families.h"

namespace attnviz {

namespace {

// Sets the common properties of all kinds of states.
void add_gguf_states(const GgufMetadata& metadata, MixerKind kind, Traits& traits) {
  const GgufKeys key(metadata);
  Recurrence& shape = traits.states.shape;
  shape.kind = kind;
  shape.width = metadata.size(key("ssm.conv_kernel"));
  shape.d_key = metadata.size(key("ssm.state_size"));
  shape.n_key_heads = metadata.size(key("ssm.group_count"));
  shape.n_heads = metadata.size(key("ssm.time_step_rank"));
  const std::string inner = key("ssm.inner_size");
  shape.d_value =
      even_share(fmt::format("{}{}: ", traits.where, inner), metadata.size(inner), shape.n_heads);
  traits.states.bias = traits.states.conv_bias = Presence::kOptional;
  TensorNames& names = traits.names;
  names.state_conv = "ssm_conv1d";
  names.state_rate = "ssm_a";
  names.state_step_bias = "ssm_dt.bias";
  names.state_norm = "ssm_norm";
  names.state_out = "ssm_out";
}

void add_mamba(const GgufMetadata& metadata, Traits& traits) {
  add_gguf_states(metadata, MixerKind::kMamba2, traits);
  traits.names.state_in = "ssm_in";
  traits.names.state_skip = "ssm_d";
}

// The layers with gated delta nets: those that "attention.recurrent_layers" lists, those without KV
// heads in Ollama's list of counts, or all but every n-th.
IsSliding gguf_delta_layers(const GgufMetadata& metadata, const Traits& traits) {
  constexpr std::size_t kInterval = 4;
  const GgufKeys key(metadata);
  const std::string listed = key("attention.recurrent_layers");
  const std::size_t interval = metadata.size_or(key("full_attention_interval"), kInterval);
  if (metadata.has(listed)) {
    std::vector<bool> flags = metadata.flags(listed);
    require_each_layer(metadata, listed, flags.size());
    return [flags = std::move(flags)](std::size_t layer) { return flags[layer]; };
  }
  const GgufValue* const counts = metadata.find(key("attention.head_count_kv"));
  if (counts != nullptr && counts->type() == GgufType::kArray) {
    return [by_layer = traits.vary](std::size_t layer) {
      LayerTraits shape;
      by_layer(layer, shape);
      return shape.n_kv_heads == 0;
    };
  }
  return all_but_every(interval);
}

// Whether rows of values are assigned to the key heads in turn, as llama.cpp's converter writes
// Qwen 3.5, or are grouped by key head. Ollama's converter writes a key for this, and writes
// Qwen3-Next under the name Qwen 3.5, with ssm_ba grouped by key head.
bool are_dealt_out(const GgufMetadata& metadata, bool by_key_head) {
  const std::string key = GgufKeys(metadata)("ssm.v_head_reordered");
  const bool is_next = metadata.text("general.architecture") == "qwen3next";
  const bool dealt_out = metadata.flag_or(key, !is_next && !by_key_head);
  if (dealt_out && by_key_head) {
    metadata.fail(key, "expected false: the rows of ssm_in and ssm_ba are grouped by key head");
  }
  return dealt_out;
}

// Gated delta nets. Their inputs are in four tensors, in two by key head, or in a mix of these.
Traits delta_traits(const GgufMetadata& metadata, WeightReader& weights) {
  const GgufKeys key(metadata);
  Traits traits = gguf_traits(metadata, weights, NormKind::kRms, /*may_have_experts=*/true);
  traits.qkv = QkvStorage::kSeparate;  // "attn_qkv" belongs to states
  traits.names.mlp_norm = "post_attention_norm";
  traits.query_key_norm = Presence::kYes;
  traits.gated_output = true;
  use_rope(metadata, weights, traits);
  read_picture_keys(metadata);
  add_gguf_states(metadata, MixerKind::kGatedDelta, traits);
  traits.states.shape.n_norm_groups = traits.states.shape.n_heads;
  const bool has_qkvz = weights.has("blk.0.ssm_in.weight");  // as in files from before 2026
  const bool has_ba = weights.has("blk.0.ssm_ba.weight");
  traits.states.shape.keys_alternate = are_dealt_out(metadata, has_qkvz || has_ba);
  TensorNames& names = traits.names;
  names.state_qkvz = has_qkvz ? "ssm_in" : "";
  names.state_ba = has_ba ? "ssm_ba" : "";
  names.state_qkv = "attn_qkv";
  names.state_z = "attn_gate";
  names.state_step = "ssm_alpha";
  names.state_beta = "ssm_beta";
  traits.vary = [by_layer = traits.vary, is_delta = gguf_delta_layers(metadata, traits)](
                    std::size_t layer, LayerTraits& shape) {
    if (by_layer) {
      by_layer(layer, shape);
    }
    shape.has_states = is_delta(layer);
  };
  ExpertTraits experts;
  experts.router.normed = metadata.flag_or(key("norm_top_k_prob"), true);  // Ollama's key
  experts.shared_d_ff =
      metadata.size_or(key("expert_shared_feed_forward_length"),
                       metadata.size_or(key("expert_feed_forward_length"), traits.d_ff));
  experts.has_shared_gate = true;
  read_gguf_experts(metadata, weights, std::move(experts), traits);
  return traits;
}

// Reads the projections of the narrower stream for experts, under llama.cpp's names or Ollama's,
// whose converter does not write a key for the width.
void read_latents(const GgufMetadata& metadata, const WeightReader& weights, Traits& traits) {
  TensorNames& names = traits.names;
  names.expert_latent_in = "ffn_latent_down";
  names.expert_latent_out = "ffn_latent_up";
  std::size_t width = 0;
  for (std::size_t layer = 0; layer < traits.n_layers && width == 0; ++layer) {
    for (const auto& [in, out] : {std::pair("ffn_latent_down", "ffn_latent_up"),
                                  std::pair("ffn_latent_in", "ffn_latent_out")}) {
      if (const std::string name = fmt::format("blk.{}.{}.weight", layer, in); weights.has(name)) {
        names.expert_latent_in = in;
        names.expert_latent_out = out;
        width = weights.rows_of(name);
      }
    }
  }
  const std::string key = GgufKeys(metadata)("moe_latent_size");
  traits.experts.d_latent = metadata.has(key) ? metadata.id(key).value_or(0) : width;
}

}  // namespace

Model read_gguf_qwen3next(const GgufMetadata& metadata, WeightReader weights) {
  const Traits traits = delta_traits(metadata, weights);
  return read_transformer(traits, std::move(weights));
}

// The converter has already applied the family's multipliers to the weights.
Model read_gguf_falcon_h1(const GgufMetadata& metadata, WeightReader weights) {
  Traits traits = gguf_traits(metadata, weights);
  for (std::size_t layer = 0; layer < traits.n_layers; ++layer) {
    const std::string norm = fmt::format("blk.{}.ffn_norm", layer);  // llama.cpp's name
    if (weights.has(norm)) {
      weights.rename(fmt::format("{}.weight", norm), norm);
    }
  }
  use_rope(metadata, weights, traits);
  traits.output_bias = traits.mlp_bias = Presence::kOptional;
  add_mamba(metadata, traits);
  traits.states.norm = Presence::kOptional;
  traits.states.shape.n_norm_groups = traits.states.shape.n_key_heads;
  traits.vary = [by_layer = traits.vary](std::size_t layer, LayerTraits& shape) {
    by_layer(layer, shape);
    shape.has_both = true;
  };
  return read_transformer(traits, std::move(weights));
}

Model read_gguf_granitehybrid(const GgufMetadata& metadata, WeightReader weights) {
  Traits traits = granite_traits(metadata, weights, /*may_have_experts=*/true);
  const GgufKeys key(metadata);
  if (const std::string groups = key("ssm.group_count"); metadata.size(groups) != 1) {
    metadata.fail(groups, "expected 1: files do not say what norms of several are of");
  }
  if (!metadata.flag_or(key("rope.scaling.finetuned"), true)) {
    remove_positions(traits);
  }
  add_mamba(metadata, traits);
  ExpertTraits experts;
  experts.router.kind = RouterKind::kChosenSoftmax;
  experts.shared_d_ff = metadata.id(key("expert_shared_feed_forward_length")).value_or(0);
  read_gguf_experts(metadata, weights, std::move(experts), traits);
  traits.vary = [by_layer = traits.vary](std::size_t layer, LayerTraits& shape) {
    if (by_layer) {
      by_layer(layer, shape);
    }
    shape.has_states = shape.n_kv_heads == 0;
  };
  return read_transformer(traits, std::move(weights));
}

Model read_gguf_nemotron_h(const GgufMetadata& metadata, WeightReader weights) {
  const GgufKeys key(metadata);
  Traits traits = gguf_traits(metadata, weights, NormKind::kRms, /*may_have_experts=*/true);
  for (const char* same : {"rope.dimension_count", "rope.freq_base", "rope.scaling.finetuned",
                           "expert_shared_count"}) {
    metadata.find(key(same));  // the model has no positions
  }
  remove_positions(traits);
  traits.output_bias = traits.mlp_bias = Presence::kOptional;
  traits.activation = Activation::kReluSquared;
  traits.gated = false;
  add_mamba(metadata, traits);
  traits.states.shape.n_norm_groups = traits.states.shape.n_key_heads;
  ExpertTraits experts;
  experts.router.kind = RouterKind::kSigmoid;
  experts.router.normed = metadata.flag_or(key("expert_weights_norm"), true);
  experts.router.scale = static_cast<float>(scale_of(metadata, "expert_weights_scale", 1.0));
  experts.router.n_groups = metadata.size_or(key("expert_group_count"), 1);
  experts.router.n_used_groups = metadata.size_or(key("expert_group_used_count"), 1);
  experts.router.n_group_best = 2;
  experts.has_choice_bias = true;
  experts.shared_d_ff = metadata.id(key("expert_shared_feed_forward_length")).value_or(0);
  experts.in_layer = [files = weights](std::size_t layer) {
    return files.has(fmt::format("blk.{}.ffn_gate_inp.weight", layer));
  };
  read_gguf_experts(metadata, weights, std::move(experts), traits);
  traits.names.choice_bias = "exp_probs_b.bias";
  read_latents(metadata, weights, traits);
  traits.vary = [by_layer = traits.vary](std::size_t layer, LayerTraits& shape) {
    if (by_layer) {
      by_layer(layer, shape);
    }
    shape.has_mlp = shape.n_kv_heads == 0 && shape.d_ff > 0;
    shape.mixes = !shape.has_mlp;
    shape.has_states = shape.mixes && shape.n_kv_heads == 0;
  };
  return read_transformer(traits, std::move(weights));
}

}  // namespace attnviz
