// Which keys of a config.json may change the result.
#include "attnviz/model/known_keys.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/failure.h"
#include "support/json.h"
#include "support/stored_model.h"

namespace attnviz {

using nlohmann::json;

TEST_CASE("parameters of configs: those of transformers' classes, and no others") {
  for (const char* name :
       {"_remove_final_layer_norm", "alibi", "hidden_size", "kv_lora_rank", "norm_epsilon",
        "route_scale", "swiglu_alpha", "yarn_only_types", "zero_expert_num"}) {
    CAPTURE(std::string(name));
    CHECK(is_config_parameter(name));
  }
  for (const char* name : {"", "badwordsids", "hidden_siz", "hidden_size ", "welcome", "zzz"}) {
    CAPTURE(std::string(name));
    CHECK_FALSE(is_config_parameter(name));
  }
  CHECK(is_rope_parameter("mscale"));
  CHECK(is_rope_parameter("short_mscale"));
  CHECK_FALSE(is_rope_parameter("temperature"));
}

TEST_CASE("Hugging Face: a key that no config class of transformers has is reported, not refused") {
  using Keys = std::vector<std::string>;
  const auto unknown_in = [](const std::string& model, const std::string& key, const json& value) {
    return test::with_settings(model, {{key, value}}).config.unknown_keys;
  };
  for (const json& value : {json(0), json(true), json("a"), json{1, 2}, json{{"a", "b"}}}) {
    CAPTURE(value.dump());
    CHECK(unknown_in("gpt2-tied", "badwordsids", value) == Keys{"badwordsids"});
  }
  CHECK(unknown_in("gpt2-tied", "badwordsids", nullptr).empty());
  CHECK(unknown_in("gpt2-tied", "badwordsids", json::array()).empty());
  CHECK(unknown_in("bert-pair", "uniem_embedding_strategy", "last_mean") ==
        Keys{"uniem_embedding_strategy"});
  CHECK(unknown_in("gemma3-multimodal", "text_config/invented", "a") ==
        Keys{"text_config.invented"});
  CHECK(unknown_in("llama-rope-linear", "rope_scaling/temperature", 0.5) ==
        Keys{"rope_scaling.temperature"});
  for (const std::string kind : {"sliding_attention", "full_attention"}) {
    CHECK(unknown_in("gemma3-rope-parameters", "rope_parameters/" + kind + "/invented", 2) ==
          Keys{"rope_parameters." + kind + ".invented"});
  }
  const Model both =
      test::with_settings("llama-mha-untied", {{"welcome", "hi"}, {"a", 1}, {"b", 2}});
  CHECK(both.config.unknown_keys == Keys{"a", "b", "welcome"});
}

TEST_CASE("Hugging Face: sizes under other names must agree with the tensors") {
  CHECK(test::with_settings("gpt2-tied", {{"hidden_size", 12}}).config.unknown_keys.empty());
  test::check_refused(
      [] {
        test::with_settings("gpt2-tied", {{"hidden_size", 13}});
      },
      "hidden_size 13: contradicts the shapes of the tensors");
}

}  // namespace attnviz
