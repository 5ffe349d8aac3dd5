// Hugging Face folders that contradict themselves: each is refused with a message, none crashes.

#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/model/stored_model.h"
#include "support/failure.h"
#include "support/json.h"
#include "support/naive.h"
#include "support/run_program.h"
#include "support/stored_model.h"

namespace attnviz {

namespace {

using nlohmann::json;
using test::Failure;
using test::TemporaryFolder;

Failure model_failure(const std::filesystem::path& path) {
  return test::failure_of([&] { load_hugging_face(path); });
}

// Replaces one setting of a config; null has the same effect as none.
struct Change {
  std::string model;
  std::string key;
  json value;
  ErrorKind kind;
  std::string_view message;
};

constexpr auto kMalformed = ErrorKind::kMalformed;
constexpr auto kUnsupported = ErrorKind::kUnsupported;

std::vector<Change> config_changes() {
  const json no = nullptr;
  return {
      {"gpt2-tied", "model_type", no, kMalformed, "model_type"},
      {"gpt2-tied", "model_type", 3, kMalformed, "expected a string"},
      {"gpt2-tied", "model_type", "gpt3", kUnsupported, "near it: gpt2, gptj, gpt_neo, gpt_neox"},
      {"gpt2-tied", "model_type", "mamba", kUnsupported, "not one of the families"},
      {"gpt2-tied", "n_embd", no, kMalformed, "n_embd"},
      {"gpt2-tied", "n_embd", 0, kMalformed, "n_embd"},
      {"gpt2-tied", "n_embd", -4, kMalformed, "n_embd"},
      {"gpt2-tied", "n_embd", 1e30, kMalformed, "n_embd"},
      {"gpt2-tied", "n_embd", "12", kMalformed, "n_embd"},
      {"gpt2-tied", "n_embd", json::array({1, 2}), kMalformed, "n_embd"},
      {"gpt2-tied", "n_embd", 2147483648U, kMalformed, "cannot be shared"},
      {"gpt2-tied", "n_head", 0, kMalformed, "n_head"},
      {"gpt2-tied", "n_head", 7919, kMalformed, "cannot be shared"},
      {"gpt2-tied", "n_layer", 2147483648U, kMalformed, "h.2.attn.c_attn.weight: "},
      {"gpt2-tied", "n_layer", 3000000000U, kMalformed, "n_layer"},
      {"gpt2-tied", "n_inner", 5, kMalformed, "c_fc.weight: expected ["},
      {"gpt2-tied", "n_positions", 1, kMalformed, "wpe.weight: expected [1,"},
      {"gpt2-tied", "vocab_size", 2, kMalformed, "wte.weight: expected [2,"},
      {"gpt2-tied", "layer_norm_epsilon", 0, kMalformed, "layer_norm_epsilon"},
      {"gpt2-tied", "layer_norm_epsilon", -1e-5, kMalformed, "layer_norm_epsilon"},
      {"gpt2-tied", "activation_function", "tanhshrink", kUnsupported, "tanhshrink"},
      {"gpt2-tied", "activation_function", 1, kMalformed, "activation_function"},
      {"gpt2-tied", "scale_attn_weights", "yes", kMalformed, "scale_attn_weights"},
      {"gpt-neox-parallel", "rotary_pct", 1.5, kMalformed, "at most 1"},
      {"gpt-neox-parallel", "rotary_pct", -0.5, kMalformed, "rotary_pct"},
      {"gpt-neox-parallel", "hidden_size", 1, kMalformed, "1 dimensions"},
      {"gpt-neox-parallel", "hidden_size", 3, kMalformed, "embed_in.weight"},
      {"gpt-neox-parallel", "hidden_size", 2013265920U, kMalformed, "rotary positions: expected"},
      {"gpt-neox-parallel", "intermediate_size", 1, kMalformed, "dense_h_to_4h"},
      {"llama-gqa-bias", "num_key_value_heads", 3, kMalformed, ""},
      {"llama-gqa-bias", "num_key_value_heads", 0, kMalformed, "num_key_value_heads"},
      {"llama-gqa-bias", "num_attention_heads", 5, kMalformed, ""},
      {"llama-gqa-bias", "head_dim", 1, kMalformed, "q_proj"},
      {"llama-gqa-bias", "head_dim", 2147483648U, kMalformed, ""},
      {"llama-gqa-bias", "rms_norm_eps", "1e-5", kMalformed, "rms_norm_eps"},
      {"llama-gqa-bias", "num_hidden_layers", 99, kMalformed,
       "model.layers.2.self_attn.q_proj.weight: "},
      {"llama-gqa-bias", "num_hidden_layers", 4097, kMalformed, "expected at most 4096"},
      {"llama-gqa-bias", "vocab_size", 1, kMalformed, "embed_tokens"},
      {"llama-gqa-bias", "rope_theta", 0, kMalformed, "rope_theta"},
      {"llama-gqa-bias", "rope_theta", "big", kMalformed, "rope_theta"},
      {"llama-gqa-bias", "rope_scaling", 3, kMalformed, "expected an object"},
      {"llama-gqa-bias", "rope_scaling", json{{"type", "spiral"}}, kUnsupported, "spiral"},
      {"llama-gqa-bias", "rope_scaling", json{{"type", 1}}, kMalformed, "type"},
      {"llama-gqa-bias", "rope_scaling", json{{"type", "linear"}}, kMalformed, "factor"},
      {"llama-gqa-bias", "rope_scaling", json{{"type", "linear"}, {"factor", 0}}, kMalformed,
       "factor"},
      {"llama-gqa-bias", "rope_scaling", json{{"type", "dynamic"}, {"factor", -2}}, kMalformed,
       "factor"},
      {"llama-gqa-bias", "rope_scaling", json{{"type", "yarn"}}, kMalformed, "factor"},
      {"llama-gqa-bias", "rope_scaling", json{{"rope_type", "llama3"}, {"factor", 8}}, kMalformed,
       "low_freq_factor"},
      {"llama-gqa-bias", "rope_scaling",
       json{
           {"rope_type", "llama3"}, {"factor", 8}, {"low_freq_factor", 4}, {"high_freq_factor", 1}},
       kMalformed, "low_freq_factor below"},
      {"llama-gqa-bias", "rope_scaling", json{{"type", "longrope"}}, kMalformed, "short_factor"},
      {"llama-gqa-bias", "rope_scaling",
       json{{"type", "longrope"}, {"short_factor", {1}}, {"long_factor", {1}}}, kMalformed,
       "short_factor"},
      {"mistral-window", "sliding_window", 0, kMalformed, "sliding_window"},
      {"mistral-window", "sliding_window", -1, kMalformed, "sliding_window"},
      {"qwen3-bias-layer-types", "layer_types", json::array({"full_attention"}), kMalformed,
       "a type for each layer"},
      {"qwen3-bias-layer-types", "layer_types", 3, kMalformed, "layer_types"},
      {"gemma2-softcap-window", "attn_logit_softcapping", -1, kMalformed, "attn_logit_softcapping"},
      {"gemma2-softcap-window", "query_pre_attn_scalar", 0, kMalformed, "query_pre_attn_scalar"},
      {"gemma3-multimodal", "text_config", 5, kMalformed, "text_config"},
      {"phi3-window", "num_key_value_heads", 1000, kMalformed, ""},
      {"bert-pair", "type_vocab_size", 7, kMalformed, "token_type_embeddings"},
      {"bert-pair", "max_position_embeddings", 3, kMalformed, "position_embeddings"},
      {"bert-pair", "hidden_act", "gelu_10", kUnsupported, "gelu_10"},
      {"roberta-mlm", "pad_token_id", 100000, kMalformed, "max_position_embeddings"},
      {"roberta-mlm", "pad_token_id", -3, kMalformed, "pad_token_id"},
      {"llama-gqa-bias", "head_dim", 65537, kMalformed, "head_dim"},
      {"llama-gqa-bias", "quantization_config", json{{"bits", 4}}, kUnsupported, "quantised"},
      {"../experts/granite4-hybrid", "mamba_d_state", (1U << 20) + 1, kMalformed,
       "states of 8 heads [1048577, 8]: expected at most 67108864 numbers in a layer"},
      {"../experts/granite4-hybrid", "mamba_d_state", 1U << 20, kMalformed, "in_proj.weight: "},
      {"phi3-longrope-long", "original_max_position_embeddings", 1, kMalformed, "not finite"},
      // Encoders are another class.
      {"gemma3-local-global", "use_bidirectional_attention", true, kUnsupported, "architectures"},
      {"bert-pair", "is_decoder", true, kUnsupported,
       "config.json: is_decoder: expected false, found true"},
      {"bert-pair", "position_embedding_type", "relative_key", kUnsupported,
       "config.json: position_embedding_type: expected absolute, found \"relative_key\""},
      {"roberta-mlm", "pad_token_id", 18446744073709551615U, kMalformed, "pad_token_id"},
      {"distilbert-mlm", "dim", 0, kMalformed, "dim"},
      {"distilbert-mlm", "n_heads", 100003, kMalformed, "cannot be shared"},
  };
}

}  // namespace

TEST_CASE("models: impossible settings are refused, with the key") {
  for (const Change& change : config_changes()) {
    const TemporaryFolder folder;
    test::copy_model(change.model, folder.path());
    test::change_config(folder.path(), change.key, change.value);
    const Failure failure = model_failure(folder.path());
    CAPTURE(change.model);
    CAPTURE(change.key);
    CAPTURE(change.value.dump());
    CAPTURE(failure.message);
    CHECK(failure.kind == change.kind);
    CHECK(failure.message.find(change.message) != std::string::npos);
    CHECK(failure.message.size() < 1000);
  }
}

TEST_CASE("models: invalid configs, and folders without weights") {
  for (const std::string_view config :
       {"", "null", "[]", "3", "{", "{\"model_type\": \"gpt2\"", "{\"model_type\": \"\\ud800\"}",
        "{\"model_type\": null}", "{\"a\": {\"a\": 1}}"}) {
    const TemporaryFolder folder;
    test::copy_model("gpt2-tied", folder.path());
    test::write_file(folder.path() / "config.json", std::string(config));
    const Failure failure = model_failure(folder.path());
    CAPTURE(config);
    CAPTURE(failure.message);
    CHECK(failure.kind == ErrorKind::kMalformed);
    CHECK(failure.message.find("config.json") != std::string::npos);
  }
  const TemporaryFolder empty;
  CHECK(model_failure(empty.path()).message.find("model.safetensors") != std::string::npos);
  CHECK(model_failure(empty.path()).kind == ErrorKind::kIo);
  test::write_file(empty.path() / "model.safetensors",
                   test::safetensors_of({{"wte.weight", {1}, {1.0f}}}));
  CHECK(model_failure(empty.path()).message.find("config.json") != std::string::npos);
}

TEST_CASE("models: weights cut off anywhere are refused") {
  const TemporaryFolder folder;
  test::copy_model("llama-mha-untied", folder.path());
  const std::string whole = test::read_file(folder.path() / "model.safetensors");
  for (std::size_t i = 0; i < 40; ++i) {
    const std::size_t size = whole.size() * i / 40;
    test::write_file(folder.path() / "model.safetensors", whole.substr(0, size));
    CAPTURE(size);
    CHECK(model_failure(folder.path()).kind == ErrorKind::kMalformed);
  }
}

TEST_CASE("models: integers instead of weights are refused with the reason") {
  const TemporaryFolder folder;
  test::copy_model("llama-mha-untied", folder.path());
  std::string bytes = test::read_file(folder.path() / "model.safetensors");
  for (std::size_t at = bytes.find("\"F32\""); at != std::string::npos;
       at = bytes.find("\"F32\"", at)) {
    bytes.replace(at, 5, "\"I32\"");
  }
  test::write_file(folder.path() / "model.safetensors", bytes);
  const Failure failure = model_failure(folder.path());
  CHECK(failure.kind == ErrorKind::kUnsupported);
  CHECK(failure.message.find("found I32") != std::string::npos);
}

TEST_CASE("models: weights that begin at an odd byte of their file are read in place") {
  const std::string name = "gpt2-untied-inverse-layer";  // F16
  const TemporaryFolder folder;
  test::copy_model(name, folder.path());
  const Model aligned = load_hugging_face(ATTNVIZ_SOURCE_DIR "/tests/reference/models/" + name);
  std::string bytes = test::read_file(folder.path() / "model.safetensors");
  bytes.insert(9, " ");  // after the header's first brace
  bytes[0] = static_cast<char>(bytes[0] + 1);
  test::write_file(folder.path() / "model.safetensors", bytes);
  const Model odd = load_hugging_face(folder.path());
  const StoredMatrix& a = aligned.layers[1].heads[0].key.weight;
  const StoredMatrix& b = odd.layers[1].heads[0].key.weight;
  CHECK(a.type == StoredType::kF16);
  CHECK(b.type == StoredType::kF16);
  CHECK(reinterpret_cast<std::uintptr_t>(b.data) % 2 == 1);
  for (std::size_t row = 0; row < a.rows; ++row) {
    CHECK(test::value(a, row, 0) == test::value(b, row, 0));
    CHECK(test::value(a, row, a.cols - 1) == test::value(b, row, a.cols - 1));
  }
}

}  // namespace attnviz
