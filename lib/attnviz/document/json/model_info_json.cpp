#include "attnviz/document/json/model_info_json.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "attnviz/core/utf8.h"
#include "attnviz/document/attention_facts.h"
#include "attnviz/formats/json_writer.h"

namespace attnviz {

namespace {

constexpr std::array kOrders = {
    Choice{"attention-only", LayerOrder::kAttentionOnly}, Choice{"pre-norm", LayerOrder::kPreNorm},
    Choice{"parallel", LayerOrder::kParallel}, Choice{"post-norm", LayerOrder::kPostNorm}};

// Nothing for what is not there when it is 0 or empty.
template <class Value>
std::optional<Value> if_any(const Value& value) {
  return value == Value() ? std::nullopt : std::optional(value);
}

// A member as `write` writes what is there; else null.
void write_if_any(JsonWriter& json, std::string_view key, const auto& part, const auto& write) {
  json.key(key);
  part ? write(json, *part) : json.null();
}

void write_model(JsonWriter& json, const ModelInfo& info) {
  const ModelConfig config = info.model == nullptr ? ModelConfig() : info.model->config;
  json.begin_object("model");
  json.member("name", info.name);
  json.member("family", if_any(config.family));
  json.member_if_any("origin", config.origin);
  std::vector<std::string> unknown_keys;
  std::ranges::transform(config.unknown_keys, std::back_inserter(unknown_keys), valid_utf8);
  json.member_if_any("unknown_keys", unknown_keys);
  json.member("described", info.model == nullptr);
  json.member("random", config.random_weights);
  json.end_object();
}

void write_shape(JsonWriter& json, const ModelShape& shape, const Model* encoder) {
  const LayerShape& layer = shape.first_attention();
  json.begin_object("shape");
  json.member("n_ctx", if_any(shape.n_ctx));
  json.member("n_vocab", if_any(shape.n_vocab));
  json.member("n_layers", shape.n_layers());
  json.member("n_heads", layer.n_heads());
  json.member("n_kv_heads", layer.n_kv_heads());
  json.member("d_model", shape.d_model);
  json.member("d_head", layer.heads.front().d_head);
  json.member("d_value", layer.heads.front().d_value);
  json.member("d_ff", if_any(layer.d_ff));
  json.member("gated_mlp", layer.gated);
  if (const LayerShape* const routed = shape.first_routed()) {
    json.member("n_experts", routed->n_experts);
    json.member("n_used_experts", routed->n_used_experts);
    json.member("expert_d_ff", routed->expert_d_ff);
  }
  if (const LayerShape* const latent = shape.first_latent()) {
    json.begin_object("latents");
    json.member("query_rank", if_any(latent->query_rank));
    json.member("rank", latent->key_rank);
    json.member("shared_key", latent->shared_key);
    json.member("kept", latent->kept_latents());
    json.member("expanded", latent->kept());
    json.end_object();
  }
  json.member("tied", shape.tied);
  if (encoder != nullptr) {
    json.member("n_encoder_layers", encoder->n_layers());
    json.member("n_encoder_heads", encoder->n_heads());
  }
  json.end_object();
}

void write_facts(JsonWriter& json, const Model& model) {
  const Norm* const norm = any_norm(model);
  const Mlp& mlp = any_mlp(model);
  json.begin_object();
  json.member("positions", positions_name(model.config.positions));
  json.member("order", word_for(kOrders, model.config.order));
  write_if_any(json, "norm", norm, [](JsonWriter& out, const Norm& any) {
    out.value(any.kind == NormKind::kRms ? "rms" : "layer");
  });
  write_if_any(json, "norm_epsilon", norm, [](JsonWriter& out, const Norm& any) {
    out.value(static_cast<float>(any.epsilon));
  });
  json.member("activation",
              mlp.present() ? std::optional(activation_name(mlp.activation)) : std::nullopt);
  json.member("embedding_scale", model.embedding_scale);
  json.member("residual_scale", model.layers.front().branch_scale);
  json.member("logit_scale", model.head.scale);
  json.member("logit_soft_cap", if_any(model.head.soft_cap));
  if (model.altup.present()) {
    json.member("n_streams", model.altup.n_streams());
    json.member("active_stream", model.altup.active);
  }
  if (const Laurel& laurel = model.layers.front().laurel; laurel.present()) {
    json.member("laurel_rank", laurel.left.d_out());
  }
  json.end_object();
}

void write_rope(JsonWriter& json, const Rope& rope) {
  json.begin_object();
  json.member("base", static_cast<float>(rope.theta));
  json.member("n_rotated", rope.n_rotated());
  json.member("scaling", rope.scaling);
  json.member("factor", static_cast<float>(rope.factor));
  json.member("original_n_ctx", if_any(rope.original_n_ctx));
  json.end_object();
}

void write_layer(JsonWriter& json, const LayerShape& shape, const Model& model, std::size_t layer) {
  const LayerWeights& weights = model.layers[layer];
  const AttentionVariant variant = attention_variant(model, layer);
  json.begin_object();
  json.member("layer", layer);
  json.member("n_heads", shape.n_heads());
  json.member("n_kv_heads", shape.n_kv_heads());
  if (shape.mixer != MixerKind::kAttention) {
    json.member("mixer", word_for(kMixers, shape.mixer));
    json.member_if_any("convolution", shape.convolution);
    json.end_object();
    return;
  }
  json.member("mask", variant.mask.name());
  json.member("score_scale", if_any(static_cast<float>(variant.score_scale)));
  json.member("soft_cap", if_any(variant.soft_cap));
  json.member("query_norm", variant.query_norm);
  json.member("key_norm", variant.key_norm);
  if (variant.keys_from) {
    json.member("keys_from", *variant.keys_from);
  }
  if (variant.values_are_keys) {
    json.member("values_are_keys", true);
  }
  if (variant.value_norm) {
    json.member("value_norm", true);
  }
  if (weights.mlp.sparsity > 0.0) {
    json.member("mlp_sparsity", weights.mlp.sparsity);
  }
  write_if_any(json, "rope", variant.rope, write_rope);
  json.end_object();
}

void write_layers(JsonWriter& json, const ModelInfo& info) {
  json.begin_array();
  std::size_t layer = 0;
  for (const LayerShape& run : info.shape.layers) {
    for (std::size_t i = 0; i < run.n_layers; ++i) {
      write_layer(json, run, *info.model, layer);
      ++layer;
    }
  }
  json.end_array();
}

void write_attention(JsonWriter& json, const AttentionCounts& counts) {
  json.begin_object();
  for (const auto& [name, part] : kAttentionParts) {
    if (part != &AttentionCounts::latents || counts.*part > 0) {
      json.member(name, counts.*part);
    }
  }
  json.member("total", counts.total());
  json.end_object();
}

void write_layer_counts(JsonWriter& json, const LayerCounts& counts) {
  json.begin_object();
  json.key("attention");
  write_attention(json, counts.attention);
  json.member("mlp", counts.mlp);
  json.member_if_any("experts", counts.experts);
  json.member("norms", counts.norms);
  if (counts.other > 0) {
    json.member("other", counts.other);
  }
  json.member_if_any("cross_attention", counts.cross);
  json.member("total", counts.total());
  json.end_object();
}

void write_parameters(JsonWriter& json, const ParameterCounts& counts) {
  json.begin_object("parameters");
  json.member("token_embeddings", counts.token_embeddings);
  json.member("positions", counts.positions);
  json.member("segments", counts.segments);
  write_if_any(json, "head", counts.head, write_attention);
  write_if_any(json, "layer", counts.layer, write_layer_counts);
  json.key("attention");
  write_attention(json, counts.layers.attention);
  json.member("mlp", counts.layers.mlp);
  json.member_if_any("experts", counts.layers.experts);
  json.member("norms", counts.layers.norms + counts.outer_norms);
  if (counts.layers.other + counts.layer_embeddings > 0) {
    json.member("other", counts.layers.other);
    json.member("layer_embeddings", counts.layer_embeddings);
  }
  json.member_if_any("cross_attention", counts.layers.cross);
  json.member_if_any("encoder", counts.encoder);
  json.member("output_head", counts.output_head);
  json.member("total", counts.total);
  if (counts.active != counts.total) {
    json.member("active", counts.active);
  }
  json.end_object();
}

void write_weights(JsonWriter& json, const ModelInfo& info) {
  const StoredWeights stored = info.stored();
  json.begin_object("weights");
  json.objects("stored", stored.used, [&](const StoredWeights::Numbers& numbers) {
    json.member("type", stored_type_name(numbers.type));
    json.member("tensors", numbers.n_tensors);
    json.member("numbers", numbers.count);
    json.member("bytes", numbers.bytes());
  });
  json.member("unused_tensors", stored.unused_tensors.size());
  json.member("unused_bytes", stored.n_unused_bytes);
  json.member("float32_bytes", bytes_of(info.parameters.total, 4));
  json.member("float16_bytes", bytes_of(info.parameters.total, 2));
  json.end_object();
}

void write_memory(JsonWriter& json, const ModelShape& shape) {
  const auto if_kept = [&shape](std::size_t bytes) {
    return shape.keeps_keys ? std::optional(bytes) : std::nullopt;
  };
  json.objects("memory", text_memory(shape), [&](const TextMemory& row) {
    json.member("tokens", row.n_tokens);
    json.member("beyond_context", row.beyond_context);
    json.member("pattern_head", row.pattern.head);
    json.member("pattern", row.pattern.all);
    json.member("kv_float32", if_kept(row.kept_float32));
    json.member("kv_float16", if_kept(row.kept_float16));
    if (shape.first_latent() != nullptr) {
      json.member("latents_float32", row.latents_float32);
      json.member("latents_float16", row.latents_float16);
    }
  });
}

void write_tokenizer(JsonWriter& json, const TokenizerInfo& tokenizer) {
  json.begin_object();
  json.member("kind", if_any(tokenizer.kind));
  if (tokenizer.kind.empty()) {
    json.member("missing", tokenizer.missing);
  } else {
    json.member("entries", if_any(tokenizer.n_entries));
    json.member("special_tokens", tokenizer.n_special);
    json.begin_object("special");
    for (const TokenizerInfo::Special& special : tokenizer.special) {
      json.begin_object(special.role);
      json.member("piece", special.piece);
      json.member("id", special.id);
      json.end_object();
    }
    json.end_object();
    json.member("before", tokenizer.before);
    json.member("after", tokenizer.after);
    json.member("chat_template", if_any(tokenizer.chat_template));
  }
  json.end_object();
}

// Numbers, texts and flags as they are; of lists what they hold.
void write_value(JsonWriter& json, const GgufValue& value) {
  if (const auto bytes = value.as_string()) {
    json.value(*bytes);
  } else if (const auto is_set = value.as_bool()) {
    json.value(*is_set);
  } else if (const auto whole = value.as_unsigned()) {
    json.value(*whole);
  } else if (const auto below_zero = value.as_signed()) {
    json.value(*below_zero);
  } else if (const auto real = value.as_number()) {
    json.value(*real);
  } else {
    json.begin_object();
    json.member("list_of", gguf_type_name(value.element_type()));
    json.member("size", value.size());
    json.end_object();
  }
}

void write_file(JsonWriter& json, const Gguf& gguf) {
  json.begin_object();
  json.member("format", "gguf");
  json.member("path", gguf.file());
  json.member("version", gguf.version());
  json.member("byte_order", gguf.is_big_endian() ? "big-endian" : "little-endian");
  json.member("alignment", gguf.alignment());
  json.begin_object("metadata");
  for (const Gguf::Entry& entry : gguf.metadata()) {
    json.key(entry.key);
    write_value(json, entry.value);
  }
  json.end_object();
  json.end_object();
}

}  // namespace

void write_info_members(JsonWriter& json, const ModelInfo& info) {
  write_model(json, info);
  write_shape(json, info.shape, info.model == nullptr ? nullptr : info.model->encoder.get());
  write_if_any(json, "facts", info.model, write_facts);
  write_if_any(json, "layers", info.model,
               [&info](JsonWriter& out, const Model&) { write_layers(out, info); });
  write_parameters(json, info.parameters);
  write_weights(json, info);
  write_memory(json, info.shape);
  write_if_any(json, "tokenizer", info.tokenizer, write_tokenizer);
  write_if_any(json, "file", info.gguf, write_file);
}

}  // namespace attnviz
