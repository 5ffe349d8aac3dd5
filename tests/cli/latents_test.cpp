// Models whose heads read latents through the program.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "cli/attnviz_program.h"

namespace attnviz::test {
namespace {

using nlohmann::json;

const std::string kLite = kReference + "experts/deepseek2-lite";
const std::string kThree = kReference + "experts/deepseek3";
const std::string kIds = "1,11,38,26";

}  // namespace

TEST_CASE("info says what a cache of latents saves") {
  const json info = attnviz_json({"info", "-m", kThree});
  CHECK(info["shape"]["latents"] == json{{"query_rank", 20},
                                         {"rank", 24},
                                         {"shared_key", 8},
                                         {"kept", 24 + 8},
                                         {"expanded", 4 * (12 + 8 + 10)}});
  const json& memory = info["memory"][0];
  CHECK(memory["kv_float16"] == 3 * 120 * 128 * 2);
  CHECK(memory["latents_float16"] == 3 * 32 * 128 * 2);
  CHECK(attnviz_json({"info", "-m", kLite})["shape"]["latents"]["query_rank"] == nullptr);
  CHECK(!attnviz_json({"info"})["shape"].contains("latents"));
  const ProgramResult screen = attnviz({"info", "-m", kThree, "--style", "ascii"});
  CHECK(mentions(screen.out, {"3.75", "latents float16", "20"}));
}

TEST_CASE("info counts the numbers of latents once") {
  const json info = attnviz_json({"info", "-m", kThree});
  // 3 layers of [32, 20] and [32, 32].
  CHECK(info["parameters"]["attention"]["latents"] == 3 * 32 * (20 + 32));
  std::size_t stored = 0;
  for (const json& numbers : info["weights"]["stored"]) {
    stored += numbers["numbers"].get<std::size_t>();
  }
  CHECK(info["parameters"]["total"] == stored);
}

TEST_CASE("inspect follows a head through the latents that it reads") {
  const json head =
      attnviz_json({"inspect", "-m", kThree, "--ids", kIds, "--head", "1.2"})["heads"][0];
  const json& row = head["for_query"];
  CHECK(row["c_Q"].size() == 20);
  CHECK(row["c_KV"].size() == 24 + 8);
  CHECK(head["W_DQ"].size() == 32);
  CHECK(head["W_K"].size() == 24);
  CHECK(head["rope"]["n_still"] == 12);
  for (std::size_t i = 0; i < 12; ++i) {
    double k = 0.0;
    for (std::size_t j = 0; j < 24; ++j) {
      k += row["c_KV"][j].get<double>() * head["W_K"][j][i].get<double>();
    }
    CHECK(head["k"][3][i].get<double>() == doctest::Approx(k).epsilon(1e-4));
  }
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(head["k_projected"][3][12 + i] == row["c_KV"][24 + i]);
  }
  const ProgramResult screen = attnviz({"inspect", "-m", kLite, "--ids", kIds, "--head", "1.2"});
  CHECK(mentions(screen.out, {"c_KV = RMSNorm(y * W_DKV", "k_R", "q = y * W_Q", "32 numbers"}));
  CHECK(!contains(screen.out, "c_Q"));
}

TEST_CASE("the tour says what scores are scaled by, and that tokens are narrowed first") {
  const std::string file = kThree + "/deepseek3.gguf";
  const ProgramResult screen = attnviz({"tour", "-m", file, "abc abd", "--all"});
  CHECK(screen.exit_code == 0);
  CHECK(mentions(screen.out, {"0.419"}));
  CHECK(!contains(screen.out, "sqrt(20)"));
}

TEST_CASE("a folder and a GGUF file of the same latents do not differ") {
  for (const char* const file : {"/deepseek3.gguf", "/deepseek3-oldkv.gguf"}) {
    const json diff = attnviz_json({"diff", "-m", kThree, "-m", kThree + file, "--ids", "5,6,7,8"});
    for (const json& tensor : diff["tensors"]) {
      CAPTURE(tensor.dump());
      CHECK(tensor["relative_error"] == 0.0);
    }
  }
}

TEST_CASE("info --families lists what DeepSeek is called in GGUF, and what is left out") {
  const json document = attnviz_json({"info", "--families"});
  for (const json& family : document["families"]) {
    if (family["name"] == "deepseek_v3") {
      CHECK(family["gguf"] == json{"deepseek2"});
      CHECK(family["left_out"] == "multi-token prediction");
    }
  }
}

}  // namespace attnviz::test
