#include "attnviz/model/families/families.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/formats/llama_cpp_keys.h"
#include "attnviz/model/rope_scaling.h"

namespace attnviz {

std::span<const Family> families() noexcept {
  constexpr std::string_view kVision = "vision";
  constexpr std::string_view kFurtherTokens = "multi-token prediction";
  static constexpr Family kFamilies[] = {
      {"bart", "Bart", read_bart},
      {"bert", "Bert", read_bert},
      {"bloom", "Bloom", read_bloom},
      {"camembert", "Camembert", read_roberta, {}, {}, "bert"},
      {"cohere", "Cohere", read_cohere},
      {"cohere2", "Cohere2", read_cohere2},
      {"deepseek_v2", "DeepseekV2", read_deepseek2},
      {"deepseek_v3", "DeepseekV3", read_deepseek3, {}, kFurtherTokens, "deepseek2"},
      {"distilbert", "DistilBert", read_distilbert, {}, {}, "bert"},
      {"falcon", "Falcon", read_falcon},
      {"falcon_h1", "FalconH1", read_falcon_h1},
      {"gemma", "Gemma", read_gemma},
      {"gemma2", "Gemma2", read_gemma2},
      {"gemma3", "Gemma3", read_gemma3, {}, kVision},
      {"gemma3_text", "Gemma3", read_gemma3},
      {"gemma3n", "Gemma3n", read_gemma3n, {}, "vision, audio"},
      {"gemma3n_text", "Gemma3n", read_gemma3n},
      {"gemma4", "Gemma4", read_gemma4, {}, "vision, audio"},
      {"gemma4_text", "Gemma4", read_gemma4},
      {"glm", "Glm", read_glm},
      {"glm4", "Glm4", read_glm4},
      {"gpt2", "GPT2", read_gpt2},
      {"gpt_neo", "GPTNeo", read_gpt_neo},
      {"gpt_neox", "GPTNeoX", read_gpt_neox},
      {"gpt_oss", "GptOss", read_gpt_oss, {}, {}, {}, "mxfp4"},
      {"gptj", "GPTJ", read_gptj},
      {"granite", "Granite", read_granite},
      {"granitemoe", "GraniteMoe", read_granitemoe},
      {"granitemoehybrid", "GraniteMoeHybrid", read_granitemoehybrid},
      {"hunyuan_v1_dense", "HunYuanDenseV1", read_hunyuan_dense},
      {"lfm2", "Lfm2", read_lfm2},
      {"llama", "Llama", read_llama},
      {"marian", "Marian", read_marian},
      {"mbart", "MBart", read_mbart},
      {"minicpm", "MiniCPM", read_minicpm},
      {"ministral", "Ministral", read_ministral, {}, {}, "llama"},
      {"ministral3", "Ministral3", read_ministral3, {}, {}, "mistral3"},
      {"mistral", "Mistral", read_mistral, {}, {}, "llama"},
      {"mistral3", "Mistral3", read_mistral3, {"mistral", "ministral3"}, kVision},
      {"mixtral", "Mixtral", read_mixtral, {}, {}, "llama"},
      {"modernbert", "ModernBert", read_modernbert},
      {"nemotron_h",
       "NemotronH",
       read_nemotron_h,
       {},
       "experts of latents, multi-token prediction"},
      {"mt5", "MT5", read_mt5, {}, {}, "t5"},
      {"nomic_bert", "NomicBert", read_nomic_bert},
      {"olmo2", "Olmo2", read_olmo2},
      {"olmo3", "Olmo3", read_olmo3, {}, {}, "olmo2"},
      {"opt", "OPT", read_opt},
      {"phi", "Phi", read_phi},
      {"phi3", "Phi3", read_phi3},
      {"qwen2", "Qwen2", read_qwen2},
      {"qwen2_5_vl", "Qwen2_5_VL", read_qwen2_vl, {}, kVision, "qwen2vl"},
      {"qwen2_moe", "Qwen2Moe", read_qwen2_moe},
      {"qwen2_vl", "Qwen2VL", read_qwen2_vl, {}, kVision},
      {"qwen3", "Qwen3", read_qwen3},
      {"qwen3_5", "Qwen3_5", read_qwen3_5, {}, "vision, multi-token prediction"},
      {"qwen3_5_moe", "Qwen3_5Moe", read_qwen3_5_moe, {}, "vision, multi-token prediction"},
      {"qwen3_5_moe_text", "Qwen3_5Moe", read_qwen3_5_moe},
      {"qwen3_5_text", "Qwen3_5", read_qwen3_5},
      {"qwen3_moe", "Qwen3Moe", read_qwen3_moe},
      {"qwen3_next", "Qwen3Next", read_qwen3_next, {}, kFurtherTokens},
      {"qwen3_vl", "Qwen3VL", read_qwen3_vl, {}, kVision},
      {"roberta", "Roberta", read_roberta, {}, {}, "bert"},
      {"smollm3", "SmolLM3", read_smollm3},
      {"stablelm", "StableLm", read_stablelm},
      {"starcoder2", "Starcoder2", read_starcoder2},
      {"t5", "T5", read_t5},
      {"umt5", "UMT5", read_umt5, {}, {}, "t5"},
      {"xlm-roberta", "XLMRoberta", read_roberta, {}, {}, "bert"},
  };
  return kFamilies;
}

namespace {

constexpr TensorNames kHfNames = {
    .embeddings = "embed_tokens",
    .norm = "norm",
    .unembedding = "lm_head",
    .layer = "layers.{}.",
    .query = "self_attn.q_proj",
    .key = "self_attn.k_proj",
    .value = "self_attn.v_proj",
    .qkv = "self_attn.qkv_proj",
    .output = "self_attn.o_proj",
    .query_norm = "self_attn.q_norm",
    .key_norm = "self_attn.k_norm",
    .attention_norm = "input_layernorm",
    .after_attention_norm = "post_attention_layernorm",
    // In families without norms after attention: the norm before the MLP.
    .mlp_norm = "post_attention_layernorm",
    .after_mlp_norm = "post_feedforward_layernorm",
    .gate = "mlp.gate_proj",
    .up = "mlp.up_proj",
    .down = "mlp.down_proj",
    .gate_up = "mlp.gate_up_proj",
};

}  // namespace

void name_experts(TensorNames& names) {
  names.expert_gate = "mlp.experts.{}.gate_proj";
  names.expert_up = "mlp.experts.{}.up_proj";
  names.expert_down = "mlp.experts.{}.down_proj";
  names.experts_gate_up = "mlp.experts.gate_up_proj";
  names.experts_down = "mlp.experts.down_proj";
}

Traits read_traits(const HfConfig& config, const ConfigDefaults& defaults) {
  const auto size = [&config](std::string_view key, std::size_t otherwise) {
    return otherwise == 0 ? config.size(key) : config.size_or(key, otherwise);
  };
  Traits traits;
  traits.where = config.node().where();
  traits.names = kHfNames;
  traits.n_layers = config.size("num_hidden_layers");
  if (traits.n_layers > kMostLayers) {
    config.node().fail(fmt::format("num_hidden_layers: expected at most {}, found {}", kMostLayers,
                                   traits.n_layers));
  }
  traits.n_vocab = config.size_if_there("vocab_size").value_or(0);
  traits.d_model = config.size("hidden_size");
  traits.d_ff = defaults.d_ff_by_layer ? 0 : size("intermediate_size", defaults.d_ff);
  traits.n_ctx = size("max_position_embeddings", defaults.n_ctx);
  traits.n_heads = size("num_attention_heads", defaults.n_heads);
  // Null: as many as heads, regardless of the family's default.
  const bool is_said = config.find_or_null("num_key_value_heads").has_value();
  traits.n_kv_heads =
      config.size_or("num_key_value_heads",
                     is_said || defaults.n_kv_heads == 0 ? traits.n_heads : defaults.n_kv_heads);
  const std::optional<std::size_t> d_head = config.size_if_there("head_dim");
  const bool is_share = defaults.d_head == 0 || config.find_or_null("head_dim").has_value();
  traits.d_head = d_head     ? *d_head
                  : is_share ? even_share(traits.where, traits.d_model, traits.n_heads)
                             : defaults.d_head;
  if (traits.d_head > kWidestHead) {
    config.node().fail(
        fmt::format("head_dim: expected at most {}, found {}", kWidestHead, traits.d_head));
  }
  traits.epsilon = config.positive_or("rms_norm_eps", defaults.epsilon);
  traits.original_n_ctx = defaults.original_n_ctx;
  traits.tied = is_tied(config, defaults.tied);
  return traits;
}

float soft_cap(const HfConfig& config, std::string_view key, double otherwise) {
  const std::optional<JsonNode> node = config.find_or_null(key);
  if (!node) {
    return static_cast<float>(otherwise);
  }
  const bool is_off = node->kind() == JsonKind::kNull || node->as_number() == 0.0f;
  return is_off ? 0.0f : static_cast<float>(config.positive(key));
}

bool is_tied(const HfConfig& config, bool otherwise) {
  constexpr std::string_view kKey = "tie_word_embeddings";
  const std::optional<HfConfig> outer = config.outer();
  const std::optional<JsonNode> outside = outer ? outer->find(kKey) : std::nullopt;
  require_same(config.find(kKey), outside);
  if (otherwise && !config.has(kKey) && outside && !outside->as_bool()) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}expected true: the text's own config ties them, for it says nothing",
                            outside->where()));
  }
  return config.flag_or(kKey, outside ? outside->as_bool() : otherwise);
}

std::optional<std::uint32_t> token_id(const HfConfig& config, std::string_view key) {
  const std::optional<JsonNode> node = config.find(key);
  if (!node) {
    return std::nullopt;
  }
  const std::uint64_t id = node->as_unsigned();
  if (id > std::numeric_limits<std::uint32_t>::max()) {
    node->fail(fmt::format("expected a token id, found {}", id));
  }
  return static_cast<std::uint32_t>(id);
}

std::optional<std::uint32_t> decoder_start(const HfConfig& config) {
  const std::optional<std::uint32_t> start = token_id(config, "decoder_start_token_id");
  return start ? start : token_id(config, "pad_token_id");
}

void require(const HfConfig& config, std::string_view key, std::string_view expected) {
  const auto found = config.find(key);
  if (found && value_text(*found) != expected) {
    throw Error(ErrorKind::kUnsupported, fmt::format("{}expected {}, found {}", found->where(),
                                                     expected, value_text(*found)));
  }
}

void require_rope_parameters(const HfConfig& config) {
  if (!config.has("rope_parameters")) {
    config.node().fail("rope_parameters: expected an object, found none");
  }
}

void use_rope(const HfConfig& config, Traits& traits) {
  RopeFacts facts{traits.d_head, traits.n_ctx};
  facts.original_n_ctx = traits.original_n_ctx;
  use_rope(config, facts, traits);
}

void use_rope(const HfConfig& config, const RopeFacts& facts, Traits& traits) {
  auto rope = std::make_shared<const Rope>(read_config_rope(config, facts));
  traits.rope = [rope = std::move(rope)](std::size_t /*layer*/) { return rope; };
}

std::optional<std::vector<bool>> sliding_layers(const HfConfig& config) {
  const std::optional<JsonNode> types = config.find("layer_types");
  if (!types) {
    return std::nullopt;
  }
  const std::vector<JsonNode> names = types->as_list("a list of layer types");
  if (names.size() != config.size("num_hidden_layers")) {
    types->fail(fmt::format("expected a type for each layer, found {}", names.size()));
  }
  std::vector<bool> sliding;
  sliding.reserve(names.size());
  for (const JsonNode& node : names) {
    const std::string_view name = node.as_string();
    if (name != "sliding_attention" && name != "full_attention") {
      throw Error(ErrorKind::kUnsupported,
                  fmt::format("{}expected full_attention or sliding_attention, found {}",
                              node.where(), in_quotes(name)));
    }
    sliding.push_back(name == "sliding_attention");
  }
  return sliding;
}

std::size_t sliding_window(const HfConfig& config, std::size_t otherwise) {
  const bool is_said = config.find_or_null("sliding_window").has_value();
  return config.size_or("sliding_window", is_said ? 0 : otherwise);
}

void require_none_sliding(const HfConfig& config, std::string_view said) {
  const std::optional<std::vector<bool>> listed = sliding_layers(config);
  if (listed && std::ranges::find(*listed, true) != listed->end()) {
    throw Error(ErrorKind::kUnsupported, fmt::format("{}sliding_attention contradicts {}",
                                                     config.at("layer_types").where(), said));
  }
}

void slide(const HfConfig& config, std::size_t window,
           const std::function<bool(std::size_t layer)>& is_sliding, Traits& traits) {
  if (window == 0) {
    require_none_sliding(config, "sliding_window, which is null");
    return;
  }
  const Mask sliding{MaskKind::kWindow, window};
  traits.mask = [listed = sliding_layers(config), sliding, is_sliding](std::size_t layer) {
    const bool slides = listed ? (*listed)[layer] : is_sliding(layer);
    return slides ? std::optional(sliding) : std::nullopt;
  };
}

void use_sliding_window(const HfConfig& config, std::size_t window, Traits& traits) {
  const std::optional<std::vector<bool>> listed = sliding_layers(config);
  if (window != 0 && listed && std::ranges::find(*listed, false) != listed->end()) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("{}full_attention contradicts sliding_window, which a model of this "
                            "family has in all layers",
                            config.at("layer_types").where()));
  }
  slide(
      config, window, [](std::size_t /*layer*/) { return true; }, traits);
}

std::function<bool(std::size_t layer)> sparse_layers(const HfConfig& config) {
  const std::size_t step = config.size_or("decoder_sparse_step", 1);
  std::vector<float> dense;
  if (const auto listed = config.find("mlp_only_layers")) {
    const std::span<const float> layers = listed->as_numbers();
    dense.assign(layers.begin(), layers.end());
  }
  return [step, dense = std::move(dense)](std::size_t layer) {
    return (layer + 1) % step == 0 &&
           std::ranges::find(dense, static_cast<float>(layer)) == dense.end();
  };
}

Model read_hf_decoder(TensorFiles files, const Traits& traits,
                      const std::vector<HarmlessTensor>& ignorable) {
  WeightReader weights(std::move(files),
                       {"model.", "language_model.model.", "model.language_model.", "transformer.",
                        "gpt_neox.", "bert.", "backbone.", ""},
                       fmt::format("{}.weight", traits.names.embeddings));
  weights.pass_over(heads_of_other_tasks());
  weights.pass_over(ignorable);
  weights.pass_over({{"rotary_emb.inv_freq", kBuffer},
                     {"rotary_emb_local.inv_freq", kBuffer},
                     {"layers.#.self_attn.rotary_emb.inv_freq", kBuffer},
                     {"layers.#.self_attn.rotary_emb.cos_cached", kBuffer},
                     {"layers.#.self_attn.rotary_emb.sin_cached", kBuffer},
                     {"layers.#.self_attn.bias", kBuffer},
                     {"layers.#.self_attn.masked_bias", kBuffer},
                     {"layers.#.attention.bias", kBuffer},
                     {"layers.#.attention.masked_bias", kBuffer},
                     {"h.#.attn.bias", kBuffer},
                     {"h.#.attn.masked_bias", kBuffer},
                     {"vision_tower.*", kOtherPart},
                     {"vision_model.*", kOtherPart},
                     {"multi_modal_projector.*", kOtherPart},
                     {"visual.*", kOtherPart},
                     {"model.visual.*", kOtherPart},
                     {"embed_vision.*", kOtherPart},
                     {"embed_audio.*", kOtherPart},
                     {"audio_tower.*", kOtherPart}});
  if (traits.tied) {
    weights.pass_over({tied_unembedding(traits.names.unembedding)});
  }
  return read_transformer(traits, std::move(weights));
}

}  // namespace attnviz
