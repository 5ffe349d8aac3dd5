// Defaults that a config.json leaves to its library, and RoBERTa's padding.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/kernels/stored_numbers.h"
#include "attnviz/model/stored_model.h"
#include "support/failure.h"
#include "support/json.h"
#include "support/run_program.h"
#include "support/stored_model.h"

namespace attnviz {
namespace {

using nlohmann::json;
using test::kAbsent;
using test::with_settings;

const Rope& rope_of(const Model& model, std::size_t layer) {
  return *model.layers[layer].rope;
}

}  // namespace

// transformers' configuration classes.
TEST_CASE("what a config leaves out has its library's default") {
  CHECK(with_settings("phi3-window", {{"rms_norm_eps", nullptr}})
            .layers.front()
            .attention_norm.epsilon == 1e-5);
  CHECK(with_settings("llama-mha-untied", {{"rms_norm_eps", nullptr}})
            .layers.front()
            .attention_norm.epsilon == 1e-6);
  CHECK(with_settings("llama-mha-untied", {{"max_position_embeddings", nullptr}}).config.n_ctx ==
        2048);
  CHECK(with_settings("mistral-window", {{"max_position_embeddings", nullptr}}).config.n_ctx ==
        131072);
  CHECK(with_settings("qwen2-bias", {{"max_position_embeddings", nullptr}}).config.n_ctx == 32768);
  const Model phi = with_settings(
      "phi3-longrope-long",
      {{"original_max_position_embeddings", nullptr}, {"max_position_embeddings", 8192}});
  CHECK(rope_of(phi, 0).original_n_ctx == 4096);
}

// transformers' RotaryEmbeddingConfigMixin, standardize_rope_params(). Reference numbers check the
// frequencies of the unchanged models.
TEST_CASE("the original context may be given next to the scaling") {
  constexpr const char* kInside = "rope_scaling/original_max_position_embeddings";
  constexpr const char* kBeside = "original_max_position_embeddings";
  using Settings = std::vector<std::pair<std::string, json>>;
  // YaRN: with heads this small the effect shows only with other settings.
  const Settings fine = {{"rope_scaling/truncate", false}, {"rope_scaling/beta_slow", 0.1}};
  struct Case {
    const char* model;
    std::size_t original;
    Settings more;
  };
  for (const Case& one : {Case{"llama-rope-llama3", 16, {}}, Case{"llama-rope-yarn", 12, fine}}) {
    CAPTURE(one.original);
    const Model inside = with_settings(one.model, one.more);
    Settings settings = one.more;
    settings.emplace_back(kInside, kAbsent);
    const Model silent = with_settings(one.model, settings);
    settings.emplace_back(kBeside, one.original);
    const Model beside = with_settings(one.model, settings);
    CHECK(rope_of(beside, 0).inverse_frequencies == rope_of(inside, 0).inverse_frequencies);
    CHECK(rope_of(beside, 0).original_n_ctx == one.original);
    CHECK(rope_of(beside, 0).n_ctx == rope_of(inside, 0).n_ctx);
    // Without either, it is the maximal text length.
    CHECK(rope_of(silent, 0).inverse_frequencies != rope_of(inside, 0).inverse_frequencies);
  }
}

// transformers 4 uses the ratio of the contexts, 5 uses the factor.
TEST_CASE("LongRoPE: a factor other than the ratio of the contexts is refused") {
  const auto with_factor = [](double factor) {
    return with_settings("phi3-longrope-long", {{"rope_scaling/factor", factor}});
  };
  CHECK(rope_of(with_factor(4.0), 0).factor == 4.0);
  test::check_refused([&] { with_factor(3.0); },
                      "rope_scaling.factor: expected 4, max_position_embeddings / "
                      "original_max_position_embeddings, found 3");
  CHECK_NOTHROW(with_settings("phi3-longrope-long", {{"rope_scaling/factor", 3.0},
                                                     {"rope_scaling/attention_factor", 1.5}}));
}

// The same classes: rotary bases (rope_theta) and other settings that change every number.
TEST_CASE("a config without a rotary base has its family's own") {
  const auto base_of = [](const char* model, const std::string& key) {
    const std::size_t first_full = std::string(model) == "olmo3" ? 3 : 0;
    return rope_of(with_settings(model, {{key, kAbsent}}), first_full).theta;
  };
  CHECK(base_of("smollm3", "rope_theta") == 2e6);
  CHECK(base_of("olmo3", "rope_theta") == 5e5);
  CHECK(base_of("olmo2", "rope_theta") == 1e4);
  CHECK(base_of("granite", "rope_theta") == 1e4);
  CHECK(base_of("qwen2-bias", "rope_theta") == 1e4);
  CHECK(base_of("qwen3-vl", "text_config/rope_theta") == 5e5);
}

TEST_CASE("positions other than rotary ones are not guessed if a config leaves them out") {
  for (const char* model : {"ministral-3", "gemma4-31b"}) {
    CAPTURE(model);
    CHECK_THROWS_WITH_AS(with_settings(model, {{"text_config/rope_parameters", kAbsent}}),
                         doctest::Contains("rope_parameters: expected an object"), Error);
  }
}

TEST_CASE("head_dim null means d_model divided by the heads, regardless of the default") {
  const std::string model = "qwen3-bias-layer-types";  // d_model 10, 4 heads
  CHECK_THROWS_WITH_AS(with_settings(model, {{"head_dim", kAbsent}}),
                       doctest::Contains("q_norm.weight: expected [128], found [8]"), Error);
  CHECK_THROWS_WITH_AS(with_settings(model, {{"head_dim", nullptr}}),
                       doctest::Contains("10 dimensions cannot be shared by 4 heads"), Error);
}

TEST_CASE("GPT-J: all scores are scaled, and a config must say which dimensions rotate") {
  const Model model = with_settings("gptj", {{"scale_attn_weights", false}});
  CHECK(model.layers.front().score_scale == 0.0);  // 1 / √d_head
  CHECK_THROWS_WITH_AS(with_settings("gptj", {{"rotary_dim", nullptr}}),
                       doctest::Contains("rotary_dim: expected a whole number, found null"), Error);
}

TEST_CASE("LFM2: old names of the embeddings' tie and of the rotary base") {
  CHECK_THROWS_WITH_AS(
      with_settings("lfm2", {{"tie_embedding", true}, {"tie_word_embeddings", false}}),
      doctest::Contains("tie_embedding: true contradicts tie_word_embeddings"), Error);
  const Model model = with_settings("lfm2", {{"rope_theta", kAbsent}, {"theta", 3e5}});
  CHECK(rope_of(model, 2).theta == 3e5);
  // 2/3 of 48 rounded to whole numbers, without rounding to a multiple: the file's matrices.
  CHECK_NOTHROW(with_settings("lfm2", {{"block_ffn_dim_multiplier", nullptr}}));
}

TEST_CASE("Gemma 4: the last layer has full attention, regardless of layer_types") {
  const std::string last = "text_config/layer_types/6";
  const Model model = with_settings("gemma4-e2b", {{last, "sliding_attention"}});
  CHECK_FALSE(model.layers.back().mask);
  CHECK(model.layers[5].mask);
}

TEST_CASE("Gemma 4: heads may be described by layer") {
  const auto described = [](std::size_t d_head) {
    const json wide = {{"head_dim", d_head}};
    return with_settings("gemma4-e2b",
                         {{"text_config/global_head_dim", kAbsent},
                          {"text_config/per_layer_config", {{"3", wide}, {"6", wide}}}});
  };
  const Model older = with_settings("gemma4-e2b", {});
  const Model newer = described(16);
  for (std::size_t layer = 0; layer < older.layers.size(); ++layer) {
    CAPTURE(layer);
    CHECK(newer.layers[layer].heads.front().d_head() == older.layers[layer].heads.front().d_head());
    CHECK(rope_of(newer, layer).inverse_frequencies == rope_of(older, layer).inverse_frequencies);
  }
  CHECK_THROWS_AS(described(8), Error);  // not the tensors' sizes
}

TEST_CASE("OLMo 3: newer configs describe each kind of layer") {
  const json plain = {{"rope_type", "default"}, {"rope_theta", 500000}};
  json scaled = test::read_json(ATTNVIZ_SOURCE_DIR
                                "/tests/reference/families/olmo3/config.json")["rope_scaling"];
  scaled["rope_theta"] = 500000;
  const Model newer = with_settings(
      "olmo3", {{"rope_theta", kAbsent},
                {"rope_scaling", kAbsent},
                {"rope_parameters", {{"sliding_attention", plain}, {"full_attention", scaled}}}});
  const Model older = with_settings("olmo3", {});
  for (const std::size_t layer : {std::size_t{0}, std::size_t{3}}) {
    CAPTURE(layer);
    CHECK(rope_of(newer, layer).inverse_frequencies == rope_of(older, layer).inverse_frequencies);
    CHECK(rope_of(newer, layer).magnitude == rope_of(older, layer).magnitude);
  }
}

TEST_CASE("Mistral slides in all layers, Ministral in those that its config lists") {
  const json types = {"full_attention", "sliding_attention"};
  CHECK_THROWS_WITH_AS(with_settings("mistral-window", {{"layer_types", types}}),
                       doctest::Contains("full_attention contradicts sliding_window"), Error);
  const Model model = with_settings("mistral-window", {{"model_type", "ministral"},
                                                       {"architectures", {"MinistralForCausalLM"}},
                                                       {"layer_types", types}});
  CHECK_FALSE(model.layers[0].mask);
  CHECK(model.layers[1].mask);
}

TEST_CASE("SmolLM 3: the list of layers with rotary positions may be longer than the model") {
  const Model model = with_settings("smollm3", {{"no_rope_layers", {1, 0, 1, 1, 1, 1, 1, 1, 1}}});
  CHECK(rope_of(model, 0).n_rotated() > 0);
  CHECK(rope_of(model, 1).n_rotated() == 0);
  CHECK_THROWS_AS(with_settings("smollm3", {{"no_rope_layers", {1}}}), Error);
}

TEST_CASE("XLM-RoBERTa and CamemBERT are RoBERTa under other names") {
  const Model roberta = with_settings("roberta-mlm", {});
  for (const auto& names :
       {std::pair("xlm-roberta", "XLMRoberta"), std::pair("camembert", "Camembert")}) {
    const std::string type = names.first;
    const std::string name = names.second;
    CAPTURE(type);
    const Model other = with_settings(
        "roberta-mlm", {{"model_type", type}, {"architectures", {name + "ForMaskedLM"}}});
    CHECK(other.config.family == type);
    CHECK(other.config.n_ctx == roberta.config.n_ctx);
    CHECK(other.layers.size() == roberta.layers.size());
    CHECK(other.first_position == roberta.first_position);
  }
}

TEST_CASE("sliding_window null: no layer has a window") {
  const auto has_window = [](const LayerWeights& layer) { return layer.mask.has_value(); };
  for (const char* model : {"qwen2-window-upper-layers", "mistral-window", "gemma2-softcap-window",
                            "gemma3-local-global"}) {
    CAPTURE(model);
    CHECK(std::ranges::any_of(with_settings(model, {}).layers, has_window));
    CHECK(std::ranges::none_of(with_settings(model, {{"sliding_window", nullptr}}).layers,
                               has_window));
  }
}

TEST_CASE("max_window_layers null is refused unless no layer needs it") {
  const std::string model = "qwen2-window-upper-layers";
  CHECK_THROWS_WITH_AS(with_settings(model, {{"max_window_layers", nullptr}}),
                       doctest::Contains("max_window_layers: expected a whole number"), Error);
  CHECK_NOTHROW(
      with_settings(model, {{"max_window_layers", nullptr}, {"use_sliding_window", false}}));
  CHECK_NOTHROW(with_settings(
      model, {{"max_window_layers", nullptr}, {"layer_types", json(3, "sliding_attention")}}));
}

TEST_CASE("num_key_value_heads null: each head has its own keys") {
  // The file has 2, and Mistral's default is 8.
  CHECK_THROWS_WITH_AS(with_settings("mistral-window", {{"num_key_value_heads", nullptr}}),
                       doctest::Contains("k_proj.weight: expected [24,"), Error);
}

TEST_CASE("Gemma 3: each kind of layer is scaled according to rope_parameters") {
  const std::string sliding = "rope_parameters/sliding_attention";
  const Model plain = with_settings("gemma3-rope-parameters", {});
  const Model scaled = with_settings(
      "gemma3-rope-parameters", {{sliding + "/rope_type", "linear"}, {sliding + "/factor", 4}});
  REQUIRE(plain.layers.front().mask);  // layer 0 slides
  const auto& before = rope_of(plain, 0).inverse_frequencies;
  const auto& after = rope_of(scaled, 0).inverse_frequencies;
  REQUIRE(before.size() == after.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    CHECK(after[i] == before[i] / 4);
  }
  REQUIRE_FALSE(plain.layers[1].mask);
  CHECK(rope_of(plain, 1).inverse_frequencies == rope_of(scaled, 1).inverse_frequencies);
}

// transformers' GPTNeoConfig: expand_attention_types_params().
TEST_CASE("GPT-Neo: every other layer has a window unless the config lists them") {
  const auto windows = [](const Model& model) {
    std::string sizes;
    for (const LayerWeights& layer : model.layers) {
      sizes += layer.mask ? std::to_string(layer.mask->size) + ' ' : "- ";
    }
    return sizes;
  };
  const std::vector<std::pair<std::string, json>> silent = {{"attention_layers", kAbsent},
                                                            {"attention_types", kAbsent}};
  CHECK(windows(with_settings("tinystories", silent)) == "- 3 - 3 ");
  auto settings = silent;
  settings.emplace_back("window_size", nullptr);
  CHECK(windows(with_settings("tinystories", settings)) == "- 256 - 256 ");
  const auto with_types = [](const json& types) {
    return with_settings("tinystories",
                         {{"attention_layers", kAbsent}, {"attention_types", types}});
  };
  CHECK(windows(with_types({{{"local"}, 3}, {{"global"}, 1}})) == "3 3 3 - ");
  CHECK(windows(with_settings("tinystories", {{"attention_types", kAbsent}})) == "- 3 - 3 ");
  test::check_refused(
      [] {
        with_settings("tinystories", {{"attention_types", {{{"global"}, 4}}}});
      },
      "attention_layers: contradicts attention_types");
  test::check_refused(
      [&] {
        with_types({{{"global", "sparse"}, 2}});
      },
      "expected global or local, found \"sparse\"");
  for (const json& types :
       {json{{{"global"}, 3}}, json{{{"global"}, 4000000000U}}, json{{"global", "local"}},
        json{{{"global"}, "4"}}, json{{{"global"}, 2, 2}}, json("global"), json::array()}) {
    CAPTURE(types.dump());
    CHECK(test::failure_of([&] { with_types(types); }).kind == ErrorKind::kMalformed);
  }
  CHECK(test::failure_of([&] {
          with_types({{{"global"}, 5}});
        }).message.find("expected a type for each of 4 layers, found more than 4") !=
        std::string::npos);
}

TEST_CASE("GPT-Neo: scores are not divided by √d_head") {
  CHECK(with_settings("tinystories", {}).layers.front().score_scale == 1.0);
}

// transformers' GlmConfig and Glm4Config.
TEST_CASE("GLM: by default half of 128 dimensions rotates, and queries have biases") {
  const Model model = with_settings(
      "glm-4-9b-chat",
      {{"partial_rotary_factor", kAbsent}, {"attention_bias", kAbsent}, {"rms_norm_eps", kAbsent}});
  CHECK(rope_of(model, 0).n_rotated() == 4);
  CHECK(rope_of(model, 0).pairing == RopePairing::kNeighbours);
  CHECK(!model.layers.front().heads.front().query.bias.empty());
  CHECK(model.layers.front().attention_norm.epsilon == 1.5625e-7);
  CHECK(test::failure_of([] {
          with_settings("glm-4-9b-chat", {{"head_dim", kAbsent}});
        }).message.find("q_proj.weight: expected [384,") != std::string::npos);
}

// configuration_minicpm.py and modeling_minicpm.py, published with its weights.
TEST_CASE("MiniCPM: default multipliers are 1, 1 / √(number of layers) and 1 / d_model") {
  const Model model = with_settings(
      "minicpm-2b",
      {{"scale_emb", kAbsent}, {"scale_depth", kAbsent}, {"dim_model_base", kAbsent}});
  CHECK(model.embedding_scale == 1.0f);
  CHECK(model.layers.front().branch_scale == doctest::Approx(1.0 / std::sqrt(3.0)));
  CHECK(model.head.scale == doctest::Approx(1.0 / 24.0));
  CHECK(with_settings("minicpm-2b", {{"tie_word_embeddings", kAbsent}}).head.unembedding.d_out() ==
        23);
}

TEST_CASE("MiniCPM: texts too short for block-sparse attention are read; experts are refused") {
  CHECK(with_settings("minicpm-2b", {{"max_position_embeddings", 32768}}).config.n_ctx == 32768);
  const auto longest = [](const json& sparse) {
    return with_settings("minicpm-2b",
                         {{"max_position_embeddings", 32768}, {"sparse_config", sparse}})
        .config.n_ctx;
  };
  CHECK(longest({{"kernel_size", 32}, {"use_nope", false}}) == 8191);
  CHECK(longest({{"dense_len", 100}}) == 99);
  CHECK(longest(nullptr) == 32768);
  CHECK_THROWS_WITH_AS(longest({{"dense_len", 1}}), doctest::Contains("dense_len"), Error);
  test::check_refused(
      [] {
        with_settings("minicpm-2b", {{"num_experts", 8}});
      },
      "num_experts: expected 0, found 8");
  CHECK_NOTHROW(with_settings("minicpm-2b", {{"num_experts", 0}}));
}

// transformers' HunYuanDenseV1RotaryEmbedding.
TEST_CASE("MiniCPM: factors that its own code does not use are refused if they change anything") {
  const auto with = [](const char* key, double value) {
    return test::with_settings("minicpm4-stretched", {{std::string("rope_scaling/") + key, value}});
  };
  CHECK_NOTHROW(with("factor", 4.0));
  test::check_refused([&] { with("factor", 2.0); }, "factor: MiniCPM's own code does not use it");
  test::check_refused([&] { with("attention_factor", 1.5); }, "attention_factor: MiniCPM's own");
}

TEST_CASE("HunYuan: alpha increases the base once, other families and types do not have it") {
  const double stretched = 1e4 * std::pow(1000.0, 8.0 / 6.0);
  const Model model = with_settings("hunyuan-0.5b", {});
  CHECK(rope_of(model, 0).theta == doctest::Approx(stretched));
  CHECK(rope_of(model, 0).turns_alike(8, 100000));
  const Model newer = with_settings(
      "hunyuan-0.5b",
      {{"rope_scaling", kAbsent},
       {"rope_theta", kAbsent},
       {"rope_parameters", {{"rope_type", "dynamic"}, {"alpha", 1000.0}, {"rope_theta", 1e4}}}});
  CHECK(rope_of(newer, 0).theta == doctest::Approx(stretched));
  const Model plain =
      with_settings("hunyuan-0.5b", {{"rope_scaling", {{"type", "dynamic"}, {"factor", 2.0}}}});
  CHECK(rope_of(plain, 0).theta == 1e4);
  CHECK_FALSE(rope_of(plain, 0).turns_alike(8, 100000));
  CHECK_THROWS_WITH_AS(
      with_settings("hunyuan-0.5b", {{"rope_scaling", {{"type", "dynamic"}, {"alpha", -1.0}}}}),
      doctest::Contains("alpha"), Error);
}

TEST_CASE("HunYuan: settings that only the code of its first models supported are refused") {
  for (const auto& [key, value] : {std::pair{"use_cla", true},
                                   {"use_qk_norm", false},
                                   {"use_rotary_pos_emb", false},
                                   {"position_embedding_xdrope", true}}) {
    const std::string name = key;
    const bool flag = value;
    CAPTURE(name);
    test::check_refused(
        [&] {
          with_settings("hunyuan-0.5b", {{name, flag}});
        },
        name + ": expected");
    CHECK_NOTHROW(with_settings("hunyuan-0.5b", {{name, !flag}}));
  }
}

// transformers: padding_idx + cumsum(is not padding), and padding_idx for padding.
TEST_CASE("RoBERTa: padding takes no position") {
  Model model = with_settings("roberta-mlm", {});
  model.embedding_norm = {};
  const std::vector<std::uint32_t> ids = {1, 5, 1, 1, 6};
  const std::size_t rows[] = {1, 2, 1, 1, 3};
  ModelInput input;
  input.ids = ids;
  const MatrixBuffer stream = embed(model, input);
  std::vector<float> token(model.config.d_model);
  std::vector<float> position(token.size());
  std::vector<float> segment(token.size());
  copy_row(model.segment_embeddings, 0, segment);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    copy_row(model.embeddings, ids[i], token);
    copy_row(model.position_embeddings, rows[i], position);
    for (std::size_t d = 0; d < token.size(); ++d) {
      CHECK(stream.view()(i, d) == token[d] + position[d] + segment[d]);
    }
  }
}

}  // namespace attnviz
