#include "attnviz/report/json/document_json.h"

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "attnviz/core/utf8.h"
#include "attnviz/report/attention_facts.h"

namespace attnviz {

namespace {

constexpr std::array kOrders = {
    Choice{"attention-only", LayerOrder::kAttentionOnly}, Choice{"pre-norm", LayerOrder::kPreNorm},
    Choice{"parallel", LayerOrder::kParallel}, Choice{"post-norm", LayerOrder::kPostNorm}};

// Absent for a value that is 0 or empty.
template <class Value>
std::optional<Value> if_any(const Value& value) {
  return value == Value() ? std::nullopt : std::optional(value);
}

// The record of a part that exists, else null.
Datum if_there(const auto& part, const auto& record_of) {
  return part ? Datum(record_of(*part)) : Datum();
}

Record model_member(const ModelInfo& info) {
  const ModelConfig config = info.model == nullptr ? ModelConfig() : info.model->config;
  Record record{{"name", info.name}, {"family", if_any(config.family)}};
  return record.add_if_any("origin", config.origin)
      .add_if_any("unknown_keys", list_of(config.unknown_keys, valid_utf8))
      .add("described", info.model == nullptr)
      .add("random", config.random_weights);
}

Record shape_record(const ModelShape& shape, const Model* encoder) {
  const LayerShape& layer = shape.first_attention();
  Record record{{"n_ctx", if_any(shape.n_ctx)},         {"n_vocab", if_any(shape.n_vocab)},
                {"n_layers", shape.n_layers()},         {"n_heads", layer.n_heads()},
                {"n_kv_heads", layer.n_kv_heads()},     {"d_model", shape.d_model},
                {"d_head", layer.heads.front().d_head}, {"d_value", layer.heads.front().d_value},
                {"d_ff", if_any(layer.d_ff)},           {"gated_mlp", layer.gated}};
  if (const LayerShape* const routed = shape.first_routed()) {
    record.add("n_experts", routed->n_experts)
        .add("n_used_experts", routed->n_used_experts)
        .add("expert_d_ff", routed->expert_d_ff);
  }
  if (const LayerShape* const latent = shape.first_latent()) {
    record.add("latents", Record{{"query_rank", if_any(latent->query_rank)},
                                 {"rank", latent->key_rank},
                                 {"shared_key", latent->shared_key},
                                 {"kept", latent->kept_latents()},
                                 {"expanded", latent->kept()}});
  }
  record.add("tied", shape.tied);
  if (encoder != nullptr) {
    record.add("n_encoder_layers", encoder->n_layers()).add("n_encoder_heads", encoder->n_heads());
  }
  return record;
}

Record facts_record(const Model& model) {
  const Norm* const norm = any_norm(model);
  const Mlp& mlp = any_mlp(model);
  Record record{
      {"positions", positions_name(model.config.positions)},
      {"order", word_for(kOrders, model.config.order)},
      {"norm",
       if_there(norm,
                [](const Norm& any) { return any.kind == NormKind::kRms ? "rms" : "layer"; })},
      {"norm_epsilon",
       if_there(norm, [](const Norm& any) { return static_cast<float>(any.epsilon); })},
      {"activation", mlp.present() ? std::optional(activation_name(mlp.activation)) : std::nullopt},
      {"embedding_scale", model.embedding_scale},
      {"residual_scale", model.layers.front().branch_scale},
      {"logit_scale", model.head.scale},
      {"logit_soft_cap", if_any(model.head.soft_cap)}};
  if (model.altup.present()) {
    record.add("n_streams", model.altup.n_streams()).add("active_stream", model.altup.active);
  }
  if (const Laurel& laurel = model.layers.front().laurel; laurel.present()) {
    record.add("laurel_rank", laurel.left.d_out());
  }
  return record;
}

Record rope_record(const Rope& rope) {
  return {{"base", static_cast<float>(rope.theta)},
          {"n_rotated", rope.n_rotated()},
          {"scaling", rope.scaling},
          {"factor", static_cast<float>(rope.factor)},
          {"original_n_ctx", if_any(rope.original_n_ctx)}};
}

Record layer_record(const LayerShape& shape, const Model& model, std::size_t layer) {
  Record record{{"layer", layer}, {"n_heads", shape.n_heads()}, {"n_kv_heads", shape.n_kv_heads()}};
  if (shape.mixer != MixerKind::kAttention) {
    return record.add("mixer", word_for(kMixers, shape.mixer))
        .add_if_any("convolution", shape.convolution);
  }
  const AttentionVariant variant = attention_variant(model, layer);
  return record.add("mask", variant.mask.name())
      .add("score_scale", if_any(static_cast<float>(variant.score_scale)))
      .add("soft_cap", if_any(variant.soft_cap))
      .add("query_norm", variant.query_norm)
      .add("key_norm", variant.key_norm)
      .add_if_any("keys_from", variant.keys_from)
      .add_if_any("values_are_keys", variant.values_are_keys)
      .add_if_any("value_norm", variant.value_norm)
      .add_if_any("mlp_sparsity", model.layers[layer].mlp.sparsity)
      .add("rope", if_there(variant.rope, rope_record));
}

Datum layers_of(const ModelInfo& info) {
  Datum::List list;
  for (const LayerShape& run : info.shape.layers) {
    for (std::size_t i = 0; i < run.n_layers; ++i) {
      list.emplace_back(layer_record(run, *info.model, list.size()));
    }
  }
  return list;
}

Record attention_record(const AttentionCounts& counts) {
  Record record;
  for (const auto& [name, part] : kAttentionParts) {
    if (part != &AttentionCounts::latents || counts.*part > 0) {
      record.add(name, counts.*part);
    }
  }
  return record.add("total", counts.total());
}

Record layer_counts_record(const LayerCounts& counts) {
  Record record{{"attention", attention_record(counts.attention)}, {"mlp", counts.mlp}};
  return record.add_if_any("experts", counts.experts)
      .add("norms", counts.norms)
      .add_if_any("other", counts.other)
      .add_if_any("cross_attention", counts.cross)
      .add("total", counts.total());
}

Record parameters_record(const ParameterCounts& counts) {
  Record record{{"token_embeddings", counts.token_embeddings},
                {"positions", counts.positions},
                {"segments", counts.segments},
                {"head", if_there(counts.head, attention_record)},
                {"layer", if_there(counts.layer, layer_counts_record)},
                {"attention", attention_record(counts.layers.attention)},
                {"mlp", counts.layers.mlp}};
  record.add_if_any("experts", counts.layers.experts)
      .add("norms", counts.layers.norms + counts.outer_norms);
  if (counts.layers.other + counts.layer_embeddings > 0) {
    record.add("other", counts.layers.other).add("layer_embeddings", counts.layer_embeddings);
  }
  record.add_if_any("cross_attention", counts.layers.cross)
      .add_if_any("encoder", counts.encoder)
      .add("output_head", counts.output_head)
      .add("total", counts.total);
  if (counts.active != counts.total) {
    record.add("active", counts.active);
  }
  return record;
}

Record weights_record(const ModelInfo& info) {
  const StoredWeights stored = info.stored();
  return {{"stored", list_of(stored.used,
                             [](const StoredWeights::Numbers& numbers) {
                               return Record{{"type", stored_type_name(numbers.type)},
                                             {"tensors", numbers.n_tensors},
                                             {"numbers", numbers.count},
                                             {"bytes", numbers.bytes()}};
                             })},
          {"unused_tensors", stored.unused_tensors.size()},
          {"unused_bytes", stored.n_unused_bytes},
          {"float32_bytes", bytes_of(info.parameters.total, 4)},
          {"float16_bytes", bytes_of(info.parameters.total, 2)}};
}

Datum memory_of(const ModelShape& shape) {
  const auto if_kept = [&shape](std::size_t bytes) {
    return shape.keeps_keys ? std::optional(bytes) : std::nullopt;
  };
  return list_of(text_memory(shape), [&](const TextMemory& row) {
    Record record{{"tokens", row.n_tokens},
                  {"beyond_context", row.beyond_context},
                  {"pattern_head", row.pattern.head},
                  {"pattern", row.pattern.all},
                  {"kv_float32", if_kept(row.kept_float32)},
                  {"kv_float16", if_kept(row.kept_float16)}};
    if (shape.first_latent() != nullptr) {
      record.add("latents_float32", row.latents_float32)
          .add("latents_float16", row.latents_float16);
    }
    return record;
  });
}

Record tokenizer_record(const TokenizerInfo& tokenizer) {
  Record record{{"kind", if_any(tokenizer.kind)}};
  if (tokenizer.kind.empty()) {
    return record.add("missing", tokenizer.missing);
  }
  Record special;
  for (const TokenizerInfo::Special& one : tokenizer.special) {
    special.add(one.role, Record{{"piece", one.piece}, {"id", one.id}});
  }
  return record.add("entries", if_any(tokenizer.n_entries))
      .add("special_tokens", tokenizer.n_special)
      .add("special", std::move(special))
      .add("before", tokenizer.before)
      .add("after", tokenizer.after)
      .add("chat_template", if_any(tokenizer.chat_template));
}

// Numbers, texts and flags unchanged; for lists, the type and number of their elements.
Datum metadata_value(const GgufValue& value) {
  if (const auto bytes = value.as_string()) {
    return *bytes;
  }
  if (const auto is_set = value.as_bool()) {
    return *is_set;
  }
  if (const auto whole = value.as_unsigned()) {
    return *whole;
  }
  if (const auto below_zero = value.as_signed()) {
    return *below_zero;
  }
  if (const auto real = value.as_number()) {
    return *real;
  }
  return Record{{"list_of", gguf_type_name(value.element_type())}, {"size", value.size()}};
}

Record file_record(const Gguf& gguf) {
  Record metadata;
  for (const Gguf::Entry& entry : gguf.metadata()) {
    metadata.add(entry.key, metadata_value(entry.value));
  }
  return {{"format", "gguf"},
          {"path", gguf.file()},
          {"version", gguf.version()},
          {"byte_order", gguf.is_big_endian() ? "big-endian" : "little-endian"},
          {"alignment", gguf.alignment()},
          {"metadata", std::move(metadata)}};
}

}  // namespace

Record info_record(const ModelInfo& info) {
  const Model* const model = info.model;
  return {{"model", model_member(info)},
          {"shape", shape_record(info.shape, model == nullptr ? nullptr : model->encoder.get())},
          {"facts", if_there(model, facts_record)},
          {"layers", model == nullptr ? Datum() : layers_of(info)},
          {"parameters", parameters_record(info.parameters)},
          {"weights", weights_record(info)},
          {"memory", memory_of(info.shape)},
          {"tokenizer", if_there(info.tokenizer, tokenizer_record)},
          {"file", if_there(info.gguf, file_record)}};
}

}  // namespace attnviz
