// Gemma 3n and 4: configs of streams, sparse MLPs, shared keys and experts, and invalid ones.
#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/model/stored_model.h"
#include "support/failure.h"
#include "support/run_program.h"
#include "support/stored_model.h"

namespace attnviz {
namespace {

using nlohmann::json;
using test::kAbsent;
using test::with_settings;

struct WrongSetting {
  const char* model;
  const char* key;
  json value;
  const char* message;
  ErrorKind kind = ErrorKind::kMalformed;
};

// A file of tests/reference/experts with another 32-bit value for a key; for a list, its last item.
std::string with_value(const std::string& file, const std::string& key, std::uint32_t value) {
  std::string bytes = test::read_file(ATTNVIZ_SOURCE_DIR "/tests/reference/experts/" + file);
  const std::size_t found = bytes.find(key);
  REQUIRE(found != std::string::npos);
  const std::size_t type = found + key.size();
  constexpr unsigned kList = 9;
  std::size_t offset = type + sizeof(std::uint32_t);
  if (static_cast<unsigned char>(bytes[type]) == kList) {
    const auto count = static_cast<unsigned char>(bytes[offset + sizeof(std::uint32_t)]);
    offset += sizeof(std::uint32_t) + sizeof(std::uint64_t) + sizeof(value) * (count - 1U);
  }
  for (std::size_t i = 0; i < sizeof(value); ++i) {
    bytes[offset + i] = static_cast<char>(value >> 8 * i & 0xFFU);
  }
  return bytes;
}

}  // namespace

TEST_CASE("Gemma 3n and 4: GGUF files that contradict themselves or the tensors end in an error") {
  struct WrongValue {
    const char* file;
    const char* key;
    std::uint32_t value;
    const char* message;
  };
  const WrongValue values[] = {
      {"gemma3n/gemma3n.gguf", "gemma3n.altup.active_idx", 4, "altup.active_idx"},
      {"gemma3n/gemma3n.gguf", "gemma3n.altup.num_inputs", 1, "altup.num_inputs"},
      {"gemma3n/gemma3n.gguf", "gemma3n.altup.num_inputs", 0, "altup.num_inputs"},
      {"gemma3n/gemma3n.gguf", "gemma3n.altup.num_inputs", 5, "altup_proj.weight"},
      {"gemma3n/gemma3n.gguf", "gemma3n.altup.num_inputs", 4294967295U, "altup.num_inputs"},
      {"gemma3n/gemma3n.gguf", "gemma3n.attention.shared_kv_layers", 5, "shared_kv_layers"},
      {"gemma3n/gemma3n.gguf", "gemma3n.attention.shared_kv_layers", 4, "no layer before 1"},
      {"gemma3n/gemma3n.gguf", "gemma3n.embedding_length_per_layer_input", 7,
       "per_layer_token_embd"},
      {"gemma3n/gemma3n.gguf", "gemma3n.activation_sparsity_scale", 0x7F800000U, "sparsity_scale"},
      {"gemma3n/gemma3n.gguf", "gemma3n.activation_sparsity_scale", 0x7FC00000U, "sparsity_scale"},
      {"gemma3n/gemma3n.gguf", "gemma3n.feed_forward_length", 47, "blk.4.ffn_gate.weight"},
      {"gemma4-moe/gemma4-moe.gguf", "gemma4.expert_count", 7, "ffn_gate_inp.weight"},
      {"gemma4-moe/gemma4-moe.gguf", "gemma4.expert_count", 0, "expert_feed_forward"},
      {"gemma4-moe/gemma4-moe.gguf", "gemma4.expert_used_count", 7, "7 experts cannot be chosen"},
      {"gemma4-moe/gemma4-moe.gguf", "gemma4.expert_used_count", 0, "expert_used_count"},
      {"gemma4-moe/gemma4-moe.gguf", "gemma4.expert_feed_forward_length", 8, "ffn_gate_up_exps"},
      {"gemma4-ple/gemma4-ple.gguf", "gemma4.attention.shared_kv_layers", 6, "shared_kv_layers"}};
  for (const WrongValue& one : values) {
    CAPTURE(one.key);
    CAPTURE(one.value);
    const test::TemporaryFolder folder;
    const std::string file = folder.file("wrong.gguf");
    test::write_file(file, with_value(one.file, one.key, one.value));
    const test::Failure failure = test::failure_of([&] { load_gguf(file); });
    CAPTURE(failure.message);
    CHECK((failure.kind == ErrorKind::kMalformed || failure.kind == ErrorKind::kUnsupported));
    CHECK(failure.message.find(one.message) != std::string::npos);
  }
}

TEST_CASE("Gemma 3n: four streams, a learned residual, sparse MLPs, keys of earlier layers") {
  const Model model = with_settings("gemma3n", {});
  CHECK(model.altup.n_streams() == 4);
  CHECK(model.altup.active == 0);
  const std::optional<std::size_t> sliding = 2;
  const std::optional<std::size_t> full = 1;
  CHECK(model.layers[3].keys_from == sliding);
  CHECK(model.layers[4].keys_from == full);
  CHECK_FALSE(model.layers[2].keys_from);
  CHECK(model.layers[0].mlp.sparsity == doctest::Approx(0.7));
  CHECK(model.layers[2].mlp.sparsity == 0.0);
  CHECK(model.layers[0].laurel.left.d_out() == 6);
  CHECK_FALSE(model.layers[0].altup.input_scale.empty());
}

TEST_CASE("Gemma 3n: defaults of a config") {
  const Model plain = with_settings("gemma3n", {{"text_config/altup_correct_scale", false}});
  CHECK(plain.layers.front().altup.input_scale.empty());
  const Model silent =
      with_settings("gemma3n", {{"text_config/activation_sparsity_pattern", kAbsent},
                                {"text_config/altup_num_inputs", kAbsent},
                                {"text_config/altup_active_idx", kAbsent},
                                {"text_config/intermediate_size", 48}});
  CHECK(silent.layers.front().mlp.sparsity == 0.0);  // only of models with more than ten layers
  CHECK(silent.layers.front().mlp.d_ff() == 48);
  CHECK(with_settings("gemma3n", {{"text_config/altup_active_idx", 2}}).altup.active == 2);
}

TEST_CASE("Gemma 3n: keys of published configs are known") {
  CHECK_NOTHROW(with_settings("gemma3n", {{"audio_config", {{"hidden_size", 1536}}},
                                          {"vision_config", {{"hidden_size", 2048}}},
                                          {"audio_soft_tokens_per_image", 188},
                                          {"vision_soft_tokens_per_image", 256},
                                          {"audio_token_id", 262273},
                                          {"boa_token_id", 256000},
                                          {"boi_token_id", 255999},
                                          {"eoa_token_id", 262272},
                                          {"eoi_token_id", 262144},
                                          {"image_token_id", 262145},
                                          {"eos_token_id", json{1, 106}},
                                          {"initializer_range", 0.02}}));
}

TEST_CASE("Gemma 3n and 4: configs that contradict themselves or the tensors end in an error") {
  const std::string text = "text_config/";
  const WrongSetting settings[] = {
      {"gemma3n", "altup_num_inputs", 0, "altup_num_inputs"},
      {"gemma3n", "altup_num_inputs", 1, "altup_num_inputs: expected from 2 to 64"},
      {"gemma3n", "altup_num_inputs", 3, "modality_router.weight: expected [3, 32]"},
      {"gemma3n", "altup_num_inputs", 5, "altup_projections.3.weight"},
      {"gemma3n", "altup_num_inputs", 2147483647, "altup_num_inputs"},
      {"gemma3n", "altup_active_idx", 4, "altup_active_idx: expected less than"},
      {"gemma3n", "altup_active_idx", -1, "altup_active_idx"},
      {"gemma3n", "altup_correct_scale", 1, "altup_correct_scale"},
      {"gemma3n", "laurel_rank", 7, "linear_left.weight: expected [7, 32]"},
      {"gemma3n", "laurel_rank", 0, "laurel_rank"},
      {"gemma3n", "num_kv_shared_layers", 5, "expected fewer than 5, found 5"},
      {"gemma3n", "num_kv_shared_layers", 4, "no layer before 1 has keys"},
      {"gemma3n", "num_kv_shared_layers", kAbsent, "fewer than 5, found 15"},
      {"gemma3n", "num_kv_shared_layers", -1, "num_kv_shared_layers"},
      {"gemma3n", "activation_sparsity_pattern", json{0.5, 0.5, 0.5, 0.5, 1.0},
       "activation_sparsity_pattern: expected numbers from 0 to less than 1, found 1"},
      {"gemma3n", "activation_sparsity_pattern", json{0.5, 0.5, 0.5, 0.5, -0.1},
       "activation_sparsity_pattern"},
      {"gemma3n", "activation_sparsity_pattern", json{0.5, 0.5}, "each of 5 layers"},
      {"gemma3n", "activation_sparsity_pattern", 0.5, "activation_sparsity_pattern"},
      {"gemma3n", "activation_sparsity_pattern", "most", "activation_sparsity_pattern"},
      {"gemma3n", "intermediate_size", json{48, 48}, "intermediate_size: expected one"},
      {"gemma3n", "intermediate_size", json{48, 48, 48, 48, 0}, "intermediate_size"},
      {"gemma3n", "intermediate_size", json{48, 48, 48, 48, 1.5}, "intermediate_size"},
      {"gemma3n", "intermediate_size", json{48, 48, 48, 48, 40}, "layers.4.mlp"},
      {"gemma3n", "intermediate_size", kAbsent, "intermediate_size"},
      {"gemma3n", "hidden_size_per_layer_input", 9, "embed_tokens_per_layer"},
      {"gemma3n", "vocab_size_per_layer_input", 77, "embed_tokens_per_layer"},
      {"gemma3n", "layer_types", json{"full_attention"}, "a type for each layer"},
      {"gemma4-ple", "num_kv_shared_layers", 6, "expected fewer than 6, found 6"},
      {"gemma4-ple", "hidden_size_per_layer_input", 4, "embed_tokens_per_layer"},
      {"gemma4-ple", "use_double_wide_mlp", false, "layers.3.mlp"},
      {"gemma4-moe", "enable_moe_block", false, "experts", ErrorKind::kUnsupported},
      {"gemma4-moe", "num_experts", 5, "router.proj.weight: expected [5, 32]"},
      {"gemma4-moe", "num_experts", kAbsent, "num_experts"},
      {"gemma4-moe", "num_experts", 2147483647, "router"},
      {"gemma4-moe", "top_k_experts", 7, "7 experts cannot be chosen of 6"},
      {"gemma4-moe", "top_k_experts", 0, "top_k_experts"},
      {"gemma4-moe", "top_k_experts", nullptr, "top_k_experts"},
      {"gemma4-moe", "moe_intermediate_size", 8, "experts.gate_up_proj"},
      {"gemma4-moe", "expert_intermediate_size", 8, "expert_intermediate_size",
       ErrorKind::kUnsupported},
      {"gemma4-moe", "attention_k_eq_v", false, "layers.2.self_attn"}};
  for (const WrongSetting& setting : settings) {
    CAPTURE(setting.model);
    CAPTURE(setting.key);
    CAPTURE(setting.value.dump());
    const test::Failure failure = test::failure_of([&] {
      with_settings(setting.model, {{text + setting.key, setting.value}});
    });
    CAPTURE(failure.message);
    CHECK(failure.kind == setting.kind);
    CHECK(failure.message.find(setting.message) != std::string::npos);
  }
}

TEST_CASE("Gemma 3n: tokens without per-layer embeddings have those of the first token") {
  Model model = with_settings("gemma3n", {});
  const auto inputs = [&model](std::uint32_t id, ConstMatrix stream) {
    ModelInput input;
    input.ids = std::span(&id, 1);
    const MatrixBuffer found = embed_for_layers(model, input, stream);
    return std::vector<float>(found.view().row(0).begin(), found.view().row(0).end());
  };
  const std::vector<float> x(model.config.d_model, 0.5f);
  const ConstMatrix stream{x.data(), 1, x.size(), x.size()};
  const std::vector<float> of_first = inputs(0, stream);
  CHECK(inputs(70, stream) != of_first);
  model.layer_embeddings.table = model.layer_embeddings.table.row_block(0, 70);
  CHECK(inputs(70, stream) == of_first);
  CHECK(inputs(69, stream) != of_first);
}

}  // namespace attnviz
