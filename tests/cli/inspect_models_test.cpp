// attnviz inspect on whole models, run as a user would.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "cli/attnviz_program.h"

namespace attnviz::test {
namespace {

using nlohmann::json;

std::vector<std::string> inspect(const std::string& model, std::vector<std::string> arguments) {
  std::vector<std::string> all = {"inspect", "-m", kModels + model};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return all;
}

}  // namespace

TEST_CASE("inspect: the weights of a whole model's head are those that show writes") {
  for (const char* model :
       {"gpt2-tied", "gpt-neox-parallel", "llama-gqa-bias", "mistral-window", "qwen2-bias",
        "qwen3-qk-norm", "gemma-mqa", "gemma2-softcap-window", "gemma3-local-global", "phi3-window",
        "bert-pair", "roberta-mlm", "distilbert-mlm"}) {
    CAPTURE(model);
    const std::vector<std::string> common = {"--ids", "5,17,3,9,30,2,8,8,11", "--head", "1.1"};
    std::vector<std::string> show = {"-m", kModels + model};
    show.insert(show.end(), common.begin(), common.end());
    const json pattern = attnviz_json(show)["attention"][0][0];
    const json head = attnviz_json(inspect(model, common))["heads"][0];
    CHECK(head["weights"] == pattern);
    CHECK(head["for_query"]["weights"] == pattern[8]);
  }
}

TEST_CASE("inspect: a whole model's steps on a narrow screen") {
  const ProgramResult run = attnviz(
      inspect("gpt2-tied", {"--ids", "5,17,3", "--head", "1.2", "--step", "norm,residual"}));
  CHECK(run.exit_code == 0);
  CHECK(run.err == "");
  CHECK(mentions(run.out, {"\n2  y = LayerNorm(x) = (x - mean) / sqrt(variance + 1e-05) * w + b",
                           "\n   Mean = ", "12", "= x + output +", "heads + b_O"}));
}

TEST_CASE("inspect: a step that a head does not take is reported, not left out in silence") {
  const ProgramResult run =
      attnviz(inspect("gpt2-tied", {"--ids", "5,17,3", "--step", "rope,softmax,cap"}));
  CHECK(run.exit_code == 0);
  CHECK(mentions(run.err, {"--step rope", "--step cap"}));
  CHECK(mentions(run.out, {"= exp(s - max", "/ sum"}));
  const ProgramResult both =
      attnviz(inspect("gpt2-tied", {"--ids", "5,17,3", "--step", "rope", "--head", "0.0,1.0"}));
  CHECK(mentions(both.err, {"--step rope", "none"}));
}

TEST_CASE("inspect: window, soft cap and shared keys of a layer are on the screen") {
  const ProgramResult run = attnviz(
      inspect("gemma2-softcap-window", {"--ids", "5,17,3,9,30,2,8", "--explain", "--head", "0.3"}));
  CHECK(mentions(run.out, {"mask window:5", "-inf", "2 keys", "window", "5 tokens", "= 1.75 * tanh",
                           "/ 1.75", "4 heads", "W_K", "W_V", "head 3", "= x + RMSNorm(output +"}));
}

TEST_CASE("inspect: one token, a mask of one's own and a figure of a whole model") {
  const ProgramResult one = attnviz(inspect("bert-pair", {"--ids", "5", "--explain"}));
  CHECK(one.exit_code == 0);
  CHECK(mentions(one.out, {"100 %"}));
  const ProgramResult causal = attnviz(inspect(
      "bert-pair", {"--ids", "5,17,3", "--mask", "causal", "--query", "0", "--step", "mask"}));
  CHECK(mentions(causal.out, {"mask causal", "-inf"}));
  const TemporaryFolder folder;
  ProgramRun figure;
  figure.folder = folder.path();
  figure.arguments = inspect("qwen3-qk-norm", {"--ids", "5,17,3", "-q", "-o", "steps.png"});
  CHECK(attnviz(figure).exit_code == 0);
  CHECK(contains(read_file(folder.file("steps.png")), R"("qk-norm", "rope")"));
}

TEST_CASE("inspect: a trained model's head, as in its reference files") {
  if (!std::filesystem::exists(kStories)) {
    MESSAGE("SKIPPED: no ../shared/reference/models");
    return;
  }
  const json document =
      attnviz_json({"inspect", "-m", kStories, "Once upon a time", "--head", "2.3"});
  const json& head = document["heads"][0];
  CHECK(head["norm"]["kind"] == "rms");
  CHECK(head["rope"]["n_rotated"] == 8);
  CHECK(head["kv_head"] == 1);
  CHECK(head["n_kv_heads"] == 4);
  double sum = 0.0;
  for (const json& weight : head["for_query"]["weights"]) {
    sum += weight.get<double>();
  }
  CHECK(std::abs(sum - 1.0) < 1e-5);
}

}  // namespace attnviz::test
