// Lists in the published schemas against what the program reads and writes.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "cli/attnviz_program.h"
#include "support/json.h"

namespace attnviz::test {
namespace {

using nlohmann::json;

json schema_of(const std::string& name) {
  return read_json(ATTNVIZ_SCHEMAS_DIR "/attnviz." + name + ".schema.json");
}

}  // namespace

TEST_CASE("the schema of comparisons lists every tensor that can be compared") {
  const json name = schema_of("diff-1")["properties"]["tensors"]["items"]["properties"]["name"];
  std::set<std::string> listed;
  for (const json& one : name["anyOf"][0]["enum"]) {
    CHECK(listed.insert(one).second);
  }
  // What the source says about each: a projection has two tensors, a norm has two of its own.
  const std::string source =
      read_file(ATTNVIZ_SOURCE_DIR "/lib/attnviz/analysis/compare/compare_tensors.cpp");
  std::set<std::string> written;
  const auto take = [&](const char* pattern, const std::vector<std::string>& forms) {
    const std::regex call(pattern);
    for (std::sregex_iterator at(source.begin(), source.end(), call), end; at != end; ++at) {
      for (const std::string& form : forms) {
        std::string tensor = form;
        written.insert(tensor.replace(tensor.find('*'), 1, (*at)[1].str()));
      }
    }
  };
  take(R"re(tensors\.add\("(\w+)", \{)re", {"*"});
  take(R"re(tensors\.add\("(\w+)", outputs)re", {"*"});
  take(R"re(tensors\.add\("(\w+_norm)", [^{])re", {"*", "*_bias"});
  take(R"re(tensors\.add\("((?!\w+_norm")\w+)", (?!outputs)[^{])re", {"W_*", "b_*"});
  take(R"re(\.add_to\(tensors, "(\w+)"\))re", {"W_*", "b_*"});
  take(R"re(add_other_order\("(\w+)"\))re", {"*"});
  take(R"re(add_all\("(\w+)",)re", {"experts_*", "experts_*_bias"});
  take(R"re(add_ends\([^"]*"(\w+)")re", {"*"});
  take(R"re(\? "(state_in)" :)re", {"W_*", "b_*"});
  CHECK(written.size() > 120);
  for (const std::string& tensor : written) {
    CAPTURE(tensor);
    CHECK(listed.contains(tensor));
  }
}

TEST_CASE("comparisons of models with experts, streams and recurrent layers name listed tensors") {
  const json names = schema_of("diff-1")["properties"]["tensors"]["items"]["properties"]["name"];
  const json& listed = names["anyOf"][0]["enum"];
  const std::regex numbered(names["anyOf"][1]["pattern"].get<std::string>());
  for (const std::string model : {"qwen2moe", "gemma3n", "qwen3next", "gptoss-bf16"}) {
    const std::string folder = fmt::format("{}experts/{}", kReference, model);
    const json document = attnviz_json({"diff", "-m", folder, "-m", folder, "--ids", "5,6,7"});
    CHECK(document["tensors"].size() > 10);
    for (const json& tensor : document["tensors"]) {
      const std::string name = tensor["name"];
      CAPTURE(model);
      CAPTURE(name);
      CHECK((std::ranges::count(listed, json(name)) == 1 || std::regex_match(name, numbered)));
    }
  }
}

TEST_CASE("the schema of attention describes the line of a text among many") {
  const json line = schema_of("attention-1")["properties"]["line"];
  CHECK(line["type"] == "integer");
  CHECK(line["minimum"] == 1);
}

TEST_CASE("the schema of weights takes every mask that the program reads") {
  const std::regex masks(
      schema_of("weights-1")["properties"]["mask"]["pattern"].get<std::string>());
  const TemporaryFolder folder;
  for (const std::string mask :
       {"causal", "none", "window:2", "strided:2", "block:2", "around:1"}) {
    CAPTURE(mask);
    json weights = parse_json(R"({"schema": "attnviz.weights/1",
      "embeddings": {"known": [1]}, "layers": [{"heads": [{"W_Q": [[1]], "W_K": [[1]],
      "W_V": [[1]]}]}]})");
    weights["mask"] = mask;
    write_file(folder.file("w.json"), weights.dump());
    CHECK(attnviz({"-m", folder.file("w.json"), "known"}).exit_code == 0);
    CHECK(std::regex_match(mask, masks));
  }
}

TEST_CASE("the schema of listings takes a program whose samples are not installed") {
  const TemporaryFolder folder;
  const std::filesystem::path program = folder.path() / "attnviz";
  std::filesystem::copy(ATTNVIZ_PROGRAM, program);
  ProgramRun run;
  run.arguments = {"models", "--json"};
  const json place = parse_json(run_program(program, run).out)["stores"].back();
  CHECK(place["store"] == "samples");
  CHECK(place["path"].is_null());
  const json taken =
      schema_of("models-1")["properties"]["stores"]["items"]["properties"]["path"]["type"];
  CHECK(std::ranges::count(taken, "null") == 1);
}

}  // namespace attnviz::test
