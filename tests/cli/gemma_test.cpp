// Gemma 3n and 4 through the program: layers that look at others' keys, K = V, several streams.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "cli/attnviz_program.h"

namespace attnviz::test {
namespace {

using nlohmann::json;

const std::string kGemma3n = kReference + "experts/gemma3n";
const std::string kShared = kReference + "experts/gemma4-ple";
const std::string kExperts = kReference + "experts/gemma4-moe";

// What info prints about a model, on one line.
std::string info_text(const std::string& model) {
  std::string line;
  for (const char sign : attnviz({"info", "-m", model}).out) {
    const bool is_space = sign == ' ' || sign == '\n';
    if (!is_space || !line.ends_with(' ')) {
      line += is_space ? ' ' : sign;
    }
  }
  return line;
}

ProgramResult why(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"why", "-m", kGemma3n, "--ids", "2,17,44,66,66,5"});
  return attnviz(std::move(arguments));
}

}  // namespace

TEST_CASE("info: whose keys and values a layer looks at") {
  const std::string out = info_text(kShared);
  CHECK(mentions(out, {"layers 0-2", "layers 3", "layer 1", "layer 5", "layer 2"}));
  const json layers = attnviz_json({"info", "-m", kShared})["layers"];
  CHECK(layers[3]["keys_from"] == 1);
  CHECK(layers[4]["keys_from"] == 1);
  CHECK(layers[5]["keys_from"] == 2);
  CHECK(!layers[2].contains("keys_from"));
  CHECK(attnviz_json({"info", "-m", kShared + "/gemma4-ple.gguf"})["layers"] == layers);
}

TEST_CASE("info: layers whose values are projected as their keys are") {
  const std::string out = info_text(kExperts);
  CHECK(
      mentions(out, {"layers 0", "layer 2", "K = V", "6 per layer", "d_ff 16", "MLP", "d_ff 32"}));
  const json layers = attnviz_json({"info", "-m", kExperts})["layers"];
  CHECK(layers[2]["values_are_keys"] == true);
  CHECK(layers[2]["value_norm"] == true);
  CHECK(!layers[0].contains("values_are_keys"));
}

TEST_CASE("info: residual streams, LAuReL and sparse MLPs; every number of the files is counted") {
  const std::string out = info_text(kGemma3n);
  CHECK(mentions(out, {"stream 0", "AltUp", "LAuReL", "layers 0", "70 %"}));
  for (const std::string& model : {kGemma3n, kExperts, kShared}) {
    CAPTURE(model);
    const json document = attnviz_json({"info", "-m", model});
    std::size_t numbers = 0;
    for (const json& stored : document["weights"]["stored"]) {
      numbers += stored["numbers"].get<std::size_t>();
    }
    CHECK(document["parameters"]["total"] == numbers);
  }
  const json facts = attnviz_json({"info", "-m", kGemma3n})["facts"];
  CHECK(facts["n_streams"] == 4);
  CHECK(facts["active_stream"] == 0);
  CHECK(facts["laurel_rank"] == 6);
}

TEST_CASE("why: with several streams no attribution and no lens, but ablation of words and parts") {
  const ProgramResult all = why({});
  CAPTURE(all.err);
  CHECK(all.exit_code == 0);
  CHECK(contains(all.out, "one of 4"));
  for (const char* part : {"--attribution", "--lens"}) {
    const ProgramResult refused = why({part});
    CHECK(refused.exit_code == 4);
    CHECK(mentions(refused.err, {"4 residual streams"}));
  }
  const ProgramResult split = why({"--head", "0.0", "--query", "3", "--key", "1"});
  CHECK(split.exit_code == 4);
  CHECK(mentions(split.err, {"4 residual streams"}));
  CHECK(why({"--tokens"}).exit_code == 0);
  CHECK(why({"--ablate-each", "heads"}).exit_code == 0);
}

TEST_CASE("inspect: with several streams it says which one it follows") {
  CHECK(mentions(attnviz({"inspect", "-m", kGemma3n, "--ids", "5,17,3"}).out,
                 {"4 residual streams", "AltUp"}));
}

TEST_CASE("inspect: the learned residual is among the parts that are added") {
  const ProgramResult run =
      attnviz({"inspect", "-m", kGemma3n, "--ids", "2,17,44,66", "--head", "1.2"});
  CAPTURE(run.err);
  CHECK(run.exit_code == 0);
  CHECK(contains(run.out, "LAuReL"));
}

}  // namespace attnviz::test
