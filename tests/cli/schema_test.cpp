// The documents that the program writes against the JSON Schema that is published for them.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cli/attnviz_program.h"
#include "support/gguf_writer.h"
#include "support/json.h"

namespace attnviz::test {
namespace {

using nlohmann::json;

const std::string kSchemas = ATTNVIZ_SCHEMAS_DIR "/attnviz.";
const std::string kAttention = kSchemas + "attention-1.schema.json";
const std::string kInspection = kSchemas + "inspection-1.schema.json";
const std::string kInfo = kSchemas + "info-1.schema.json";
const std::string kHeadsSchema = kSchemas + "heads-1.schema.json";
const std::string kWhySchema = kSchemas + "why-1.schema.json";
const std::string kCite = kSchemas + "cite-1.schema.json";
const std::string kDiff = kSchemas + "diff-1.schema.json";

const char* const kKnown = R"({"schema": "attnviz.weights/1", "d_model": 1, "embeddings":
  {"known": [1]}, "layers": [{"heads": [{"W_Q": [[1]], "W_K": [[1]], "W_V": [[1]]}]}]})";

struct SchemaCase {
  const char* name;
  std::vector<std::string> arguments;
};

// Every shape of the document: rectangle, selection, weights from a file, all optional keys.
const std::vector<SchemaCase>& cases() {
  static const std::vector<SchemaCase> all = {
      {"demo.json", {"The cat sat"}},
      {"random.json", {"The cat sat", "--layers", "2"}},
      {"largest-seed.json", {"cat", "--seed", "18446744073709551615"}},
      {"rectangle.json", {"The cat sat", "--layers", "3", "--head", "*.1,*.2"}},
      {"selected.json", {"The cat sat", "--layers", "2", "--head", "0.1,1.2"}},
      {"file.json",
       {"The cat sat on the mat", "-m", ATTNVIZ_SOURCE_DIR "/samples/cat-sat-on-the-mat.json"}},
      {"random-embedding.json", {"known unknown", "-m", "known.json"}},
      {"what-if.json",
       {"--random", "The cat", "--no-scale", "--temperature", "0.5", "--dropout", "0.5", "--mask",
        "none"}},
      {"left-out.json",
       {"The cat sat", "--ablate", "2.1,L3,L0.mlp=mean", "--hide", "sat>cat@1-2.0", "--hide",
        "2->*"}},
      {"drawing.json",
       {"--random", "The cat sat", "--drop-sink", "--scale", "row-max", "--colormap", "blues",
        "--title", "t", "--positions", "rope"}},
      {"lines.json", {"The cat sat.\nIt ran.", "--fold", "lines"}},
      {"average-heads.json", {"The cat sat", "--layers", "2", "--average", "heads"}},
      {"average-all.json",
       {"The cat sat", "--layers", "2", "--head", "0.1,1.2", "--average", "all"}},
      {"rollout.json",
       {"rollout", "The cat sat", "--weighted", "--over", "max", "--residual", "0.25"}},
      {"difference.json", {"diff", "The cat sat", "The dog sat", "--head", "2.1"}},
      {"rollout-heads.json", {"rollout", "The cat sat", "--head", "0.1,1.2"}},
      {"merged.json",
       {"--random", "ab cd", "--tokenizer", "chars", "--merge", "words", "--mask", "window:2"}},
      {"learned.json", {"--ids", "1,2,3", "-m", kModels + "gpt2-tied"}},
      {"scores.json", {"render", "scores-in.json"}},
      {"experts.json", {"-m", kReference + "experts/qwen2moe", "--ids", "1,2,3"}},
      {"encoder-decoder.json",
       {"-m", kReference + "experts/t5-relu-tied", "--ids", "5,6,1", "--decoder-ids", "0,9,10",
        "--predict", "2", "--layer", "1"}},
      {"generated-target.json",
       {"-m", kReference + "experts/marian", "--ids", "5,6,0", "--generate", "2", "--head",
        "0.1,1.2", "--show", "decoder"}},
      {"router.json",
       {"-m", kReference + "experts/qwen2moe", "--ids", "1,2,3", "--show", "router"}},
      {"masked.json", {"The cat sat", "--show", "masked", "--head", "2.1"}},
      {"cross.json", {"render", "scores-in.json", "--tokens", "a b", "--key-tokens", "x y"}},
      {"focus.json", {"--random", "The cat sat", "--focus", "cat", "--as-key"}},
      {"next-tokens.json",
       {"-m", kModels + "gpt2-tied", "--ids", "5,3", "--generate", "2", "--predict", "3"}},
      {"in-place.json", {"-m", kModels + "roberta-mlm", "--ids", "5,3", "--predict", "3"}},
      {"bytes.json", {"--random", "a\xff\x01", "--tokenizer", "bytes"}}};
  return all;
}

// The same for attnviz inspect: all optional keys of heads and of the query.
const std::vector<SchemaCase>& inspections() {
  static const std::vector<SchemaCase> all = {
      {"inspect-demo.json", {"inspect", "The cat sat"}},
      {"inspect-random.json", {"inspect", "--random", "The cat sat", "--query", "cat"}},
      {"inspect-heads.json", {"inspect", "The cat sat", "--layers", "2", "--head", "*.1"}},
      {"inspect-file.json", {"inspect", "known unknown", "-m", "known.json"}},
      {"inspect-biases.json",
       {"inspect", "a b c d e", "-m", ATTNVIZ_SOURCE_DIR "/tests/reference/torch_mha.json"}},
      {"inspect-gemma2.json",
       {"inspect", "--ids", "5,17,3", "-m", kModels + "gemma2-softcap-window"}},
      {"inspect-qwen3.json", {"inspect", "--ids", "5,17,3", "-m", kModels + "qwen3-qk-norm"}},
      {"inspect-latents.json",
       {"inspect", "--ids", "5,17,3", "-m", kReference + "experts/deepseek3"}},
      {"inspect-bert.json", {"inspect", "--ids", "5,17,3", "-m", kModels + "bert-pair"}},
      {"inspect-yarn.json", {"inspect", "--ids", "5,17,3", "-m", kModels + "llama-rope-yarn"}},
      {"inspect-gemma3n.json",
       {"inspect", "--ids", "5,17,3", "-m", kReference + "experts/gemma3n"}},
      {"inspect-gpt2.json", {"inspect", "--ids", "5,17", "-m", kModels + "gpt2-tied"}},
      {"inspect-left-out.json", {"inspect", "The cat sat", "--ablate", "2.1", "--hide", "sat>cat"}},
      {"inspect-what-if.json",
       {"inspect", "--random", "The cat", "--no-scale", "--dropout", "0.5", "--positions", "alibi",
        "--query", "0"}}};
  return all;
}

// The same for attnviz heads: all sources, one text and several.
const std::vector<SchemaCase>& scored_heads() {
  static const std::vector<SchemaCase> all = {
      {"heads-probe.json", {"heads"}},
      {"heads-one-probe.json", {"heads", "--probe-count", "1", "--probe-repeats", "2"}},
      {"heads-probe-ids.json", {"heads", "--probe-ids", "probes.json"}},
      {"heads-text.json", {"heads", "The cat saw the dog.", "--transformer-lens"}},
      {"heads-corpus.json", {"heads", "--lines", "-f", "lines.txt"}},
      {"heads-short.json", {"heads", "cat", "--no-bos"}},
      {"heads-file.json", {"heads", "pattern.json"}},
      {"heads-file-ids.json", {"heads", "pattern.json", "--ids", "7,7", "--transformer-lens"}},
      {"heads-random.json",
       {"heads", "--random", "--layers", "2", "--head", "0.1,1.0", "--mask", "window:3"}},
      {"heads-bert.json", {"heads", "--ids", "5,17,3,5", "-m", kModels + "bert-pair"}},
      {"heads-gemma2.json",
       {"heads", "-m", kModels + "gemma2-softcap-window", "--probe-length", "5", "--no-scale"}},
      {"heads-left-out.json",
       {"heads", "--lines", "-f", "lines.txt", "--ablate", "L0=mean", "--hide", "*>0"}},
      {"heads-dropout.json",
       {"heads", "--random", "The cat", "--dropout", "0.5", "--temperature", "2"}}};
  return all;
}

// The same for attnviz why: a prediction with all parts, one alone, and a score.
const std::vector<SchemaCase>& explained() {
  static const std::vector<SchemaCase> all = {
      {"why.json", {"why", "Harry Potter is a wizard. Harry"}},
      {"why-mean.json",
       {"why", "The cat sat", "--ablate-each", "heads,mlps", "--by", "mean", "--at", "cat",
        "--no-scale", "--temperature", "0.5"}},
      {"why-biases.json", {"why", "--ids", "5,17,3,5", "-m", kModels + "gpt2-tied"}},
      {"why-score.json",
       {"why", "Harry Potter is a wizard. Harry", "--head", "2.1", "--query", "-1", "--key",
        "Potter"}}};
  return all;
}

// The same for attnviz cite: documents and a prompt, answers of the model and given ones.
const std::vector<SchemaCase>& citations() {
  static const std::vector<SchemaCase> all = {
      {"cite-written.json", {"cite", "The cat sat. It was tired. The cat", "--generate", "3"}},
      {"cite-spans.json", {"cite", "The cat sat on it", "--span-words", "2", "--generate", "1"}},
      {"cite-given.json",
       {"cite", "--doc", "lines.txt", "Who sat?", "--answer", "The cat", "--retrieval-heads"}}};
  return all;
}

// The same for attnviz diff: texts of one length and of two, models.
const std::vector<SchemaCase>& comparisons() {
  static const std::vector<SchemaCase> all = {
      {"diff-texts.json", {"diff", "The cat sat", "The dog sat"}},
      {"diff-lengths.json", {"diff", "The cat sat", "The big cat sat", "--temperature", "2"}},
      {"diff-random.json", {"diff", "--random", "The cat", "A dog", "--mask", "window:1"}},
      {"diff-models.json", {"diff", "-m", "demo", "-m", "demo", "The cat"}},
      {"diff-bert.json",
       {"diff", "-m", kModels + "bert-pair", "-m", kModels + "bert-pair", "--ids", "5,17,3"}}};
  return all;
}

// attnviz info and models print; the others write files.
const std::vector<SchemaCase>& infos() {
  static const std::vector<SchemaCase> all = {
      {"info-numbers.json", {"info", "--d-model", "12288", "--heads", "96", "--layers", "96"}},
      {"info-json.json", {"info", ATTNVIZ_SOURCE_DIR "/samples/four-heads.json"}},
      {"info-demo.json", {"info"}},
      {"info-bert.json", {"info", kReference + "models/bert-pair"}},
      {"info-gpt2.json", {"info", kReference + "models/gpt2-tied"}},
      {"info-latents.json", {"info", kReference + "experts/deepseek2-lite"}},
      {"info-gemma.json", {"info", kReference + "models/gemma3-local-global"}},
      {"info-gemma3n.json", {"info", kReference + "experts/gemma3n"}},
      {"info-gemma4.json", {"info", kReference + "experts/gemma4-moe"}},
      {"info-phi.json", {"info", kReference + "models/phi3-longrope-long"}}};
  return all;
}

// A model that can be read and one that cannot, in the stores of Documents; and no store at all.
const std::vector<SchemaCase>& listings() {
  static const std::vector<SchemaCase> all = {{"models.json", {"models"}}};
  return all;
}

// The documents of all cases, by name.
class Documents {
 public:
  explicit Documents(const std::vector<SchemaCase>& cases) {
    write_file(folder_.file("known.json"), kKnown);
    write_file(folder_.file("scores-in.json"), "[[-3, 1], [2, 0]]");
    write_file(folder_.file("pattern.json"), "[[1, 0], [0.25, 0.75]]");
    write_file(folder_.file("probes.json"), "[[0, 5, 6, 5, 6]]");
    write_file(folder_.file("lines.txt"), "The cat sat\nA dog\n");
    const std::string tiny = folder_.file("hub/models--tiny/snapshots/1");
    const std::string broken = folder_.file("ollama/manifests/registry.ollama.ai/library/broken");
    std::filesystem::create_directories(tiny);
    std::filesystem::create_directories(broken);
    write_file(tiny + "/tiny.gguf", GgufWriter()
                                        .text("general.architecture", "llama")
                                        .u32("llama.block_count", 1)
                                        .zeros("token_embd.weight", {4, 2})
                                        .file());
    write_file(broken + "/latest", "[");
    for (const SchemaCase& item : cases) {
      ProgramRun run;
      run.folder = folder_.path();
      run.environment = {{"OLLAMA_MODELS", "ollama"}, {"HF_HUB_CACHE", "hub"}};
      run.arguments = item.arguments;
      const bool prints = item.arguments.front() == "info" || item.arguments.front() == "models";
      for (const char* argument :
           prints ? std::vector{"--json"} : std::vector{"-q", "-o", item.name}) {
        run.arguments.emplace_back(argument);
      }
      const ProgramResult result = attnviz(run);
      REQUIRE(result.exit_code == 0);
      if (prints) {
        write_file(folder_.file(item.name), result.out);
      }
    }
  }
  const TemporaryFolder& folder() const { return folder_; }
  json operator[](const std::string& name) const { return read_json(folder_.file(name)); }

 private:
  TemporaryFolder folder_;
};

ProgramResult validate(const std::string& schema, const TemporaryFolder& folder,
                       std::vector<std::string> names) {
  names.insert(names.begin(), {ATTNVIZ_SOURCE_DIR "/tests/model/validate_json.py", schema});
  ProgramRun run;
  run.folder = folder.path();
  run.arguments = std::move(names);
  return run_program("/usr/bin/python3", run);
}

constexpr int kSkipped = 77;  // the validator's code when it lacks a module

// All are valid, and without the key `needed` the first is not.
void check_valid(const std::string& schema, const std::vector<SchemaCase>& cases,
                 const char* needed) {
  const Documents documents(cases);
  const TemporaryFolder& folder = documents.folder();
  std::vector<std::string> names;
  names.reserve(cases.size());
  for (const SchemaCase& item : cases) {
    names.emplace_back(item.name);
  }
  json broken = documents[names.front()];
  broken.erase(needed);
  write_file(folder.file("broken.json"), broken.dump());

  if (!std::filesystem::exists("/usr/bin/python3") ||
      validate(schema, folder, {}).exit_code == kSkipped) {
    MESSAGE("SKIPPED: needs python3 with the module jsonschema (Debian: python3-jsonschema)");
    return;
  }
  const ProgramResult valid = validate(schema, folder, names);
  CAPTURE(valid.out);
  CAPTURE(valid.err);
  CHECK(valid.exit_code == 0);
  CHECK(validate(schema, folder, {"broken.json"}).exit_code == 1);
}

// Every key is among the properties, or among those of the definitions that all of it follows.
void check_described(const json& schema, const json& described, const json& object) {
  json properties = described["properties"];
  for (const json& other : described.value("allOf", json::array())) {
    const std::string at = other["$ref"].get<std::string>().substr(1);
    properties.update(schema.at(json::json_pointer(at))["properties"]);
  }
  for (const auto& entry : object.items()) {
    CAPTURE(entry.key());
    CHECK(properties.contains(entry.key()));
  }
}

void check_described(const json& schema, const json& object) {
  check_described(schema, schema, object);
}

}  // namespace

TEST_CASE("every attention document is valid by its schema") {
  check_valid(kAttention, cases(), "heads");
}

TEST_CASE("every info document is valid by its schema") {
  check_valid(kInfo, infos(), "parameters");
}

TEST_CASE("every comparison is valid by its schema, which describes all of its keys") {
  check_valid(kDiff, comparisons(), "alignment");
  const json schema = read_json(kDiff);
  const Documents documents(comparisons());
  for (const SchemaCase& item : comparisons()) {
    const json document = documents[item.name];
    check_described(schema, document);
    check_described(schema, schema["$defs"]["side"], document["b"]);
    check_described(schema, schema["properties"]["heads"]["items"], document["heads"][0]);
    for (const json& departure : document.value("departures", json::array())) {
      check_described(schema, schema["$defs"]["departure"], departure);
    }
  }
}

TEST_CASE("every listing of models, and the list of families, is valid by its schema") {
  check_valid(kSchemas + "models-1.schema.json", listings(), "stores");
  check_valid(kSchemas + "families-1.schema.json", {{"families.json", {"info", "--families"}}},
              "families");
}

TEST_CASE("every inspection document is valid by its schema") {
  check_valid(kInspection, inspections(), "heads");
}

TEST_CASE("the schema describes every key of an inspection document") {
  const json schema = read_json(kInspection);
  const Documents documents(inspections());
  for (const SchemaCase& item : inspections()) {
    const json document = documents[item.name];
    check_described(schema, document);
    check_described(schema, schema["$defs"]["model"], document["model"]);
    for (const json& head : document["heads"]) {
      check_described(schema, schema["$defs"]["head"], head);
      check_described(schema, schema["$defs"]["steps"], head["for_query"]);
    }
  }
}

TEST_CASE("every document of citations is valid by its schema, which describes every key") {
  check_valid(kCite, citations(), "answer");
  const json schema = read_json(kCite);
  const Documents documents(citations());
  for (const SchemaCase& item : citations()) {
    const json document = documents[item.name];
    check_described(schema, document);
    check_described(schema, schema["properties"]["answer"], document["answer"]);
    check_described(schema, schema["$defs"]["model"], document["model"]);
    check_described(schema, schema["$defs"]["sentence"], document["documents"][0]["sentences"][0]);
  }
}

TEST_CASE("every document of scores is valid by its schema") {
  check_valid(kHeadsSchema, scored_heads(), "sink_rate");
}

TEST_CASE("every explanation is valid by its schema") {
  check_valid(kWhySchema, explained(), "at");
}

TEST_CASE("the schema describes every key of an explanation") {
  const json schema = read_json(kWhySchema);
  const json& properties = schema["properties"];
  const auto check_items = [&schema](const json& described, const json& list) {
    for (const json& item : list) {
      check_described(schema, described["items"], item);
    }
  };
  const Documents documents(explained());
  for (const SchemaCase& item : explained()) {
    const json document = documents[item.name];
    check_described(schema, document);
    check_items(properties["tokens_lost"], document.value("tokens_lost", json::array()));
    check_items(properties["lens"], document.value("lens", json::array()));
    if (document.contains("attribution")) {
      check_described(schema, properties["attribution"], document["attribution"]);
      check_items(properties["attribution"]["properties"]["parts"],
                  document["attribution"]["parts"]);
    }
    if (document.contains("ablation")) {
      check_described(properties["ablation"], document["ablation"]);
      for (const json& head : document["ablation"]["heads"]) {
        check_described(schema, schema["$defs"]["ablated"], head);
      }
    }
    if (document.contains("score")) {
      check_described(schema, properties["score"], document["score"]);
    }
  }
}

TEST_CASE("sums of scores, also merged ones, are valid by their schema") {
  const TemporaryFolder folder;
  write_file(folder.file("a.txt"), "The cat sat on it\n\nA dog\n");
  for (const char* part : {"a.json", "b.json"}) {
    REQUIRE(in_folder(folder, {"heads", "--lines", "-f", "a.txt", "--partial", part, "-q", "-o",
                               "scores.json"})
                .exit_code == 0);
  }
  REQUIRE(in_folder(folder, {"merge", "a.json", "b.json", "-o", "all.json"}).exit_code == 0);
  REQUIRE(in_folder(folder, {"heads", "--lines", "-f", "a.txt", "--partial", "c.json", "-q", "-o",
                             "scores.json", "--no-bos", "--special", "--truncate", "left",
                             "--punctuation", "0,1", "--ablate", "2.1", "--hide", "*>0@1"})
              .exit_code == 0);
  json broken = read_json(folder.file("a.json"));
  broken["heads"][0]["raw"]["previous"] = 0.5;
  write_file(folder.file("broken.json"), broken.dump());
  const std::string schema = kSchemas + "heads-partial-1.schema.json";
  if (!std::filesystem::exists("/usr/bin/python3") ||
      validate(schema, folder, {}).exit_code == kSkipped) {
    MESSAGE("SKIPPED: needs python3 with the module jsonschema (Debian: python3-jsonschema)");
    return;
  }
  const ProgramResult valid = validate(schema, folder, {"a.json", "all.json", "c.json"});
  CHECK(valid.out == "");
  CHECK(valid.exit_code == 0);
  CHECK(validate(schema, folder, {"broken.json"}).exit_code == 1);
}

TEST_CASE("the schema describes every key of a document of scores") {
  const json schema = read_json(kHeadsSchema);
  const json& parts = schema["$defs"];
  const Documents documents(scored_heads());
  for (const SchemaCase& item : scored_heads()) {
    const json document = documents[item.name];
    check_described(schema, document);
    check_described(schema, parts["scores"], document["null"]);
    const json& source = document["source"];
    check_described(schema, parts[source["kind"].get<std::string>()], source);
    for (const json& head : document["heads"]) {
      check_described(schema, parts["head"], head);
    }
    for (const json& head : document.value("transformer_lens", json::array())) {
      check_described(schema, parts["detected_head"], head);
      check_described(schema, parts["detected"], head["induction_head"]);
    }
  }
}

TEST_CASE("the schema describes every key of an attention document") {
  const json schema = read_json(kAttention);
  const Documents documents(cases());
  for (const SchemaCase& item : cases()) {
    const json document = documents[item.name];
    check_described(schema, document);
    check_described(schema, schema["$defs"]["model"], document["model"]);
  }
}

}  // namespace attnviz::test
