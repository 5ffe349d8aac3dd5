// attnviz info: models of folders and files, and models in numbers.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/attnviz_program.h"
#include "support/stored_model.h"

namespace attnviz::test {

namespace {

using nlohmann::json;

const std::vector<std::string> kGpt3 = {"info",     "--d-model", "12288",    "--heads", "96",
                                        "--d-head", "128",       "--layers", "96"};

std::vector<std::string> gpt3_with(const std::vector<std::string>& more) {
  std::vector<std::string> all = kGpt3;
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

TEST_CASE("info: GPT-3 in numbers, no weights made") {
  const ProgramResult run = attnviz(kGpt3);
  CHECK(run.exit_code == 0);
  CHECK(run.err.empty());
  CHECK(mentions(run.out, {"6.3 M per head", "604 M per layer", "58.0 B", "96 layers"}));
  const json document = attnviz_json(gpt3_with({"--vocab", "50257"}));
  CHECK(document["schema"] == "attnviz.info/1");
  CHECK(document["model"]["described"] == true);
  const json& parameters = document["parameters"];
  CHECK(parameters["head"]["W_Q"] == 1572864);
  CHECK(parameters["head"]["total"] == 6291456);
  CHECK(parameters["layer"]["attention"]["total"] == 603979776);
  CHECK(parameters["attention"]["total"] == 57982058496);
  CHECK(parameters["token_embeddings"] == 617558016);
  CHECK(document["facts"].is_null());
  CHECK(document["tokenizer"].is_null());
}

TEST_CASE("info: a low-rank value map and shared keys, in numbers") {
  const json document =
      attnviz_json({"info", "--d-model", "100", "--heads", "6", "--kv-heads", "2", "--d-head", "10",
                    "--d-value", "4", "--layers", "3", "--context", "600"});
  const json& parameters = document["parameters"];
  CHECK(parameters["layer"]["attention"]["W_Q"] == 6000);
  CHECK(parameters["layer"]["attention"]["W_K"] == 2000);
  CHECK(parameters["layer"]["attention"]["W_V"] == 800);
  CHECK(parameters["layer"]["attention"]["W_O"] == 2400);
  CHECK(parameters["attention"]["total"] == 33600);
  const json& memory = document["memory"];
  REQUIRE(memory.size() == 6);
  CHECK(memory[1]["beyond_context"] == false);
  CHECK(memory[2]["beyond_context"] == true);
  CHECK(memory[0]["pattern_head"] == 65536);
  CHECK(memory[0]["pattern"] == 65536 * 18);
  CHECK(memory[0]["kv_float16"] == 128 * 3 * 2 * 14 * 2);
}

TEST_CASE("info: a folder's model, with or without -m, and without a tokenizer") {
  const ProgramResult run = attnviz({"info", "-m", kModels + "gemma2-softcap-window"});
  CHECK(run.exit_code == 0);
  CHECK(run.err.empty());
  CHECK(mentions(run.out, {"gemma2", "layers 0, 2: window 5; layer 1: causal"}));
  CHECK(contains(run.out, "none:"));  // what follows is a path, which may need a line of its own
  CHECK(attnviz({"info", kModels + "gemma2-softcap-window"}).out == run.out);

  const json document = attnviz_json({"info", kModels + "gemma2-softcap-window"});
  CHECK(document["model"]["family"] == "gemma2");
  CHECK(document["layers"][0]["mask"] == "window:5");
  CHECK(document["layers"][1]["mask"] == "causal");
  CHECK(document["layers"][0]["soft_cap"] == 1.75);
  CHECK(document["tokenizer"]["kind"].is_null());
  CHECK(contains(document["tokenizer"]["missing"], "tokenizer.json"));
}

TEST_CASE("info: how the numbers are stored, in one file or several") {
  const json sharded = attnviz_json({"info", kModels + "llama-sharded-bf16"});
  const json& stored = sharded["weights"]["stored"];
  std::size_t numbers = 0;
  bool has_bf16 = false;
  for (const json& entry : stored) {
    numbers += entry["numbers"].get<std::size_t>();
    has_bf16 = has_bf16 || entry["type"] == "BF16";
    const std::size_t bytes = entry["type"] == "BF16" || entry["type"] == "F16" ? 2U
                              : entry["type"] == "F64"                          ? 8U
                                                                                : 4U;
    CHECK(entry["bytes"] == bytes * entry["numbers"].get<std::size_t>());
  }
  CHECK(has_bf16);
  CHECK(numbers == sharded["parameters"]["total"]);
}

TEST_CASE("info: weights JSON, and random weights are reported as random") {
  const ProgramResult run = attnviz({"info", ATTNVIZ_SOURCE_DIR "/samples/four-heads.json"});
  CHECK(run.exit_code == 0);
  CHECK(contains(run.out, "words"));
  // Heads of 1 to 9 dimensions, without W_O.
  CHECK(
      mentions(run.out, {"1/sqrt(d_head)", "W_O               0      4          0          0\n"}));
  const json made = attnviz_json({"info", ATTNVIZ_SOURCE_DIR "/samples/four-heads.json"});
  CHECK(made["layers"][0]["score_scale"].is_null());
  const TemporaryFolder folder;
  const std::string file = folder.file("w.json");
  REQUIRE(attnviz({"weights", "--heads", "2", "--d-model", "8", "-q", "-o", file}).exit_code == 0);
  CHECK(contains(attnviz({"info", "-m", file}).out, "RANDOM WEIGHTS"));
  const json document = attnviz_json({"info", file});
  CHECK(document["model"]["random"] == true);
  CHECK(document["parameters"]["attention"]["W_Q"] == 64);
  CHECK(document["parameters"]["total"] == 256);
}

TEST_CASE("info: where heads differ in size, all dimensions of each are rotated") {
  const TemporaryFolder folder;
  json weights =
      parse_json(attnviz({"weights", "--heads", "2", "--d-model", "8", "--positions", "rope"}).out);
  for (const char* matrix : {"W_Q", "W_K"}) {
    for (json& row : weights["layers"][0]["heads"][0][matrix]) {
      row.erase(row.begin() + 2, row.end());
    }
  }
  write_file(folder.file("w.json"), weights.dump());
  CHECK(contains(attnviz({"info", folder.file("w.json")}).out, "RoPE"));
}

TEST_CASE("info: a trained model with its tokenizer") {
  if (!std::filesystem::exists(kStories)) {
    MESSAGE("SKIPPED: no " << kStories);
    return;
  }
  const json document = attnviz_json({"info", kStories});
  const json& tokenizer = document["tokenizer"];
  CHECK(tokenizer["entries"] == 512);
  CHECK(tokenizer["special"]["bos"]["id"] == 1);
  CHECK(tokenizer["before"] == json::array({"<s>"}));
  CHECK(tokenizer["after"] == json::array());
  // 512 embeddings of 64 (tied), 5 layers of 8 heads that share 4 keys and values, MLPs of 172.
  CHECK(document["parameters"]["attention"]["total"] == 5 * (64 * 64 + 2 * 64 * 32 + 64 * 64));
  CHECK(document["parameters"]["mlp"] == 5 * 3 * 64 * 172);
  CHECK(document["parameters"]["token_embeddings"] == 512 * 64);
}

TEST_CASE("info: -v says what in a model's files was ignored, and why") {
  const ProgramResult run = attnviz({"info", kModels + "llama-mha-untied", "-v"});
  CHECK(run.exit_code == 0);
  CHECK(mentions(run.err, {"torch_dtype", "model.layers.0.self_attn.rotary_emb.inv_freq"}));
  CHECK_FALSE(contains(run.err, "hidden_size"));
  const std::string read = attnviz({"info", kModels + "gpt2-tied", "-v"}).err;
  CHECK_FALSE(read.empty());
  CHECK_FALSE(contains(read, "eos_token_id"));  // --generate stops at it
  const std::string gguf = ATTNVIZ_SOURCE_DIR "/tests/reference/gguf/models/bert-pair.gguf";
  const ProgramResult of_gguf = attnviz({"info", gguf, "-v"});
  CHECK(mentions(of_gguf.err, {"bert.pooling_type", "tokenizer.ggml.pre", "tokenizer"}));
}

TEST_CASE("info: a setting that may change something ends with exit code 4 and its name") {
  const TemporaryFolder folder;
  copy_model("llama-mha-untied", folder.path());
  change_config(folder.path(), "route_scale", 0.5);
  const ProgramResult run = attnviz({"info", folder.path().string()});
  CHECK(run.exit_code == 4);
  CHECK(contains(run.err, "config.json: route_scale 0.5: "));
}

TEST_CASE("info: usage errors say what to give") {
  struct Mistake {
    std::vector<std::string> arguments;
    std::vector<std::string> named;
  };
  const Mistake mistakes[] = {{{"info", "-m", "a", "b"}, {"FILE", "--model"}},
                              {{"info", "-m", "a", "--layers", "2"}, {"--layers", "--model"}},
                              {{"info", "--d-model", "8", "--gated"}, {"--gated", "--d-ff"}},
                              {{"info", "--d-model", "8", "--tied"}, {"--tied", "--vocab"}},
                              {{"info", "--d-model", "10", "--heads", "3"}, {"--d-model 10"}},
                              {{"info", "a", "b"}, {"info", "FILE", "\"b\""}}};
  for (const Mistake& mistake : mistakes) {
    const ProgramResult run = attnviz(mistake.arguments);
    CAPTURE(run.err);
    CHECK(run.exit_code == 2);
    CHECK(run.out.empty());
    CHECK(mentions(run.err, mistake.named));
  }
  CHECK(attnviz({"info", "no-such-model.json"}).exit_code == 1);
}

TEST_CASE("info: a tokenizer that is there but broken is an error") {
  const TemporaryFolder folder;
  const std::string model = folder.file("model");
  std::filesystem::create_directory(model);
  copy_model("gpt2-tied", model);
  write_file(model + "/tokenizer.json", "{");
  CHECK(attnviz({"info", model}).exit_code == 3);
}

}  // namespace attnviz::test
