#include "attnviz/model/known_keys.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace attnviz {
namespace {

const KnownFamily& family(const std::vector<KnownFamily>& all, std::string_view name) {
  const auto found = std::ranges::find(all, name, &KnownFamily::name);
  REQUIRE(found != all.end());
  return *found;
}

}  // namespace

TEST_CASE("known_families: in order, each once, with its name in GGUF files") {
  const std::vector<KnownFamily> all = known_families();
  CHECK(std::ranges::is_sorted(all, std::less<>(), &KnownFamily::name));
  CHECK(all.size() >= 35);
  for (const KnownFamily& one : all) {
    CAPTURE(one.name);
    std::vector<std::string_view> names = one.gguf;
    std::ranges::sort(names);
    CHECK(std::ranges::adjacent_find(names) == names.end());
  }
  using Names = std::vector<std::string_view>;
  CHECK(family(all, "cohere").gguf == Names{"command-r"});
  CHECK(family(all, "mistral").gguf == Names{"llama"});
  CHECK(family(all, "gemma3").gguf == Names{"gemma-embedding", "gemma3"});
  CHECK(family(all, "gemma3").left_out == "vision");
  CHECK(family(all, "deepseek_v3").gguf == Names{"deepseek2"});
  CHECK(family(all, "deepseek_v3").left_out == "multi-token prediction");
  CHECK(family(all, "gptj").gguf.empty());
  CHECK(family(all, "gpt_neo").gguf.empty());
  CHECK(family(all, "glm").gguf == Names{"chatglm"});
  CHECK(family(all, "hunyuan_v1_dense").gguf == Names{"hunyuan-dense"});
  CHECK(std::ranges::find(all, "gemma3_text", &KnownFamily::name) == all.end());
  CHECK(reads_model_type("gemma3_text"));
  CHECK(reads_gguf_architecture("command-r"));
  CHECK_FALSE(reads_gguf_architecture("cohere"));
}

TEST_CASE("unknown_family: names with a common beginning are suggested, others are not") {
  CHECK(unknown_family("model_type", "qwen3_omni") ==
        "model_type \"qwen3_omni\": not one of the families that are read; near it: qwen3, "
        "qwen3_5, qwen3_5_moe, qwen3_moe");
  CHECK(unknown_family("k", "rwkv7") == "k \"rwkv7\": not one of the families that are read");
  CHECK(unknown_family("k", "Command_R_Plus") ==
        "k \"Command_R_Plus\": not one of the families that are read; near it: command-r");
}

}  // namespace attnviz
