// attnviz rollout: one pattern through all layers, drawn and written like any other.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "cli/attnviz_program.h"
#include "support/json.h"

namespace attnviz::test {
namespace {

using nlohmann::json;

const std::string kFile = ATTNVIZ_SOURCE_DIR "/samples/four-heads.json";

double sum_of(const json& row) {
  double sum = 0.0;
  for (const json& weight : row) {
    sum += weight.get<double>();
  }
  return sum;
}

}  // namespace

TEST_CASE("rollout: one pattern for all layers; title, legend and JSON say what it is") {
  const ProgramResult drawn = attnviz({"rollout", "The cat sat"});
  CHECK(drawn.exit_code == 0);
  CHECK(mentions(drawn.out, {"attention rollout: demo\n", " rollout L0-L3\n", "rollout", "layers 0",
                             "16 heads", "0.5 x the residual"}));
  const json document = attnviz_json({"rollout", "The cat sat"});
  CHECK(document["rollout"] == json{{"residual", 0.5}, {"over", "mean"}, {"weighted", false}});
  CHECK(!document.contains("average"));
  CHECK(document["layers"] == json{0, 1, 2, 3});
  REQUIRE(document["attention"].size() == 1);
  REQUIRE(document["attention"][0].size() == 1);
  for (const json& row : document["attention"][0][0]) {
    CHECK(std::abs(sum_of(row) - 1.0) < 1e-6);
  }
}

TEST_CASE("rollout: render shows the same for what rollout wrote") {
  const TemporaryFolder folder;
  const std::vector<std::string> asked = {"rollout", "The cat sat", "--weighted",
                                          "--over",  "max",         "--residual",
                                          "0.3",     "--layer",     "1-2"};
  std::vector<std::string> writing = asked;
  writing.insert(writing.end(),
                 {"-q", "-o", "r.json", "-o", "r.npy", "-o", "r.png", "-o", "r.svg"});
  REQUIRE(in_folder(folder, writing).exit_code == 0);
  const ProgramResult rendered = in_folder(folder, {"render", "r.json"});
  CHECK(rendered.out == in_folder(folder, asked).out);
  CHECK(contains(rendered.out, " rollout L1-L2\n"));
  CHECK(
      mentions(rendered.out, {"rollout", "layers 1", "8 heads", "0.3", "residual stream", "0.7"}));
  const ProgramResult averaged = in_folder(folder, {"render", "r.json", "--average", "all"});
  CHECK(averaged.exit_code == 2);
  CHECK(mentions(averaged.err, {"a rollout"}));
}

TEST_CASE("rollout: words, one token, variants that a window cannot hide, and no residual") {
  const json merged = attnviz_json({"rollout", "The unbelievable cat", "--merge", "words"});
  CHECK(merged["tokens"].size() == 4);
  CHECK(std::abs(sum_of(merged["attention"][0][0][3]) - 1.0) < 1e-6);
  CHECK(mentions(attnviz({"rollout", "The cat sat", "--focus", "sat"}).out,
                 {"attention rollout", "\"sat\"", "demo"}));
  // Two layers of windows of 2 reach three tokens back.
  const ProgramResult window = attnviz({"rollout", "--random", "a b c d", "--layers", "3", "--mask",
                                        "window:2", "--style", "numbers"});
  CHECK(contains(window.out, "\nmask window:2\n"));
  const json reached =
      attnviz_json({"rollout", "--random", "a b c d", "--layers", "3", "--mask", "window:2"});
  CHECK(reached["attention"][0][0][3][0].get<double>() > 0.0);
  const ProgramResult bare =
      attnviz({"rollout", "the cat saw the dog and the cat ran", "-m", kFile});
  CHECK(bare.exit_code == 0);
  CHECK(mentions(bare.out, {"residual", "layer 0"}));
}

TEST_CASE("rollout: encoders, and what is refused") {
  CHECK(attnviz({"rollout", "--ids", "5,17,3", "-m", kModels + "bert-pair"}).exit_code == 0);
  for (const char* share : {"1", "-0.1", "nan", "x"}) {
    CHECK(attnviz({"rollout", "The cat", "--residual", share}).exit_code == 2);
  }
  CHECK(attnviz({"rollout", "The cat", "--over", "median"}).exit_code == 2);
  CHECK(attnviz({"rollout", ""}).exit_code == 2);
  const TemporaryFolder folder;
  write_file(folder.file("bad.json"),
             R"({"tokens": ["a"], "layers": [0], "heads": [0], "attention": [[[[1]]]],
                 "rollout": {"residual": 2}})");
  const ProgramResult bad = in_folder(folder, {"render", "bad.json"});
  CHECK(bad.exit_code == 3);
  CHECK(mentions(bad.err, {"rollout.residual"}));
}

}  // namespace attnviz::test
