// Models whose heads read latents: contradictions are refused, and published keys are known.

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/formats/gguf.h"
#include "attnviz/formats/llama_cpp_keys.h"
#include "attnviz/formats/tensor_files.h"
#include "attnviz/kernels/stored_numbers.h"
#include "attnviz/model/stored_model.h"
#include "attnviz/model/weight_reader.h"
#include "support/failure.h"
#include "support/gguf_builder.h"
#include "support/json.h"
#include "support/run_program.h"

namespace attnviz {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::Failure;
using test::TemporaryFolder;

constexpr auto kContradictory = ErrorKind::kMalformed;
constexpr auto kNotRead = ErrorKind::kUnsupported;

const fs::path kLatentCases = ATTNVIZ_SOURCE_DIR "/tests/reference/experts";

// A model with changed settings; null removes one, except where null is a setting.
Model load_with(const std::string& name, const json& settings) {
  json config = test::read_json(kLatentCases / name / "config.json");
  config.update(settings);
  const TemporaryFolder folder;
  test::write_file(folder.file("config.json"), config.dump());
  fs::create_symlink(kLatentCases / name / "model.safetensors", folder.file("model.safetensors"));
  return load_hugging_face(folder.path());
}

struct LatentChange {
  const char* model;
  json settings;
  ErrorKind kind;
  std::string_view message;
};

std::vector<LatentChange> latent_changes() {
  const char* const v2 = "deepseek2-groups";
  const char* const v3 = "deepseek3";
  const json yarn = {{"type", "yarn"}, {"factor", 40}, {"mscale", 1}, {"mscale_all_dim", -1}};
  return {
      {v3, {{"kv_lora_rank", 0}}, kContradictory, "kv_lora_rank"},
      {v3, {{"kv_lora_rank", 25}}, kContradictory, "kv_a_proj_with_mqa.weight: expected [33, 32]"},
      {v3,
       {{"kv_lora_rank", 2147483648U}},
       kContradictory,
       "kv_a_proj_with_mqa.weight: expected ["},
      {v3, {{"q_lora_rank", 19}}, kContradictory, "q_a_proj.weight: expected [19, 32]"},
      {v3, {{"q_lora_rank", nullptr}}, kContradictory, "q_proj.weight: missing tensor"},
      {v3, {{"q_lora_rank", -1}}, kContradictory, "q_lora_rank"},
      {v3, {{"q_lora_rank", 9000000000U}}, kContradictory, "q_lora_rank: expected at most"},
      {v3, {{"qk_rope_head_dim", 0}}, kContradictory, "qk_rope_head_dim"},
      {v3, {{"qk_rope_head_dim", 7}}, kContradictory, "qk_rope_head_dim: expected an even number"},
      {v3,
       {{"qk_rope_head_dim", 131072}},
       kContradictory,
       "qk_rope_head_dim: expected an even number"},
      {v3,
       {{"qk_rope_head_dim", 10}},
       kContradictory,
       "kv_a_proj_with_mqa.weight: expected [34, 32]"},
      {v3, {{"qk_nope_head_dim", 0}}, kContradictory, "qk_nope_head_dim"},
      {v3, {{"qk_nope_head_dim", 11}}, kContradictory, "q_b_proj.weight: expected [76, 20]"},
      {v3, {{"qk_nope_head_dim", 2147483648U}}, kContradictory, "q_b_proj.weight: expected ["},
      {v3, {{"v_head_dim", 9}}, kContradictory, "kv_b_proj.weight: expected [84, 24]"},
      {v3, {{"head_dim", 9}}, kContradictory, "head_dim: expected 8"},
      {v3, {{"qk_head_dim", 21}}, kContradictory, "qk_head_dim: expected 20"},
      {v3, {{"num_key_value_heads", 2}}, kContradictory, "num_key_value_heads: expected as many"},
      {v3, {{"n_group", 0}}, kContradictory, "n_group"},
      {v3, {{"n_group", 5}}, kContradictory, "12 experts cannot be shared by 5 groups"},
      {v3, {{"topk_group", 5}}, kContradictory, "5 groups of experts cannot be chosen of 4"},
      {v3, {{"num_experts_per_tok", 7}}, kContradictory, "7 experts cannot be chosen of 6"},
      {v3,
       {{"n_shared_experts", 2}},
       kContradictory,
       "shared_experts.gate_proj.weight: expected [24"},
      {v3,
       {{"n_shared_experts", 9000000000U}},
       kContradictory,
       "n_shared_experts: expected at most"},
      {v3, {{"n_routed_experts", 13}}, kContradictory, "13 experts cannot be shared"},
      {v3,
       {{"first_k_dense_replace", 0}},
       kContradictory,
       "model.layers.0.mlp.shared_experts.gate_proj.weight: "},
      {v3, {{"moe_layer_freq", 2}}, kNotRead, "moe_layer_freq: expected 1"},
      {v3, {{"scoring_func", "softmax"}}, kNotRead, "scoring_func: expected \"sigmoid\""},
      {v3, {{"topk_method", "greedy"}}, kNotRead, "topk_method: expected \"noaux_tc\""},
      {v3, {{"rope_scaling", yarn}}, kContradictory, "mscale_all_dim"},
      {v3, {{"quantization_config", {{"quant_method", "fp8"}}}}, kNotRead, "quant_method \"fp8\""},
      {v2, {{"norm_topk_prob", true}}, kNotRead, "norm_topk_prob: expected false"},
      {v2, {{"topk_method", "noaux_tc"}}, kNotRead, "topk_method: expected greedy"},
      {v2, {{"scoring_func", "sigmoid"}}, kNotRead, "scoring_func: expected \"softmax\""},
      {v2, {{"n_group", 7}}, kContradictory, "12 experts cannot be shared by 7 groups"},
  };
}

// A GGUF file with another 32-bit number for a key.
std::string with_u32(std::string bytes, std::string_view key, std::uint32_t value) {
  const std::size_t at = bytes.find(key);
  REQUIRE(at != std::string::npos);
  constexpr std::size_t kType = 4;
  std::memcpy(bytes.data() + at + key.size() + kType, &value, sizeof value);
  return bytes;
}

}  // namespace

TEST_CASE("latents: impossible settings are refused, with the key or the tensor") {
  for (const LatentChange& change : latent_changes()) {
    const Failure failure = test::failure_of([&] { load_with(change.model, change.settings); });
    CAPTURE(change.settings.dump());
    CAPTURE(failure.message);
    CHECK(failure.kind == change.kind);
    CHECK(failure.message.find(change.message) != std::string::npos);
  }
}

TEST_CASE("latents: impossible keys of GGUF files are refused") {
  const std::pair<std::string_view, std::uint32_t> changes[] = {
      {"attention.kv_lora_rank", 0},        {"attention.kv_lora_rank", 25},
      {"attention.q_lora_rank", 0},         {"attention.q_lora_rank", 4294967295U},
      {"rope.dimension_count", 7},          {"rope.dimension_count", 20},
      {"rope.dimension_count", 0},          {"attention.key_length_mla", 8},
      {"attention.key_length_mla", 21},     {"attention.value_length_mla", 11},
      {"attention.value_length_mla", 0},    {"expert_group_count", 5},
      {"expert_group_used_count", 5},       {"expert_used_count", 7},
      {"leading_dense_block_count", 0},     {"expert_shared_count", 2},
      {"expert_shared_count", 4294967295U}, {"expert_gating_func", 3}};
  const std::string whole = test::read_file(kLatentCases / "deepseek3/deepseek3.gguf");
  for (const auto& [key, value] : changes) {
    const TemporaryFolder folder;
    const std::string path = folder.file("changed.gguf");
    test::write_file(path, with_u32(whole, std::string("deepseek2.").append(key), value));
    const Failure failure = test::failure_of([&] { load_gguf(path); });
    const std::string change = fmt::format("{} {}: {}", key, value, failure.message);
    CAPTURE(change);
    CHECK(failure.kind == (key == "expert_gating_func" ? kNotRead : kContradictory));
    CHECK(failure.message.find("changed.gguf") != std::string::npos);
  }
}

TEST_CASE("latents: published configs are read, with the code that comes with them") {
  const auto code_of = [](const std::string& name) {
    return json{{"AutoConfig", "configuration_deepseek." + name + "Config"},
                {"AutoModel", "modeling_deepseek." + name + "Model"},
                {"AutoModelForCausalLM", "modeling_deepseek." + name + "ForCausalLM"}};
  };
  CHECK_NOTHROW(load_with("deepseek2-lite", {{"auto_map", code_of("DeepseekV2")},
                                             {"aux_loss_alpha", 0.001},
                                             {"pretraining_tp", 1},
                                             {"seq_aux", true},
                                             {"use_cache", true}}));
  CHECK_NOTHROW(load_with("deepseek3", {{"auto_map", code_of("DeepseekV3")},
                                        {"aux_loss_alpha", 0.001},
                                        {"head_dim", 8},
                                        {"qk_head_dim", 20},
                                        {"rope_interleave", true},
                                        {"seq_aux", true}}));
  CHECK_THROWS_AS(load_with("deepseek3", {{"auto_map", code_of("DeepseekV2")}}), Error);
}

TEST_CASE("latents: rope_interleave decides which dimensions rotate in pairs") {
  CHECK(load_with("deepseek3", json::object()).layers[0].rope->pairing == RopePairing::kNeighbours);
  CHECK(load_with("deepseek3", {{"rope_interleave", false}}).layers[0].rope->pairing ==
        RopePairing::kHalves);
}

TEST_CASE("latents: YaRN's magnitude of all dimensions scales scores, once for each side") {
  const auto with = [](const json& magnitudes) {
    json scaling = {{"type", "yarn"}, {"factor", 40}, {"original_max_position_embeddings", 32}};
    scaling.update(magnitudes);
    return load_with("deepseek2-lite", {{"rope_scaling", scaling}}).layers[1];
  };
  const double usual = 1.0 / std::sqrt(20.0);
  const auto magnitude = [](double scale) { return 0.1 * scale * std::log(40.0) + 1.0; };
  const LayerWeights same = with({{"mscale", 0.707}, {"mscale_all_dim", 0.707}});
  CHECK(same.rope->magnitude == 1.0f);
  CHECK(same.score_scale == doctest::Approx(usual * magnitude(0.707) * magnitude(0.707)));
  const LayerWeights other = with({{"mscale", 1}, {"mscale_all_dim", 0.5}});
  CHECK(other.rope->magnitude == doctest::Approx(magnitude(1.0) / magnitude(0.5)));
  CHECK(other.score_scale == doctest::Approx(usual * magnitude(0.5) * magnitude(0.5)));
  for (const json& none : {json::object(), json{{"mscale", 1}, {"mscale_all_dim", 0}}}) {
    const LayerWeights plain = with(none);
    CHECK(plain.rope->magnitude == doctest::Approx(magnitude(1.0)));
    CHECK(plain.score_scale == 0.0);
  }
  CHECK(same.rope->n_still == 12);
  CHECK(same.rope->n_rotated() == 8);
}

TEST_CASE("latents: layers that predict further tokens are left out, and that is reported") {
  // As if the last layer were such a layer.
  const Model model =
      load_with("deepseek3", {{"num_hidden_layers", 2}, {"num_nextn_predict_layers", 1}});
  CHECK(model.n_layers() == 2);
  const auto n_reported =
      std::ranges::count_if(model.config.ignored_keys, [](const IgnoredKey& one) {
        return one.name.starts_with("model.layers.2.") && one.why == kMultiToken;
      });
  CHECK(n_reported > 10);
  test::check_refused(
      [] {
        load_with("deepseek3", {{"num_hidden_layers", 2}});
      },
      "does not know what this tensor changes");
}

TEST_CASE("linears: quantised matrices stored transposed become floats") {
  // Two of [3, 32], one block per row: scale 1 or 2, quants from -16 to 15.
  test::GgufBuilder file;
  test::GgufBuilder::Tensor tensor{"w.weight", {32, 3, 2}, 8, {}};
  for (std::size_t row = 0; row < 6; ++row) {
    tensor.bytes += file.number<std::uint16_t>(row % 2 == 0 ? 0x3C00 : 0x4000);
    for (int i = 0; i < 32; ++i) {
      tensor.bytes += static_cast<char>(i - 16);
    }
  }
  file.tensors.push_back(tensor);
  const TemporaryFolder folder;
  test::write_file(folder.file("a.gguf"), file.bytes());
  WeightReader weights(
      TensorFiles::of_gguf(std::make_shared<const GgufFiles>(folder.file("a.gguf"))), {}, "");
  const std::vector<Projection> each =
      weights.linears("w.weight", "", 2, 3, 32, /*is_turned=*/true, Presence::kNo);
  REQUIRE(each.size() == 2);
  for (std::size_t matrix = 0; matrix < 2; ++matrix) {
    REQUIRE(each[matrix].weight.is_floats());
    const ConstMatrix numbers = each[matrix].weight.as_floats();
    for (std::size_t row = 0; row < 3; ++row) {
      const float scale = (3 * matrix + row) % 2 == 0 ? 1.0f : 2.0f;
      for (std::size_t col = 0; col < 32; ++col) {
        CHECK(numbers(row, col) == scale * (static_cast<float>(col) - 16.0f));
      }
    }
  }
}

}  // namespace attnviz
