#include "attnviz/document/json/model_info_json.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/core/stored_type.h"
#include "attnviz/formats/json_writer.h"

namespace attnviz {

namespace {

class Writer {
 public:
  Writer(const ModelInfo& info, const ByteSink& sink) : info_(info), json_(sink, 2) {}

  void write() {
    json_.begin_object();
    text("schema", "attnviz.info/1");
    write_model();
    write_shape();
    write_facts();
    write_layers();
    write_parameters();
    write_weights();
    write_memory();
    write_tokenizer();
    write_file();
    json_.end_object();
    json_.finish();
  }

 private:
  void text(std::string_view key, std::string_view value) { json_.member(key, value); }
  void flag(std::string_view key, bool value) { json_.member(key, value); }
  void number(std::string_view key, double value) { json_.member(key, static_cast<float>(value)); }
  void count(std::string_view key, std::size_t value) { json_.member(key, std::uint64_t{value}); }
  // What is not there when it is 0.
  void count_or_null(std::string_view key, std::size_t value) {
    value == 0 ? null(key) : count(key, value);
  }
  void number_or_null(std::string_view key, double value) {
    value == 0.0 ? null(key) : number(key, value);
  }
  void null(std::string_view key) {
    json_.key(key);
    json_.null();
  }
  void open(std::string_view key) { json_.begin_object(key); }
  void texts(std::string_view key, const std::vector<std::string>& values) {
    json_.begin_array(key);
    for (const std::string& value : values) {
      json_.value(value);
    }
    json_.end_array();
  }

  void write_model() {
    open("model");
    text("name", info_.name);
    if (info_.model != nullptr && info_.model->config.is_transformer()) {
      text("family", info_.model->config.family);
    } else {
      null("family");
    }
    if (info_.model != nullptr && !info_.model->config.origin.empty()) {
      text("origin", info_.model->config.origin);
    }
    flag("described", info_.model == nullptr);
    flag("random", info_.model != nullptr && info_.model->config.random_weights);
    json_.end_object();
  }

  void write_shape() {
    const ModelShape& shape = info_.shape;
    const LayerShape& layer = shape.layers.front();
    open("shape");
    count_or_null("n_ctx", shape.n_ctx);
    count_or_null("n_vocab", shape.n_vocab);
    count("n_layers", shape.n_layers());
    count("n_heads", layer.n_heads());
    count("n_kv_heads", layer.n_kv_heads());
    count("d_model", shape.d_model);
    count("d_head", layer.heads.front().d_head);
    count("d_value", layer.heads.front().d_value);
    count_or_null("d_ff", layer.d_ff);
    flag("gated_mlp", layer.gated);
    flag("tied", shape.tied);
    json_.end_object();
  }

  void write_facts() {
    if (info_.model == nullptr) {
      null("facts");
      return;
    }
    const Model& model = *info_.model;
    open("facts");
    text("positions", positions_name(model.config.positions));
    text("order", order_name(model.config.order));
    if (const Norm* norm = any_norm(model)) {
      text("norm", norm->kind == NormKind::kRms ? "rms" : "layer");
      number("norm_epsilon", norm->epsilon);
    } else {
      null("norm");
      null("norm_epsilon");
    }
    const Mlp& mlp = model.layers.front().mlp;
    if (mlp.present()) {
      text("activation", activation_name(mlp.activation));
    } else {
      null("activation");
    }
    number("embedding_scale", static_cast<double>(model.embedding_scale));
    number_or_null("logit_soft_cap", static_cast<double>(model.head.soft_cap));
    json_.end_object();
  }

  void write_layers() {
    if (info_.model == nullptr) {
      null("layers");
      return;
    }
    json_.begin_array("layers");
    std::size_t layer = 0;
    for (const LayerShape& run : info_.shape.layers) {
      for (std::size_t i = 0; i < run.n_layers; ++i) {
        write_layer(run, layer++);
      }
    }
    json_.end_array();
  }

  void write_layer(const LayerShape& shape, std::size_t layer) {
    const AttentionVariant variant = attention_variant(*info_.model, layer);
    json_.begin_object();
    count("layer", layer);
    count("n_heads", shape.n_heads());
    count("n_kv_heads", shape.n_kv_heads());
    text("mask", variant.mask.name());
    number_or_null("score_scale", variant.score_scale);
    number_or_null("soft_cap", static_cast<double>(variant.soft_cap));
    flag("query_norm", variant.query_norm);
    flag("key_norm", variant.key_norm);
    if (variant.has_rope) {
      open("rope");
      number("base", variant.rope_base);
      count("n_rotated", variant.n_rotated);
      text("scaling", variant.rope_scaling);
      number("factor", variant.rope_factor);
      count_or_null("original_n_ctx", variant.original_n_ctx);
      json_.end_object();
    } else {
      null("rope");
    }
    json_.end_object();
  }

  void write_attention(std::string_view key, const AttentionCounts& counts) {
    open(key);
    count("W_Q", counts.query);
    count("W_K", counts.key);
    count("W_V", counts.value);
    count("W_O", counts.output);
    count("biases", counts.biases);
    count("total", counts.total());
    json_.end_object();
  }

  void write_parameters() {
    const ParameterCounts& counts = info_.parameters;
    open("parameters");
    count("token_embeddings", counts.token_embeddings);
    count("positions", counts.positions);
    count("segments", counts.segments);
    if (counts.head) {
      write_attention("head", *counts.head);
    } else {
      null("head");
    }
    if (counts.layer) {
      open("layer");
      write_attention("attention", counts.layer->attention);
      count("mlp", counts.layer->mlp);
      count("norms", counts.layer->norms);
      count("total", counts.layer->total());
      json_.end_object();
    } else {
      null("layer");
    }
    write_attention("attention", counts.layers.attention);
    count("mlp", counts.layers.mlp);
    count("norms", counts.layers.norms + counts.outer_norms);
    count("output_head", counts.output_head);
    count("total", counts.total);
    json_.end_object();
  }

  void write_weights() {
    const StoredWeights none;
    const StoredWeights& stored = info_.model == nullptr ? none : info_.model->stored;
    open("weights");
    json_.begin_array("stored");
    for (const StoredWeights::Numbers& numbers : stored.used) {
      json_.begin_object();
      text("type", stored_type_name(numbers.type));
      count("tensors", numbers.n_tensors);
      count("numbers", numbers.count);
      count("bytes", numbers.bytes());
      json_.end_object();
    }
    json_.end_array();
    count("unused_tensors", stored.n_unused_tensors);
    count("unused_bytes", stored.n_unused_bytes);
    count("float32_bytes", bytes_of(info_.parameters.total, 4));
    count("float16_bytes", bytes_of(info_.parameters.total, 2));
    json_.end_object();
  }

  void write_memory() {
    json_.begin_array("memory");
    for (const TextMemory& row : text_memory(info_.shape)) {
      json_.begin_object();
      count("tokens", row.n_tokens);
      flag("beyond_context", row.beyond_context);
      count("pattern_head", row.pattern.head);
      count("pattern", row.pattern.all);
      for (const auto& [key, bytes] :
           {std::pair("kv_float32", row.kept_float32), std::pair("kv_float16", row.kept_float16)}) {
        if (info_.shape.keeps_keys) {
          count(key, bytes);
        } else {
          null(key);
        }
      }
      json_.end_object();
    }
    json_.end_array();
  }

  // Numbers, texts and flags as they are; of lists what they hold.
  void write_value(const GgufValue& value) {
    if (const auto bytes = value.as_string()) {
      json_.value(*bytes);
    } else if (const auto is_set = value.as_bool()) {
      json_.value(*is_set);
    } else if (const auto whole = value.as_unsigned()) {
      json_.value(*whole);
    } else if (const auto below_zero = value.as_signed()) {
      json_.value(*below_zero);
    } else if (const auto real = value.as_number()) {
      json_.value(*real);
    } else {
      json_.begin_object();
      text("list_of", gguf_type_name(value.element_type()));
      count("size", value.size());
      json_.end_object();
    }
  }

  void write_file() {
    if (info_.gguf == nullptr) {
      null("file");
      return;
    }
    const Gguf& gguf = *info_.gguf;
    open("file");
    text("format", "gguf");
    text("path", gguf.file());
    count("version", gguf.version());
    text("byte_order", gguf.is_big_endian() ? "big-endian" : "little-endian");
    count("alignment", gguf.alignment());
    open("metadata");
    for (const Gguf::Entry& entry : gguf.metadata()) {
      json_.key(entry.key);
      write_value(entry.value);
    }
    json_.end_object();
    json_.end_object();
  }

  void write_tokenizer() {
    if (!info_.tokenizer) {
      null("tokenizer");
      return;
    }
    const TokenizerInfo& tokenizer = *info_.tokenizer;
    open("tokenizer");
    if (tokenizer.kind.empty()) {
      null("kind");
      text("missing", tokenizer.missing);
    } else {
      text("kind", tokenizer.kind);
      count_or_null("entries", tokenizer.n_entries);
      count("special_tokens", tokenizer.n_special);
      open("special");
      for (const TokenizerInfo::Special& special : tokenizer.special) {
        open(special.role);
        text("piece", special.piece);
        count("id", special.id);
        json_.end_object();
      }
      json_.end_object();
      texts("before", tokenizer.before);
      texts("after", tokenizer.after);
    }
    json_.end_object();
  }

  const ModelInfo& info_;
  JsonWriter json_;
};

}  // namespace

void write_info_json(const ModelInfo& info, const ByteSink& sink) {
  Writer(info, sink).write();
}

}  // namespace attnviz
