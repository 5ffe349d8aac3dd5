// Unknown keys and tensors in a model's files: the model is drawn, and they are named.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "cli/attnviz_program.h"
#include "support/gguf_writer.h"
#include "support/stored_model.h"

namespace attnviz::test {

namespace {

using nlohmann::json;

using Keys = std::vector<std::string>;

// A folder with a small model whose config has further keys; a text is ids.
struct OddModel {
  explicit OddModel(const Keys& keys, const std::string& model = "llama-mha-untied") {
    copy_model(model, folder.path());
    for (const std::string& key : keys) {
      change_config(folder.path(), key, "x");
    }
  }

  ProgramResult run(Keys arguments) const {
    arguments.insert(arguments.end(), {"-m", folder.path().string()});
    return attnviz(std::move(arguments));
  }
  std::string name() const { return folder.path().filename().string(); }

  TemporaryFolder folder;
};

const Keys kIds = {"--ids", "1,2,3"};

Keys with_ids(Keys arguments) {
  arguments.insert(arguments.end(), kIds.begin(), kIds.end());
  return arguments;
}

}  // namespace

TEST_CASE("unknown keys: a model is drawn, and one line names the first few and how many more") {
  const OddModel two({"badwordsids", "welcome"});
  const ProgramResult run = two.run(kIds);
  CHECK(run.exit_code == 0);
  CHECK(contains(run.out, "L1H1"));
  CHECK(mentions(run.err, {two.name(), "badwordsids", "welcome", "-v", "--strict"}));
  const OddModel many({"k1", "k2", "k3", "k4", "k5", "k6", "k7"});
  const std::string few = many.run(kIds).err;
  CHECK(mentions(few, {"k1, k2, k3, k4, k5", "2", "-v"}));
  CHECK_FALSE(contains(few, "k6"));
  const std::string all = many.run(with_ids({"-v"})).err;
  CHECK(mentions(all, {"attnviz", "k1", "k7"}));
  CHECK(many.run(with_ids({"-q"})).err.empty());
  const OddModel none({});
  CHECK_FALSE(contains(none.run(kIds).err, "--strict"));
}

TEST_CASE("unknown keys: --strict ends every command that takes a model with code 4") {
  const OddModel odd({"welcome"});
  const std::vector<Keys> commands = {with_ids({}),
                                      with_ids({"rollout"}),
                                      with_ids({"inspect"}),
                                      with_ids({"heads"}),
                                      with_ids({"why"}),
                                      {"info"},
                                      {"diff", "a", "b"},
                                      {"tour", "--all", "a"},
                                      {"meaning", "a", "--in", "a", "--in", "a b"},
                                      {"cite", "a", "--answer", "b"}};
  for (Keys arguments : commands) {
    CAPTURE(arguments.front());
    arguments.emplace_back("--strict");
    const ProgramResult run = odd.run(arguments);
    CHECK(run.exit_code == 4);
    CHECK(mentions(run.err, {"welcome", "--strict"}));
    CHECK(run.out.empty());
  }
  CHECK(OddModel({}).run(with_ids({"--strict"})).exit_code == 0);
}

TEST_CASE("unknown keys: info, documents, pictures and pages name them") {
  const OddModel odd({"badwordsids", "welcome"});
  CHECK(mentions(odd.run({"info"}).out, {"badwordsids", "welcome"}));
  const json info = parse_json(odd.run({"info", "--json"}).out);
  CHECK(info["model"]["unknown_keys"] == Keys{"badwordsids", "welcome"});
  for (const char* command : {"show", "inspect", "heads", "why"}) {
    CAPTURE(command);
    const json document = parse_json(odd.run(with_ids({command, "--json"})).out);
    CHECK(document["model"]["unknown_keys"] == Keys{"badwordsids", "welcome"});
  }
  const std::string note = "badwordsids, welcome";
  const TemporaryFolder folder;
  for (const char* file : {"a.svg", "a.html", "a.json"}) {
    CHECK(odd.run(with_ids({"-q", "-o", folder.file(file)})).exit_code == 0);
  }
  CHECK(contains(read_file(folder.file("a.svg")), note));
  CHECK(contains(read_file(folder.file("a.html")), note));
  // And what is drawn from a document says it, too.
  const ProgramResult drawn =
      attnviz({"render", folder.file("a.json"), "-o", folder.file("b.svg")});
  CHECK(drawn.exit_code == 0);
  CHECK(contains(read_file(folder.file("b.svg")), note));
  CHECK(contains(odd.run(with_ids({"inspect"})).out, note));
}

TEST_CASE("unknown keys: documents with them are valid by their schemas") {
  const std::string python = "/usr/bin/python3";
  const std::string validator = ATTNVIZ_SOURCE_DIR "/tests/model/validate_json.py";
  const OddModel odd({"welcome"});
  const TemporaryFolder folder;
  const std::vector<std::pair<const char*, Keys>> documents = {
      {"attention", with_ids({"show"})},
      {"inspection", with_ids({"inspect"})},
      {"heads", with_ids({"heads"})},
      {"why", with_ids({"why"})},
      {"info", {"info"}},
      {"diff", with_ids({"diff", "-m", kModels + "llama-mha-untied"})}};
  for (const auto& [name, arguments] : documents) {
    const std::string kind = name;
    CAPTURE(kind);
    Keys with_json = arguments;
    with_json.emplace_back("--json");
    const ProgramResult run = odd.run(with_json);
    CHECK(contains(run.out, "\"unknown_keys\": [\"welcome\"]"));
    write_file(folder.file("a.json"), run.out);
    ProgramRun check;
    check.arguments = {validator,
                       std::string(ATTNVIZ_SCHEMAS_DIR "/attnviz.") + name + "-1.schema.json",
                       folder.file("a.json")};
    const bool has_python = std::filesystem::exists(python);
    const ProgramResult valid = has_python ? run_program(python, check) : ProgramResult();
    CAPTURE(valid.err);
    if (!has_python || valid.exit_code == 77) {
      MESSAGE("SKIPPED: needs python3 with the module jsonschema (Debian: python3-jsonschema)");
      return;
    }
    CHECK(valid.exit_code == 0);
  }
}

TEST_CASE("unknown keys: with two models each note names its own") {
  const OddModel a({"first"});
  const OddModel b({"second"});
  const ProgramResult run = attnviz(
      {"diff", "-m", a.folder.path().string(), "-m", b.folder.path().string(), "--ids", "1,2,3"});
  CHECK(run.exit_code == 0);
  for (const std::string& line : lines_of(run.err)) {
    CHECK(mentions(line, contains(line, a.name()) ? Keys{"first"} : Keys{b.name(), "second"}));
  }
  CHECK(lines_of(run.err).size() == 2);
}

TEST_CASE("unknown keys: those of a GGUF file's model and of its tokenizer are named") {
  const TemporaryFolder folder;
  write_file(folder.file("odd.gguf"), GgufWriter()
                                          .text("general.architecture", "llama")
                                          .u32("llama.block_count", 1)
                                          .u32("llama.context_length", 8)
                                          .u32("llama.embedding_length", 4)
                                          .u32("llama.feed_forward_length", 4)
                                          .u32("llama.attention.head_count", 1)
                                          .number("llama.attention.layer_norm_rms_epsilon", 1e-5F)
                                          .text("llama.invented", "x")
                                          .text("tokenizer.ggml.model", "gpt2")
                                          .text("tokenizer.ggml.pre", "gpt-2")
                                          .text("tokenizer.ggml.invented", "x")
                                          .texts("tokenizer.ggml.tokens", {"a", "b"})
                                          .texts("tokenizer.ggml.merges", {})
                                          .zeros("token_embd.weight", {4, 2})
                                          .zeros("output_norm.weight", {4})
                                          .zeros("reward.weight", {4})
                                          .zeros("blk.0.attn_norm.weight", {4})
                                          .zeros("blk.0.attn_q.weight", {4, 4})
                                          .zeros("blk.0.attn_k.weight", {4, 4})
                                          .zeros("blk.0.attn_v.weight", {4, 4})
                                          .zeros("blk.0.attn_output.weight", {4, 4})
                                          .zeros("blk.0.ffn_norm.weight", {4})
                                          .zeros("blk.0.ffn_gate.weight", {4, 4})
                                          .zeros("blk.0.ffn_up.weight", {4, 4})
                                          .zeros("blk.0.ffn_down.weight", {4, 4})
                                          .file());
  const ProgramResult run = in_folder(folder, {"ab", "-m", "odd.gguf"});
  CHECK(run.exit_code == 0);
  CHECK(mentions(run.err, {"odd", "llama.invented", "reward.weight", "tokenizer.ggml.invented"}));
  const Keys all = {"llama.invented", "reward.weight", "tokenizer.ggml.invented"};
  for (const char* command : {"show", "info"}) {
    const ProgramResult json = in_folder(
        folder, command == std::string("info") ? Keys{command, "odd.gguf", "--json"}
                                               : Keys{command, "ab", "-m", "odd.gguf", "--json"});
    CHECK(parse_json(json.out)["model"]["unknown_keys"] == all);
  }
  CHECK(in_folder(folder, {"tokenize", "ab", "-m", "odd.gguf", "--strict"}).exit_code == 4);
}

TEST_CASE("unknown keys: names from a file are shown as text, and at most so long") {
  const OddModel odd({std::string(5000, 'k'), "esc\x1b[31m"});
  const std::string said = odd.run(kIds).err;
  CHECK(said.size() < 1000);
  CHECK_FALSE(contains(said, "\x1b["));
}

}  // namespace attnviz::test
