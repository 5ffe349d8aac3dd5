// Keys and tensors that are not read.
#include "attnviz/model/known_keys.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/model/stored_model.h"
#include "support/failure.h"
#include "support/gguf_builder.h"
#include "support/json.h"
#include "support/run_program.h"
#include "support/stored_model.h"
#include "support/tiny_gguf.h"

namespace attnviz {
namespace {

using nlohmann::json;
using test::add_zeros;
using test::GgufBuilder;
using test::TemporaryFolder;
using test::tiny_model;

GgufBuilder tiny_llama() {
  return tiny_model("llama");
}

Model loaded(const GgufBuilder& file) {
  const TemporaryFolder folder;
  test::write_file(folder.file("tiny.gguf"), file.bytes());
  return load_gguf(folder.file("tiny.gguf"));
}

void check_refused(const std::function<void(GgufBuilder&)>& change, std::string_view name) {
  GgufBuilder file = tiny_llama();
  change(file);
  test::check_refused([&] { loaded(file); }, name);
}

// A reference model with another value in its config.
Model with_setting(const std::string& model, const std::string& key, const json& value) {
  return test::with_settings(model, {{key, value}});
}

// A key's path as written in messages.
std::string path_in_messages(std::string key) {
  std::ranges::replace(key, '/', '.');
  return key;
}

std::string refusal(const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kUnsupported);
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace

TEST_CASE("GGUF: a key of llama.cpp's that may change what is computed is refused by name") {
  CHECK(loaded(tiny_llama()).config.ignored_keys.empty());
  for (const char* key :
       {"llama.attention.scale", "llama.attention.clamp_kqv", "llama.logit_scale",
        "llama.embedding_scale", "llama.residual_scale", "llama.attn_logit_softcapping",
        "llama.rope.scaling.yarn_ext_factor", "llama.swiglu_clamp_exp"}) {
    check_refused([&](GgufBuilder& file) { file.add(key, GgufType::kF32, file.number(0.25F)); },
                  key);
  }
  check_refused(
      [](GgufBuilder& file) {
        file.add("llama.attention.causal", GgufType::kBool, std::string(1, '\0'));
      },
      "llama.attention.causal");
  check_refused(
      [](GgufBuilder& file) {
        file.add("llama.rope.dimension_sections", GgufType::kArray,
                 file.array(GgufType::kI32, 2, file.numbers({1, 1})));
      },
      "llama.rope.dimension_sections");
  // The tensors have 3 tokens, and heads of 4 numbers.
  for (const char* key : {"llama.vocab_size", "llama.attention.head_dim"}) {
    check_refused([&](GgufBuilder& file) { file.add_u32(key, 5); },
                  std::string(key) + " 5: contradicts the shapes of the tensors");
  }
}

TEST_CASE("GGUF: a key unknown to llama.cpp is reported, one without effect is harmless") {
  GgufBuilder file = tiny_llama();
  file.add_u32("llama.invented", 4);
  file.add_u32("llama.rescale_every_n_layers", 0);
  file.add("llama.swiglu_clamp_exp", GgufType::kArray,
           file.array(GgufType::kF32, 2, file.number(0.0F) + file.number(0.0F)));
  file.add("llama.norm_before_residual", GgufType::kBool, std::string(1, '\0'));
  const Model model = loaded(file);
  CHECK(model.config.unknown_keys == std::vector<std::string>{"llama.invented"});
  CHECK(model.config.ignored_keys.size() == 3);
}

TEST_CASE("GGUF: a key with a value that changes nothing is ignored, with the reason") {
  GgufBuilder file = tiny_llama();
  file.add("llama.attention.causal", GgufType::kBool, std::string(1, '\1'));
  file.add("llama.attention.clamp_kqv", GgufType::kF32, file.number(0.0F));
  file.add("llama.rope.scaling.yarn_ext_factor", GgufType::kF32, file.number(1.0F));
  file.add_u32("llama.vocab_size", 3);
  file.add_u32("llama.attention.head_dim", 4);
  file.add_u32("llama.vision.block_count", 3);
  file.add_string("general.invented", "x");
  const Model model = loaded(file);
  REQUIRE(model.config.ignored_keys.size() == 7);
  CHECK(model.config.ignored_keys[0].name == "llama.attention.causal");
  CHECK(model.config.ignored_keys[6].name == "general.invented");
  for (const IgnoredKey& one : model.config.ignored_keys) {
    CHECK_FALSE(one.why.empty());
  }
}

TEST_CASE("GGUF: keys of other architectures are ignored, with the reason") {
  GgufBuilder file = tiny_llama();
  file.add_u32("qwen2.attention.sliding_window", 4);
  file.add_u32("frob.x", 4);
  file.add_u32("quantize.imatrix.chunks_count", 4);
  const Model model = loaded(file);
  REQUIRE(model.config.ignored_keys.size() == 3);
  CHECK(model.config.ignored_keys[0].name == "qwen2.attention.sliding_window");
  for (const std::size_t i : {0U, 1U}) {
    CHECK(model.config.ignored_keys[i].why ==
          "not of this architecture: llama.cpp does not read it in such files");
  }
  CHECK(model.config.ignored_keys[2].why == "how the file was written");
}

TEST_CASE("GGUF: files that are not models are refused by name") {
  for (const char* type : {"adapter", "mmproj", "imatrix", "invented"}) {
    check_refused([&](GgufBuilder& file) { file.add_string("general.type", type); },
                  std::string("general.type \"") + type + "\": expected model");
  }
  GgufBuilder file = tiny_llama();
  file.add_string("general.type", "model");
  CHECK(loaded(file).config.ignored_keys.empty());
}

TEST_CASE("GGUF: unread tensors of layers are refused by name, others are reported") {
  // Some architectures have norms of heads, but not that of Llama.
  for (const char* name :
       {"blk.0.attn_q_norm.weight", "blk.1.attn_k_norm.weight", "blk.0.post_attention_norm.weight",
        "blk.0.attn_sinks.weight", "blk.0.attn_q.scale", "blk.2.attn_q.weight",
        "blk.0.score.weight", "blk.0.rotary_emb.inv_freq", "rope_factors_short.weight",
        "token_embd_norm.weight"}) {
    check_refused([&](GgufBuilder& file) { add_zeros(file, name, {4}); }, name);
  }
  for (const char* name :
       {"dense.0.weight", "cls.output.weight", "lm_head.weight", "invented.weight"}) {
    CAPTURE(name);
    GgufBuilder with = tiny_llama();
    add_zeros(with, name, {4});
    CHECK(loaded(with).config.unknown_keys == std::vector<std::string>{name});
  }
  GgufBuilder file = tiny_llama();
  add_zeros(file, "v.blk.0.attn_q.weight", {4});
  add_zeros(file, "mm.0.weight", {4});
  CHECK(loaded(file).config.ignored_keys.size() == 2);
}

TEST_CASE("GGUF: whether a tensor is allowed depends on the architecture") {
  struct Case {
    const char* architecture;
    const char* tensor;
    std::vector<std::uint64_t> dimensions;
  };
  const Case cases[] = {
      {"qwen2", "blk.0.attn_q_norm.weight", {4}}, {"qwen2", "blk.1.attn_k_norm.weight", {4}},
      {"gemma", "blk.0.attn_q_norm.weight", {4}}, {"qwen2", "blk.0.attn_output.bias", {4}},
      {"qwen2", "blk.1.ffn_up.bias", {4}},        {"qwen2", "rope_freqs.weight", {2}},
      {"gemma", "output.weight", {4, 3}},
  };
  for (const Case& one : cases) {
    CAPTURE(one.architecture);
    CAPTURE(one.tensor);
    GgufBuilder file = tiny_model(one.architecture);
    CHECK_NOTHROW(loaded(file));
    add_zeros(file, one.tensor, one.dimensions);
    CHECK(refusal([&] { loaded(file); }).find(one.tensor) != std::string::npos);
  }
  GgufBuilder qwen3 = tiny_model("qwen3");
  for (const std::string layer : {"blk.0.", "blk.1."}) {
    CHECK_THROWS_WITH_AS(loaded(qwen3), doctest::Contains((layer + "attn_q_norm.weight").c_str()),
                         Error);
    add_zeros(qwen3, layer + "attn_q_norm.weight", {4});
    add_zeros(qwen3, layer + "attn_k_norm.weight", {4});
  }
  CHECK(loaded(qwen3).layers.back().key_norm.present());
}

TEST_CASE("GGUF: every id that ends a text is known, also several in one key") {
  GgufBuilder file = tiny_llama();
  file.add_u32("tokenizer.ggml.eos_token_id", 2);
  file.add("tokenizer.ggml.eos_token_ids", GgufType::kArray,
           file.array(GgufType::kI32, 2, file.numbers({2, 1})));
  CHECK(loaded(file).config.end_of_text == std::vector<std::uint32_t>{2, 1});
  GgufBuilder odd = tiny_llama();
  odd.add("tokenizer.ggml.eos_token_ids", GgufType::kArray,
          odd.array(GgufType::kI32, 1, odd.numbers({-1})));
  CHECK_THROWS_WITH_AS(loaded(odd), doctest::Contains("expected token ids, found -1"), Error);
}

TEST_CASE("GGUF: a bias belongs only to the layer that has it") {
  GgufBuilder file = tiny_llama();
  add_zeros(file, "blk.1.attn_k.bias", {4});
  add_zeros(file, "blk.0.ffn_down.bias", {4});
  const Model model = loaded(file);
  CHECK(model.config.ignored_keys.empty());
  for (const std::size_t i : {0U, 1U}) {
    const LayerWeights& layer = model.layers[i];
    CHECK(layer.heads.front().query.bias.empty());
    CHECK(layer.heads.front().key.bias.size() == (i == 1 ? 4 : 0));
    CHECK(layer.mlp.down.bias.size() == (i == 0 ? 4 : 0));
  }
}

TEST_CASE("Hugging Face: a setting is harmless only with the value that changes nothing") {
  struct Setting {
    const char* model;
    const char* key;
    json ignorable;
    json refused;
  };
  const Setting settings[] = {
      {"llama-mha-untied", "is_causal", true, false},
      {"llama-mha-untied", "use_bidirectional_attention", false, true},
      {"llama-mha-untied", "is_decoder", true, nullptr},
      {"bert-pair", "is_causal", false, true},
      {"distilbert-mlm", "is_decoder", false, true},
      {"phi3-window", "attention_bias", false, true},
      {"gpt2-tied", "add_cross_attention", false, true},
      {"gpt2-tied", "rope_scaling", nullptr, json{{"type", "linear"}, {"factor", 2}}},
      {"bert-pair", "pruned_heads", json::object(), json{{"0", {1}}}},
      {"llama-mha-untied", "logit_scale", 1, 0.5},
      {"llama-mha-untied", "num_local_experts", 0, 8},
      {"llama-mha-untied", "layer_types", json(2, "full_attention"),
       json{"full_attention", "sliding_attention"}},
      {"llama-mha-untied", "rope_scaling", json{{"rope_type", "default"}}, json{{"factor", 2}}},
      {"qwen2-bias", "layer_types", json(2, "full_attention"),
       json{"full_attention", "sliding_attention"}},
      {"gemma3-multimodal", "tie_word_embeddings", true, false},
      {"llama-mha-untied", "sliding_window", nullptr, 4096},
      {"gemma3-multimodal", "vision_config", json{{"hidden_size", 3}}, nullptr},
      {"llama-mha-untied", "architectures", json{"LlamaForCausalLM", "TFLlamaModel"},
       json{"LlamaBiModel"}},
      {"llama-mha-untied", "architectures", json{"LLaMAForCausalLM"}, json{"MistralForCausalLM"}},
      {"gemma3-multimodal", "architectures", json{"Gemma3ForConditionalGeneration"}, "Gemma3Mode"},
      {"llama-mha-untied", "auto_map",
       json{{"AutoConfig", "configuration.AnyConfig"},
            {"AutoModel", "a/b--modeling_llama.LlamaModel"}},
       json{{"AutoModel", "modeling_llama_encoder.LlamaEncoderModel"}}},
      {"qwen2-bias", "auto_map", json{{"AutoConfig", "a.B"}},
       json{{"AutoModel", "modeling_qwen.Qwen2Model"}}},
      {"llama-mha-untied", "architectures", json{"FlaxLlamaForCausalLM"}, json{"LlamaForMaskedLM"}},
      {"qwen2-bias", "architectures", json{"Qwen2ForSequenceClassification"},
       json{"Qwen2ForMaskedLM"}},
      {"qwen3-qk-norm", "architectures", json{"Qwen3Model"},
       json{"Qwen3ForNextSentencePrediction"}},
      {"mistral-window", "architectures", json{"MistralForCausalLM"},
       json{"MistralForConditionalGeneration"}},
      {"bert-pair", "architectures", json{"BertForMaskedLM"}, json{"BertForCausalLM"}},
      {"bert-pair", "architectures", json{"HF_ColBERT"}, json{"RobertaModel"}},
      {"gemma3-local-global", "architectures", json{"Gemma3TextModel"}, json{"TFFlaxGemma3Model"}},
      {"qwen2-bias", "attention_bias", true, nullptr},
      {"gemma2-softcap-window", "sliding_window_size", nullptr, 1234},
      {"llama-mha-untied", "emb_size", 12, 9},
      {"bert-pair", "embedding_size", 12, 8},
      {"llama-mha-untied", "routed_scaling_factor", 1.0, 2.5},
      {"llama-mha-untied", "n_group", 1, 4},
      {"llama-mha-untied", "num_layers", 2, 3},
      {"mistral-small-3.1", "text_config/architectures", json{"MistralForCausalLM"},
       json{"LlamaForCausalLM"}},
      {"qwen3-vl", "text_config/architectures", json{"Qwen3VLTextModel"}, json{"Qwen3Model"}},
      {"llama-mha-untied", "num_nextn_predict_layers", 1, nullptr},
      {"gpt-neox-parallel", "rotary_pct", 0.5, nullptr},
      {"llama-mha-untied", "rotary_pct", nullptr, 0.5},
      {"llama-mha-untied", "rotary_emb_base", nullptr, 500},
      {"llama-rope-linear", "temperature", 0.5, nullptr},
      {"llama-rope-linear", "rope_scaling/finetuned", true, nullptr},
      {"llama-rope-linear", "rope_scaling/temperature", 0.5, nullptr},
      {"llama-rope-linear", "rope_scaling/mscale", 0, 0.5},
      {"llama-mha-untied", "attention_bias", false, nullptr},
      {"mistral-window", "shared_expert_intermediate_size", 0, 64},
      {"mistral-window", "n_routed_experts", 0, 8},
      {"bert-pair", "alibi_starting_size", nullptr, 512},
      {"llama-mha-untied", "quantization", json::object(), json{{"bits", 4}}},
      {"distilbert-mlm", "hidden_act", "gelu", "relu"},
      {"distilbert-mlm", "position_embedding_type", "absolute", "relative_key"},
      {"llama-rope-yarn", "rope_scaling/extrapolation_factor", 1.0, 0.5},
      {"llama-rope-yarn", "rope_scaling/attn_factor", 1.0, 0.5},
  };
  for (const Setting& setting : settings) {
    CAPTURE(setting.model);
    CAPTURE(setting.key);
    CHECK_NOTHROW(with_setting(setting.model, setting.key, setting.ignorable));
    if (setting.refused.is_null()) {
      continue;
    }
    CHECK(refusal([&] {
            with_setting(setting.model, setting.key, setting.refused);
          }).find(path_in_messages(setting.key)) != std::string::npos);
  }
}

TEST_CASE("Hugging Face: refused settings are reported with their path and value") {
  CHECK(
      refusal([] {
        test::with_settings("llama-mha-untied", {{"architectures", json{"LlamaBiModel"}},
                                                 {"logit_scale", 0.5},
                                                 {"invented", 1},
                                                 {"route_scale", 2},
                                                 {"is_causal", false}});
      })
          .ends_with(
              "config.json: architectures [\"LlamaBiModel\"]: expected LlamaModel or another class "
              "that transformers has for this family: "
              "other classes may compute something else; "
              "is_causal false: a model of this family is read "
              "from left to right; logit_scale 0.5, route_scale 2: attnviz does not know what this "
              "changes in a model of this family (a key that only notes something may be left out "
              "of a copy)"));
  CHECK(refusal([] {
          with_setting("llama-mha-untied", "rope_scaling", json{{"factor", 2}});
        }).ends_with("config.json: rope_scaling.factor: expected rope_type beside it, found none"));
  CHECK(refusal([] {
          with_setting("gemma3-rope-parameters", "rope_parameters/sliding_attention/rope_type",
                       "spiral");
        }).find("spiral") != std::string::npos);
  CHECK(refusal([] {
          with_setting("gemma3-multimodal", "text_config/model_type", "llama");
        }).find("model_type \"llama\"") != std::string::npos);
}

TEST_CASE("Hugging Face: two keys with the same meaning and different values are refused") {
  using Settings = std::vector<std::pair<std::string, json>>;
  struct Contradiction {
    const char* model;
    Settings settings;
    const char* message;
  };
  const Contradiction contradictions[] = {
      {"llama-rope-linear",
       {{"rope_scaling/type", "linear"}, {"rope_scaling/rope_type", "dynamic"}},
       "rope_scaling.type: \"linear\" contradicts rope_scaling.rope_type, which is \"dynamic\""},
      {"llama-rope-parameters",
       {{"rope_theta", 123}},
       "config.json: rope_theta: 123 contradicts rope_parameters.rope_theta, which is "},
      {"llama-rope-parameters",
       {{"partial_rotary_factor", 0.5}, {"rope_parameters/partial_rotary_factor", 1}},
       "partial_rotary_factor: 0.5 contradicts rope_parameters.partial_rotary_factor, which is 1"},
      {"gpt-neox-parallel",
       {{"rotary_emb_base", 7}, {"rope_theta", 8}},
       "rotary_emb_base: 7 contradicts rope_theta, which is 8"},
      {"gemma3-rope-parameters",
       {{"rope_local_base_freq", 7}},
       "rope_local_base_freq: 7 contradicts rope_parameters.sliding_attention.rope_theta"},
      {"phi3-longrope-short",
       {{"original_max_position_embeddings", 8},
        {"rope_scaling/original_max_position_embeddings", 9}},
       "original_max_position_embeddings: 8 contradicts rope_scaling.original_max"},
      {"gemma3-local-global",
       {{"_sliding_window_pattern", 2}},
       "_sliding_window_pattern: 2 contradicts sliding_window_pattern, which is 3"},
      {"qwen3-qk-norm",
       {{"use_sliding_window", false},
        {"layer_types", json{"full_attention", "sliding_attention"}}},
       "layer_types: sliding_attention contradicts use_sliding_window, which is false"},
      {"qwen2-window-upper-layers",
       {{"sliding_window", nullptr}, {"layer_types", json(3, "sliding_attention")}},
       "layer_types: sliding_attention contradicts sliding_window, which is null"},
  };
  for (const Contradiction& one : contradictions) {
    CAPTURE(one.model);
    const std::string error = refusal([&] { test::with_settings(one.model, one.settings); });
    CAPTURE(error);
    CHECK(error.find(one.message) != std::string::npos);
  }
  // Two equal values do not contradict each other.
  CHECK_NOTHROW(with_setting("llama-rope-linear", "rope_scaling/type", "linear"));
  CHECK_NOTHROW(with_setting("llama-rope-linear", "rope_scaling/rope_type", "linear"));
  CHECK_NOTHROW(
      test::with_settings("phi3-longrope-short",
                          {{"rope_scaling/type", "su"}, {"rope_scaling/rope_type", "longrope"}}));
  CHECK_NOTHROW(with_setting("gemma3-local-global", "_sliding_window_pattern", 3));
}

TEST_CASE("Hugging Face: the reason given for a key is true of this model") {
  const Model model = with_setting("mistral-window", "max_window_layers", 1);
  REQUIRE(model.layers.front().mask);
  const auto found =
      std::ranges::find(model.config.ignored_keys, "max_window_layers", &IgnoredKey::name);
  REQUIRE(found != model.config.ignored_keys.end());
  CHECK(found->why == "a model of this family does not use it");
}

TEST_CASE("Hugging Face: with positions by chunks, texts of one chunk are read") {
  const json chunks = {{"chunk_size", 8}, {"local_size", 2}};
  CHECK(with_setting("qwen2-bias", "dual_chunk_attention_config", chunks).config.n_ctx == 6);
  const Model with = with_setting("qwen2-bias", "dual_chunk_attention_config",
                                  {{"chunk_size", 8}, {"local_size", 2}, {"invented", 1}});
  CHECK(with.config.unknown_keys ==
        std::vector<std::string>{"dual_chunk_attention_config.invented"});
}

}  // namespace attnviz
