// Every family of models through every command: each copes with what a model lacks (heads
// in some layers, positions, a next token).
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cli/attnviz_program.h"

namespace attnviz::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::string kFamilies = kReference + "families/";
const std::string kWithConvolutions = kFamilies + "lfm2";

// All folders that hold a model, among the families and among the models with experts.
std::vector<std::string> models() {
  std::vector<std::string> found;
  for (const std::string& place : {kFamilies, kReference + "experts"}) {
    for (const auto& entry : fs::directory_iterator(place)) {
      if (fs::exists(entry.path() / "config.json")) {
        found.push_back(entry.path());
      }
    }
  }
  return found;
}

bool has_two_stacks(const std::string& model) {
  return contains(read_file(model + "/config.json"), "\"is_encoder_decoder\": true");
}

ProgramResult run(const std::string& model, std::vector<std::string> arguments) {
  if (arguments.front() == "show" && has_two_stacks(model)) {
    arguments.insert(arguments.end(), {"--decoder-ids", "0,6,7"});
  }
  arguments.insert(arguments.end(), {"-m", model, "--ids", "3,4,5,3,4"});
  return attnviz(std::move(arguments));
}

void check_refused(std::vector<std::string> arguments, const std::vector<std::string>& named) {
  const ProgramResult result = run(kWithConvolutions, std::move(arguments));
  CAPTURE(result.err);
  CHECK(result.exit_code == 2);
  CHECK(mentions(result.err, named));
}

}  // namespace

TEST_CASE(
    "every family is drawn, followed, ranked, explained and compared, or refused with a reason") {
  const TemporaryFolder folder;
  const std::vector<std::vector<std::string>> commands = {
      {"show", "-v", "--json"},
      {"show", "--average", "all"},
      {"show", "-o", folder.file("x.png")},
      {"show", "-o", folder.file("x.html")},
      {"show", "--predict", "2", "--generate", "2"},
      {"show", "--show", "scores"},
      {"show", "--ablate", "L1", "--hide", "2>1"},
      {"inspect"},
      {"heads", "--copying"},
      {"why"},
      {"why", "--json"},
      {"rollout"},
      {"rollout", "--weighted"}};
  for (const std::string& model : models()) {
    for (const std::vector<std::string>& command : commands) {
      const ProgramResult result = run(model, command);
      CAPTURE(model);
      CAPTURE(fmt::format("{}", fmt::join(command, " ")));
      CAPTURE(result.err);
      // 4: encoders predict no next token.
      CHECK((result.exit_code == 0 || result.exit_code == 2 || result.exit_code == 4));
      CHECK((result.exit_code == 0) == !result.out.empty());
    }
    CHECK(attnviz({"info", "-m", model, "--json"}).exit_code == 0);
    CHECK(run(model, {"diff", "-m", model}).exit_code == (has_two_stacks(model) ? 4 : 0));
  }
}

TEST_CASE("diff: a model and the GGUF file that is made from it have the same settings") {
  for (const std::string name :
       {"glm-4-9b-chat", "glm-4-0414", "minicpm-2b", "minicpm4", "hunyuan-0.5b", "hunyuan-bias"}) {
    CAPTURE(name);
    const std::string model = kFamilies + name;
    const ProgramResult result = run(model, {"diff", "-m", fmt::format("{}/{}.gguf", model, name)});
    CHECK(result.exit_code == 0);
    CHECK_FALSE(contains(result.out, "epsilon"));
  }
}

TEST_CASE(
    "inspect: norms of queries and keys follow the rotation where the model applies them after "
    "it") {
  const std::string model = kFamilies + "hunyuan-0.5b";
  const std::string out = run(model, {"inspect", "--head", "1.2"}).out;
  const std::size_t turned = out.find("position 4");
  const std::size_t normed = out.find("q and each k through RMSNorm");
  REQUIRE(turned != std::string::npos);
  REQUIRE(normed != std::string::npos);
  CHECK(turned < normed);
  CHECK(mentions(attnviz({"info", "-m", model}).out, {"RoPE"}));
  CHECK(mentions(attnviz({"info", "-m", kFamilies + "olmo2"}).out, {"RoPE"}));
  const json head = parse_json(run(model, {"inspect", "--head", "1.2", "--json"}).out)["heads"][0];
  CHECK(head["for_query"].contains("q_turned"));
  CHECK_FALSE(head["for_query"].contains("q_normed"));
}

TEST_CASE(
    "layers without heads: documents keep the real layer numbers, and asking for heads is "
    "refused") {
  const json document = parse_json(run(kWithConvolutions, {"--json"}).out);
  std::vector<std::size_t> expected;
  const json info = attnviz_json({"info", "-m", kWithConvolutions});
  for (const json& layer : info["layers"]) {
    if (layer["n_heads"] > 0) {
      expected.push_back(layer["layer"]);
    }
  }
  REQUIRE(!expected.empty());
  REQUIRE(expected.size() < info["layers"].size());
  CHECK(document["layers"] == json(expected));
  CHECK(document["layer_facts"][0] == json({{"layer", 0}, {"mixer", "convolution"}}));
  CHECK(mentions(run(kWithConvolutions, {"show"}).out, {"convolution"}));
  check_refused({"--layer", "0"}, {"layer 0", "convolution"});
  check_refused({"--head", "0.0"}, {"layer 0", "convolution"});
  check_refused({"--ablate", "L0"}, {"layer 0", "convolution"});
  check_refused({"--hide", "1>0@0"}, {"layer 0", "convolution"});
  CHECK(run(kWithConvolutions, {"--ablate", "L0.mlp"}).exit_code == 0);
}

}  // namespace attnviz::test
