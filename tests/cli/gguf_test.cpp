// Models in GGUF form through the program: faulty ones are refused, others are described.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/attnviz_program.h"
#include "support/json.h"

namespace attnviz::test {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

// Each edit: the offset in the unedited file, the number of bytes, and what replaces them.
std::string edited(const std::string& base, const json& edits) {
  std::string bytes;
  std::size_t done = 0;
  for (const json& edit : edits) {
    const std::size_t at = edit[0];
    bytes += base.substr(done, at - done) + from_hex(edit[2]);
    done = at + edit[1].get<std::size_t>();
  }
  return bytes + base.substr(done);
}

// The first tokens of any vocabulary, and every head.
ProgramResult look_at(const fs::path& model) {
  return attnviz({"-m", model.string(), "--ids", "1,2,3", "--style", "ascii"});
}

}  // namespace

TEST_CASE("faulty GGUF models are refused with the file's name, and without a drawing") {
  const json index = read_json(kReference + "gguf/bad/index.json");
  REQUIRE(index.size() >= 30);
  const TemporaryFolder folder;
  const std::string file = folder.file("faulty.gguf");
  for (const json& fault : index) {
    const std::string what = fault["what"];
    CAPTURE(what);
    const std::string base =
        read_file(kReference + "gguf/models/" + fault["base"].get<std::string>());
    write_file(file, edited(base, fault["edits"]));
    const ProgramResult run = look_at(file);
    CAPTURE(run.err);
    const std::vector<int> allowed = fault["exit"];
    CHECK(std::ranges::count(allowed, run.exit_code) == 1);
    if (run.exit_code != 0) {
      CHECK(contains(run.err, "faulty"));
      CHECK(run.out.empty());
    }
  }
}

TEST_CASE("corrupted GGUF files end as their index expects") {
  if (!fs::exists(kSharedReference + "gguf")) {
    MESSAGE("SKIPPED: no ../shared/reference/gguf");
    return;
  }
  const json index = read_json(kSharedReference + "gguf/bad/index.json");
  for (const json& entry : index["files"]) {
    const std::string file = entry["file"];
    const std::string expect = entry["expect"];
    CAPTURE(file);
    CAPTURE(expect);
    const ProgramResult run = look_at(fs::path(kSharedReference + "gguf/bad") / file);
    CAPTURE(run.err);
    const bool is_refused = run.exit_code == 3 || run.exit_code == 4 || run.exit_code == 1;
    CHECK((is_refused || (expect == "either" && run.exit_code == 0)));
    if (is_refused) {
      CHECK(contains(run.err, fs::path(file).stem().string().substr(0, 7)));
    }
    if (expect == "nan") {
      CHECK((contains(run.err, "finite") || contains(run.err, "nan")));
    }
  }
}

TEST_CASE("info prints a GGUF file's metadata, its types, and the bits of a weight") {
  const std::string model = kReference + "gguf/models/llama-q4_k_m.gguf";
  const ProgramResult text = attnviz({"info", "-m", model});
  CHECK(text.exit_code == 0);
  CHECK(mentions(text.out, {"GGUF version 3", "little-endian", "llama.block_count"}));
  const json document = attnviz_json({"info", "-m", model});
  CHECK(document["file"]["format"] == "gguf");
  CHECK(document["file"]["metadata"]["general.architecture"] == "llama");
  CHECK(document["file"]["metadata"]["llama.block_count"].is_number_unsigned());
  std::vector<std::string> types;
  for (const json& type : document["weights"]["stored"]) {
    types.push_back(type["type"]);
    CHECK(type["tensors"].get<int>() > 0);
  }
  CHECK(std::ranges::count(types, "Q4_K") == 1);
  CHECK(std::ranges::count(types, "Q6_K") == 1);
}

TEST_CASE("info: keys of a GGUF file cannot control the terminal; numbers are as in the file") {
  const TemporaryFolder folder;
  const std::string file = folder.file("keys.gguf");
  std::string bytes = read_file(kReference + "gguf/models/llama-q8-q5.gguf");
  const std::string key = "general.architecture";
  const std::string name = "general.type";  // a string that nothing reads
  const std::size_t at = bytes.find(name);
  REQUIRE(bytes.find(key) != std::string::npos);
  REQUIRE(at != std::string::npos);
  bytes.replace(at, name.size(), "a\x1B[31mb\ncdef");
  write_file(file, bytes);
  const ProgramResult run = attnviz({"info", "-m", file, "--color", "never"});
  CHECK(run.exit_code == 0);
  CHECK(!contains(run.out, "\x1B"));
  CHECK(!contains(run.out, "b\ncdef"));
}

TEST_CASE("a model is named after its file, without the number of a shard") {
  const TemporaryFolder folder;
  const std::string model = folder.file("The-best-of-world.gguf");
  write_file(model, read_file(kReference + "gguf/models/llama-q8-q5.gguf"));
  CHECK(attnviz_json({"info", "-m", model})["model"]["name"] == "The-best-of-world");
  const std::string split = kReference + "gguf/models/llama-q8-q5-split-00002-of-00003.gguf";
  CHECK(attnviz_json({"info", "-m", split})["model"]["name"] == "llama-q8-q5-split");
}

TEST_CASE("linear scaling leaves a GGUF model the context that its file states") {
  const json document =
      attnviz_json({"info", "-m", kReference + "gguf/models/llama-rope-linear.gguf"});
  CHECK(document["shape"]["n_ctx"] == document["file"]["metadata"]["llama.context_length"]);
}

TEST_CASE("-v says which file of a folder is read") {
  const TemporaryFolder folder;
  fs::create_directories(folder.path() / "m" / "below");
  fs::copy_file(kReference + "gguf/models/llama-q8-q5.gguf", folder.path() / "m/below/a.gguf");
  ProgramRun run;
  run.folder = folder.path();
  run.arguments = {"-m", "m", "-v", "hi"};
  const std::string said = attnviz(run).err;
  CHECK(contains(said, "m/below/a.gguf\n"));
  CHECK(said.find("m/below/a.gguf") == said.rfind("m/below/a.gguf"));
}

}  // namespace attnviz::test
