// Whole models in GGUF form against independent forward passes: tests/reference/gguf/README.md.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "attnviz/attention/engine.h"
#include "attnviz/core/error.h"
#include "attnviz/core/mapped_file.h"
#include "attnviz/formats/npy.h"
#include "attnviz/model/stored_model.h"
#include "support/json.h"
#include "support/model_run.h"
#include "support/reference_case.h"

namespace attnviz {

namespace {

namespace fs = std::filesystem;

const fs::path kGguf = ATTNVIZ_SOURCE_DIR "/tests/reference/gguf";
const fs::path kSharedGguf = ATTNVIZ_SOURCE_DIR "/../shared/reference/gguf";

MatrixBuffer read_array(const fs::path& path) {
  const MappedFile file(path);
  return read_npy(file.bytes(), path.string()).values;
}

// Numbers computed by another program: all patterns, and the last position's logits.
void check_last_logits(const Model& model, const std::vector<std::uint32_t>& ids,
                       const fs::path& attention, const fs::path& logits) {
  const test::ModelRun found = test::run_model(model, {ids, {}});
  CHECK(test::largest_difference(found.attention, test::all_of(read_array(attention))) < 1e-5);
  const MatrixBuffer last =
      run_output_head(model, found.stream.view().row_block(ids.size() - 1, 1), 1);
  CHECK(test::largest_difference(test::all_of(last), test::all_of(read_array(logits))) < 1e-4);
}

// Checks each folder's files against its numbers; returns how many were read.
std::size_t check_dialects(const fs::path& dialects, std::initializer_list<const char*> files) {
  std::size_t n_read = 0;
  for (const fs::directory_entry& folder : fs::directory_iterator(dialects)) {
    if (!folder.is_directory()) {
      continue;
    }
    for (const char* file : files) {
      const std::string path = (folder.path() / file).string();
      CAPTURE(path);
      try {
        const test::ReferenceCase expected =
            test::load_reference_case(folder.path() / "expected.safetensors", load_gguf(path));
        const test::ModelRun found = test::run_model(expected.model, expected.text);
        CHECK(test::largest_difference(test::of_attention(expected.model, found.attention),
                                       expected.attention) < 2e-5);
        ++n_read;
      } catch (const Error& error) {
        const std::string what = error.what();
        FAIL_CHECK(what);
      }
    }
  }
  return n_read;
}

}  // namespace

TEST_CASE(
    "every architecture and type of GGUF: attention within 1e-5, logits within 1e-4 of float64") {
  const nlohmann::json index = test::read_json(kGguf / "models/index.json");
  REQUIRE(index.size() >= 30);
  for (const nlohmann::json& entry : index) {
    const std::string file = entry["file"];
    CAPTURE(file);
    const fs::path numbers = kGguf / "models" / entry["expected"].get<std::string>();
    test::check_numbers(test::load_reference_case(numbers, load_gguf(kGguf / "models" / file)));
  }
}

TEST_CASE("a model's description is the same from GGUF and from Hugging Face") {
  const Model gguf = load_gguf(kGguf / "models/llama-gqa-bias.gguf");
  const Model hf = load_hugging_face(ATTNVIZ_SOURCE_DIR "/tests/reference/models/llama-gqa-bias");
  CHECK(gguf.config.name == "llama-gqa-bias");
  CHECK(gguf.config.family == hf.config.family);
  CHECK(gguf.config.n_ctx == hf.config.n_ctx);
  CHECK(gguf.config.d_model == hf.config.d_model);
  CHECK(gguf.n_layers() == hf.n_layers());
  CHECK(gguf.n_heads() == hf.n_heads());
  CHECK(key_value_heads(gguf.layers[0]) == key_value_heads(hf.layers[0]));
  CHECK(gguf.layers[0].rope->pairing == RopePairing::kNeighbours);
  CHECK(hf.layers[0].rope->pairing == RopePairing::kHalves);
}

TEST_CASE("files written by llama.cpp's tools agree with float64 passes over their weights") {
  if (!fs::exists(kSharedGguf)) {
    MESSAGE("SKIPPED: no ../shared/reference/gguf");
    return;
  }
  for (const fs::directory_entry& folder : fs::directory_iterator(kSharedGguf / "refs")) {
    const nlohmann::json meta = test::read_json(folder.path() / "meta.json");
    const std::string file = meta["file"];
    CAPTURE(file);
    const Model model = load_gguf(kSharedGguf / "models" / file);
    for (const auto& prompt : meta["prompts"].items()) {
      const std::string& name = prompt.key();
      CAPTURE(name);
      check_last_logits(model, prompt.value()["ids"], folder.path() / (name + ".attn.npy"),
                        folder.path() / (name + ".logits.npy"));
    }
  }
}

TEST_CASE("Ollama's files of each dialect hold the expected models") {
  CHECK(check_dialects(ATTNVIZ_SOURCE_DIR "/tests/reference/dialects", {"ollama.gguf"}) >= 12);
}

TEST_CASE("Ollama's files hold the same models as llama.cpp's") {
  const fs::path dialects = ATTNVIZ_SOURCE_DIR "/../shared/reference/dialects";
  if (!fs::exists(dialects)) {
    MESSAGE("SKIPPED: no ../shared/reference/dialects");
    return;
  }
  CHECK(check_dialects(dialects, {"ollama.gguf", "llamacpp.gguf"}) >= 26);
}

TEST_CASE("unusual but valid GGUF files hold the expected model") {
  if (!fs::exists(kSharedGguf)) {
    MESSAGE("SKIPPED: no ../shared/reference/gguf");
    return;
  }
  const nlohmann::json index = test::read_json(kSharedGguf / "odd/index.json");
  for (const nlohmann::json& entry : index["files"]) {
    const std::string file = entry["file"];
    CAPTURE(file);
    check_last_logits(load_gguf(kSharedGguf / "odd" / file), index["ids"],
                      kSharedGguf / "odd/ref.attn.npy", kSharedGguf / "odd/ref.logits.npy");
  }
}

}  // namespace attnviz
