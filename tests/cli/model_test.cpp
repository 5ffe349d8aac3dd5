// The program with models as Hugging Face's tools write them.

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "attnviz/core/mapped_file.h"
#include "attnviz/formats/safetensors.h"
#include "cli/attnviz_program.h"
#include "support/json.h"
#include "support/stored_model.h"

namespace attnviz::test {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// A word-level tokenizer whose ids are those of the words in order.
std::string tokenizer_json() {
  json vocabulary;
  for (const char* word : {"[UNK]", "the", "cat", "sat", "on", "a", "mat"}) {
    vocabulary[word] = vocabulary.size();
  }
  return json{{"version", "1.0"},
              {"added_tokens", json::array()},
              {"normalizer", nullptr},
              {"pre_tokenizer", {{"type", "Whitespace"}}},
              {"post_processor", nullptr},
              {"decoder", nullptr},
              {"model", {{"type", "WordLevel"}, {"vocab", vocabulary}, {"unk_token", "[UNK]"}}}}
      .dump();
}

std::string ids_of(const StoredTensor& tensor) {
  std::string ids;
  for (std::size_t i = 0; i < tensor.n_numbers(); ++i) {
    std::int64_t id = 0;
    std::memcpy(&id, tensor.bytes.data() + i * sizeof(id), sizeof(id));
    ids += (i == 0 ? "" : ",") + std::to_string(id);
  }
  return ids;
}

}  // namespace

TEST_CASE("the document of a model with learned positions can be drawn again") {
  const ProgramResult written = attnviz({"-m", kModels + "gpt2-tied", "--ids", "1,2,3", "--json"});
  CHECK(parse_json(written.out)["model"]["positions"] == "learned");
  const ProgramResult drawn = attnviz({"render"}, written.out);
  CHECK(drawn.err.empty());
  CHECK(drawn.exit_code == 0);
}

TEST_CASE("a Hugging Face folder: ids in, the reference's attention out") {
  for (const char* name : {"gpt2-tied", "llama-sharded-bf16", "gemma2-softcap-window"}) {
    CAPTURE(name);
    const MappedFile file(fs::path(kModels) / name / "expected.safetensors");
    const Safetensors expected(file.bytes(), name);
    const json document =
        attnviz_json({"-m", kModels + name, "--ids", ids_of(*expected.find("ids"))});
    CHECK(document["model"]["name"] == name);
    const StoredTensor& attention = *expected.find("attention");
    double largest = 0.0;
    std::size_t i = 0;
    for (const json& layer : document["attention"]) {
      for (const json& head : layer) {
        for (const json& row : head) {
          for (const json& weight : row) {
            float number = 0.0f;
            std::memcpy(&number, attention.bytes.data() + i++ * sizeof(number), sizeof(number));
            largest =
                std::max(largest, std::abs(weight.get<double>() - static_cast<double>(number)));
          }
        }
      }
    }
    CHECK(i == attention.n_numbers());
    CHECK(largest < 1e-5);
  }
}

TEST_CASE("one file of several stands for all of them, as the index beside it says") {
  const fs::path folder = kModels + "llama-sharded-bf16";
  const json whole = attnviz_json({"-m", folder, "--ids", "5,6,7"});
  const json shard =
      attnviz_json({"-m", folder / "model-00002-of-00003.safetensors", "--ids", "5,6,7"});
  CHECK(shard["attention"] == whole["attention"]);
}

TEST_CASE("a model by name: the snapshot in the Hugging Face cache, with its tokenizer") {
  const TemporaryFolder home;
  const fs::path repository = home.path() / "hub" / "models--some--tiny";
  const fs::path snapshot = repository / "snapshots" / "abc123";
  fs::create_directories(snapshot);
  fs::create_directories(repository / "snapshots" / "other");
  fs::create_directories(repository / "refs");
  write_file(repository / "refs" / "main", "abc123");
  copy_model("llama-mha-untied", snapshot);
  write_file(snapshot / "tokenizer.json", tokenizer_json());
  ProgramRun run;
  run.environment = {{"HF_HOME", home.path()}};
  run.arguments = {"-m", "some/tiny", "the cat sat", "--json"};
  const ProgramResult result = attnviz(run);
  REQUIRE(result.exit_code == 0);
  const json document = parse_json(result.out);
  CHECK(document["tokens"] == json({"the", "cat", "sat"}));
  CHECK(document["token_ids"] == json({1, 2, 3}));
  CHECK(document["model"]["name"] == "some/tiny");
  CHECK(document["model"]["tokenizer"] == "WordLevel");

  run.arguments = {"tokenize", "-m", "some/tiny", "a mat", "--json"};
  CHECK(parse_json(attnviz(run).out)["tokens"].size() == 2);

  run.arguments = {"-m", "some/other", "the cat"};
  const ProgramResult missing = attnviz(run);
  CHECK(missing.exit_code == 1);
  CHECK(mentions(missing.err, {(home.path() / "hub").string(), "some/other"}));
}

TEST_CASE("a model without a tokenizer takes ids, and says what a text would need") {
  const std::string model = kModels + "gpt2-tied";
  const ProgramResult text = attnviz({"-m", model, "the cat"});
  CHECK(text.exit_code == 1);
  CHECK(mentions(text.err, {"tokenizer.json", "--ids"}));
  const TemporaryFolder folder;
  write_file(folder.file("tokenizer.json"), tokenizer_json());
  const json given =
      attnviz_json({"-m", model, "the cat", "--tokenizer", folder.file("tokenizer.json")});
  CHECK(given["token_ids"] == json({1, 2}));
  CHECK(attnviz({"-m", model, "the cat", "--tokenizer", "words"}).exit_code == 2);
}

TEST_CASE("an output never replaces a file of the model it is computed with") {
  const TemporaryFolder folder;
  copy_model("gpt2-tied", folder.path());
  const std::string before = read_file(folder.file("config.json"));
  for (const char* name : {"config.json", "model.safetensors"}) {
    const ProgramResult run =
        attnviz({"-m", folder.path(), "--ids", "1,2", "-o", folder.file(name), "--format", "json"});
    CHECK(run.exit_code == 2);
  }
  CHECK(read_file(folder.file("config.json")) == before);
}

TEST_CASE("what a real model cannot do is refused with the reason") {
  const std::string model = kModels + "roberta-mlm";
  std::string ids = "5";
  for (int i = 0; i < 500; ++i) {
    ids += ",5";
  }
  const ProgramResult longer = attnviz({"-m", model, "--ids", ids});
  CHECK(longer.exit_code == 2);
  CHECK(contains(longer.err, "501 tokens"));
  const ProgramResult beyond = attnviz({"-m", model, "--ids", "4000000000"});
  CHECK(beyond.exit_code == 2);
  CHECK(contains(beyond.err, "4000000000"));
}

}  // namespace attnviz::test
