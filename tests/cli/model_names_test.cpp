// Models by name in the stores of other programs, and attnviz models, run as a user would.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/core/utf8.h"
#include "cli/attnviz_program.h"
#include "cli/model_home.h"
#include "support/gguf_writer.h"
#include "support/json.h"
#include "support/stored_model.h"

namespace attnviz::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::string kDigits(64, 'a');

// A GGUF file whose tokenizer makes `number` of the text "a".
std::string marked_gguf(std::size_t number) {
  std::vector<std::string> pieces;
  for (std::size_t i = 0; i < number; ++i) {
    pieces.push_back("filler" + std::to_string(i));
  }
  pieces.emplace_back("a");
  return GgufWriter()
      .text("general.architecture", "llama")
      .u32("general.file_type", 15)
      .u32("llama.block_count", 3)
      .u32("llama.attention.head_count", 4)
      .text("tokenizer.ggml.model", "gpt2")
      .texts("tokenizer.ggml.tokens", pieces)
      .texts("tokenizer.ggml.merges", {})
      .zeros("token_embd.weight", {8, 5})
      .file();
}

// How many of the models that were listed come with the program.
std::size_t n_samples(const json& listed) {
  return static_cast<std::size_t>(std::ranges::count(
      listed["models"], "samples", [](const json& model) { return model["store"]; }));
}

void write_blob(const Home& home, char digit, std::size_t number) {
  home.blob_layer(digit, marked_gguf(number));
}

}  // namespace

TEST_CASE("the reference's store: each name is the blob that it should be, or the error") {
  if (!fs::exists(fs::path(kSharedReference) / "gguf" / "ollama")) {
    MESSAGE("SKIPPED: no " << (fs::path(kSharedReference) / "gguf" / "ollama").string());
    return;
  }
  const json names = read_json(kSharedReference + "gguf/ollama/names.json");
  Home home;
  home.set("OLLAMA_MODELS", fs::canonical(fs::path(kSharedReference) / "gguf" / "ollama/models"));
  const std::map<std::string, std::pair<int, std::string>> errors = {
      {"bad-noblob", {1, "abababab"}},
      {"bad-json", {3, "bad-json/latest"}},
      {"nosuchmodel", {1, "ollama pull nosuchmodel"}}};
  const json listed = parse_json(home.run({"models", "--json"}).out);
  for (const json& entry : names["names"]) {
    const std::string name = entry["name"];
    CAPTURE(name);
    if (entry.contains("error")) {
      REQUIRE(errors.contains(name));
      home.check_fails(name, errors.at(name).first, {errors.at(name).second});
      continue;
    }
    const std::string blob =
        fs::canonical(fs::path(kSharedReference) / "gguf/ollama" / entry["blob"]);
    const ProgramResult by_name = home.run({"tokenize", "-m", name, "Once upon a time", "--json"});
    CAPTURE(by_name.err);
    CHECK(by_name.exit_code == 0);
    CHECK(by_name.out == home.run({"tokenize", "-m", blob, "Once upon a time", "--json"}).out);
    bool is_listed = false;
    for (const json& model : listed["models"]) {
      is_listed = is_listed || model["path"] == blob;
    }
    CHECK(is_listed);
  }
}

TEST_CASE("Ollama's names: namespaces, tags, hosts, and defaults") {
  const Home home;
  const std::string manifests = "registry.ollama.ai/";
  write_blob(home, '1', 1);
  write_blob(home, '2', 2);
  write_blob(home, '3', 3);
  write_blob(home, '4', 4);
  home.manifest(manifests + "library/tiny/latest",
                home.layer("sha256:" + kDigits, "license") + ", " +
                    home.layer("sha256:" + std::string(64, '1')));
  home.manifest(manifests + "library/tiny/1b", home.layer("sha256:" + std::string(64, '2')));
  home.manifest(manifests + "user/tiny/latest", home.layer("sha256:" + std::string(64, '3')));
  home.manifest("hf.co/user/repo/Q8_0", home.layer("sha256:" + std::string(64, '4')));
  CHECK(home.number_of("tiny") == 1);
  CHECK(home.number_of("tiny:latest") == 1);
  CHECK(home.number_of("library/tiny") == 1);
  CHECK(home.number_of("tiny:1b") == 2);
  CHECK(home.number_of("user/tiny") == 3);
  CHECK(home.number_of("registry.ollama.ai/user/tiny:latest") == 3);
  CHECK(home.number_of("hf.co/user/repo:Q8_0") == 4);
  home.check_fails("tiny:7b", 1, {"tiny:1b", "tiny:latest"});
  home.check_fails("tyni:latest", 1, {"\"tiny:latest\""});
}

TEST_CASE("Ollama's manifests: errors say what is wrong with them") {
  const Home home;
  const std::string library = "registry.ollama.ai/library/";
  home.write(".ollama/models/manifests/" + library + "list/latest", "[1, 2]");
  home.write(".ollama/models/manifests/" + library + "broken/latest", R"({"layers": [)");
  home.manifest(library + "missing/latest", home.layer("sha256:" + kDigits));
  home.manifest(library + "short/latest", home.layer("sha256:abc"));
  home.manifest(library + "outside/latest", home.layer("sha256:../../../" + std::string(55, 'a')));
  home.manifest(library + "tensors/latest", home.layer("sha256:" + kDigits, "tensor"));
  home.manifest(library + "none/latest", home.layer("sha256:" + kDigits, "license"));
  home.write(".ollama/models/blobs/sha256-" + std::string(64, 'c'),
             R"({"remote_host": "https://example.org"})");
  home.write(".ollama/models/manifests/" + library + "cloud/latest",
             R"({"layers": [], "config": {"digest": "sha256:)" + std::string(64, 'c') + "\"}}");
  home.check_fails("list", 3, {"list/latest"});
  home.check_fails("broken", 3, {"broken/latest"});
  home.check_fails("missing", 1, {"sha256-" + kDigits});
  home.check_fails("short", 3, {"short/latest", "64"});
  home.check_fails("outside", 3, {"outside/latest", "64"});
  home.check_fails("tensors", 4, {"tensors/latest", "GGUF"});
  home.check_fails("none", 3, {"none/latest"});
  home.check_fails("cloud", 4, {"https://example.org"});
}

TEST_CASE("names that would lead out of a store are not looked for") {
  const Home home;
  home.write(".ollama/models/manifests/secret/latest", "{}");
  home.write("secret/latest", "{}");
  for (const char* name : {"../../secret", "a/../../secret:latest", "x:..", "x:../latest",
                           "/etc/x:y", "a//b", "a/b/c/d", ".hidden"}) {
    CAPTURE(name);
    const ProgramResult result = home.run({"tokenize", "-m", name, "a"});
    CHECK(result.exit_code == 1);
    CHECK(!contains(result.err, "manifests"));
  }
}

TEST_CASE("LM Studio's, llama.cpp's and Hugging Face's files, by repository and quantisation") {
  Home home;
  home.write(".lmstudio/models/pub/repo-GGUF/repo-Q8_0.gguf", marked_gguf(1));
  home.write(".lmstudio/models/pub/repo-GGUF/repo-Q4_K_M.gguf", marked_gguf(2));
  home.write(".lmstudio/models/pub/repo-GGUF/mmproj-repo-f16.gguf", "no model");
  home.write(".cache/llama.cpp/own_small-GGUF_small-IQ2_XS.gguf", marked_gguf(3));
  home.write(".cache/llama.cpp/manifest=own=small-GGUF=latest.json", "{}");
  const std::string snapshot = ".cache/huggingface/hub/models--own--several/snapshots/abc/";
  home.write(snapshot + "m.Q5_0.gguf", marked_gguf(4));
  home.write(snapshot + "m.f16.gguf", marked_gguf(5));
  CHECK(home.number_of("pub/repo-GGUF:q8_0") == 1);
  CHECK(home.number_of("pub/repo-GGUF") == 2);
  CHECK(home.number_of("own/small-GGUF") == 3);
  CHECK(home.number_of("own/small-GGUF:IQ2_XS") == 3);
  CHECK(home.number_of("own_small-GGUF_small-IQ2_XS") == 3);
  CHECK(home.number_of("own/several:f16") == 5);
  CHECK(home.number_of("hf.co/own/several:Q5_0") == 4);
  home.check_fails("own/several", 2, {"own/several:Q5_0", "own/several:f16"});
  home.check_fails("own/several:Q4_0", 1, {"own/several:Q5_0", "own/several:f16"});

  home.set("LLAMA_CACHE", home.path() / "elsewhere");
  CHECK(home.number_of("own/small-GGUF") == -1);
  home.write("elsewhere/own_small-GGUF_small.gguf", marked_gguf(6));
  CHECK(home.number_of("own/small-GGUF") == -1);  // it may be own/small-GGUF_small's
  CHECK(home.number_of("own_small-GGUF_small") == 6);
  home.write("elsewhere/manifest=own=small-GGUF=latest.json", "{}");
  CHECK(home.number_of("own/small-GGUF") == 6);
  home.write("elsewhere/manifest=own=small-GGUF_small=latest.json", "{}");
  home.write("elsewhere/own_small-GGUF_small_x.gguf", marked_gguf(7));
  CHECK(home.number_of("own/small-GGUF") == 6);
  home.set("LLAMA_CACHE", home.path().string() + "/elsewhere/");
  CHECK(mentions(home.run({"models"}).out, {"own/small-GGUF"}));
}

TEST_CASE("the first shard stands for all of them") {
  const Home home;
  home.write(".lmstudio/models/pub/big/big-Q6_K-00002-of-00002.gguf", marked_gguf(1));
  home.write(".lmstudio/models/pub/big/big-Q6_K-00001-of-00002.gguf", marked_gguf(2));
  CHECK(home.number_of("pub/big") == 2);
  const json document = parse_json(home.run({"models", "--json"}).out);
  REQUIRE(document["models"].size() == 2U + n_samples(document));  // the embedded one is the first
  CHECK(document["models"][1]["name"] == "pub/big:Q6_K");
  CHECK(document["models"][1]["bytes"] == marked_gguf(1).size() + marked_gguf(2).size());
  CHECK(document["models"][1]["parameters"].is_null());
}

TEST_CASE("a path wins over names, and Ollama's over Hugging Face's") {
  const Home home;
  home.write(".cache/huggingface/hub/models--tiny/snapshots/abc/tiny.gguf", marked_gguf(1));
  CHECK(home.number_of("tiny") == 1);
  write_blob(home, '2', 2);
  home.manifest("registry.ollama.ai/library/tiny/latest",
                home.layer("sha256:" + std::string(64, '2')));
  CHECK(home.number_of("tiny") == 2);
  home.write("tiny/model.gguf", marked_gguf(3));
  CHECK(home.number_of("tiny") == 3);
}

TEST_CASE("a name that is not found: where it was looked for, and what would download it") {
  const Home home;
  const ProgramResult result = home.run({"tokenize", "-m", "own/nothing:Q4_0", "a"});
  CHECK(result.exit_code == 1);
  CHECK(mentions(result.err, {"~/.ollama/models", "~/.lmstudio/models", "~/.cache/llama.cpp",
                              "~/.cache/huggingface", "ollama pull own/nothing:Q4_0",
                              "hf download own/nothing"}));
}

TEST_CASE("models: what there is, in 80 columns, and what cannot be read") {
  const Home home;
  write_blob(home, '1', 1);
  home.manifest("registry.ollama.ai/library/tiny/latest",
                home.layer("sha256:" + std::string(64, '1')));
  home.manifest("registry.ollama.ai/library/gone/latest", home.layer("sha256:" + kDigits));
  home.write(
      ".lmstudio/models/publisher-of-models/a-model-with-a-rather-long-name-GGUF/"
      "a-model-with-a-rather-long-name-Q4_K_M.gguf",
      marked_gguf(2));
  home.write(".lmstudio/models/pub/broken/broken.gguf", "GGUF");
  home.write(".cache/huggingface/hub/models--own--folder/snapshots/abc/config.json",
             R"({"model_type": "gpt2", "n_layer": 12, "n_head": 6, "torch_dtype": "float16"})");
  const std::string weights = safetensors_of({{"wte.weight", {1, 3}, {1.0f, 2.0f, 3.0f}}});
  home.write(".cache/huggingface/hub/models--own--folder/snapshots/abc/model.safetensors", weights);
  const ProgramResult result = home.run({"models"});
  CHECK(result.exit_code == 0);
  CHECK(result.err.empty());
  CAPTURE(result.out);
  for (const std::string& line : lines_of(result.out)) {
    CAPTURE(line);
    CHECK(display_width(line) <= 80);
  }
  for (const char* part :
       {"tiny:latest", "Q4_K_M", "3 x 4", "Ollama", "gone:latest", "own/folder", "12 x 6",
        "publisher-of-models/a-model-with-a-rather-long-name-GGUF:Q4_K_M", "pub/broken:broken",
        "~/.lmstudio/models"}) {
    CAPTURE(part);
    CHECK(contains(result.out, part));
  }

  const std::string plain = home.run({"models", "--style", "ascii", "--color", "never"}).out;
  CHECK(std::ranges::all_of(plain, [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
  Home wide;
  wide.set("COLUMNS", "200");
  wide.write(".lmstudio/models/publisher/a-long-name-of-a-model-GGUF/model-Q4_K_M.gguf",
             marked_gguf(2));
  bool is_one_line = false;
  for (const std::string& line : lines_of(wide.run({"models"}).out)) {
    is_one_line = is_one_line || (contains(line, "publisher/a-long-name-of-a-model-GGUF:Q4_K_M") &&
                                  contains(line, "3 x 4") && contains(line, "LM Studio"));
  }
  CHECK(is_one_line);

  const json document = parse_json(home.run({"models", "--json"}).out);
  CHECK(document["schema"] == "attnviz.models/1");
  REQUIRE(document["models"].size() == 6U + n_samples(document));
  const json& embedded = document["models"][0];
  CHECK(embedded["name"] == "demo");
  CHECK(embedded["store"] == "attnviz");
  CHECK(embedded["path"].is_null());
  CHECK(embedded["family"] == "llama");
  CHECK(embedded["quantisation"] == "F16");
  CHECK(embedded["n_layers"] == 4);
  CHECK(embedded["n_heads"] == 4);
  const json& gone = document["models"][1];
  CHECK(gone["name"] == "gone:latest");
  CHECK(gone["path"].is_null());
  const json& tiny = document["models"][2];
  CHECK(tiny["name"] == "tiny:latest");
  CHECK(tiny["store"] == "Ollama");
  CHECK(tiny["family"] == "llama");
  CHECK(tiny["quantisation"] == "Q4_K_M");
  CHECK(tiny["parameters"] == 40);
  CHECK(tiny["bytes"] == marked_gguf(1).size());
  CHECK(tiny["n_layers"] == 3);
  CHECK(tiny["n_heads"] == 4);
  CHECK(contains(tiny["problem"], "llama."));  // -m refuses it, too: it lacks most keys
  const json& folder = document["models"][5];
  CHECK(folder["family"] == "gpt2");
  CHECK(folder["quantisation"] == "F32");  // as the tensors are, not as the config says
  CHECK(folder["bytes"] == weights.size());
  CHECK(folder["n_heads"] == 6);
}

TEST_CASE("models: without any, where they were looked for") {
  const Home home;
  const ProgramResult result = home.run({"models"});
  CHECK(result.exit_code == 0);
  CHECK(mentions(result.out,
                 {"Ollama", "~/.ollama/models", "Hugging Face", "~/.cache/huggingface/hub"}));
  CHECK(home.run({"models", "x"}).exit_code == 2);
}

TEST_CASE("models: a folder that cannot be read is reported once, and the others are listed") {
  const Home home;
  home.write(".lmstudio/models/publisher/good/model-Q4_K_M.gguf", marked_gguf(1));
  home.write(".lmstudio/models/publisher/README", "no folder");
  // Not even root can follow a link to itself.
  fs::create_symlink("loop", home.path() / ".lmstudio/models/publisher/loop");
  const ProgramResult result = home.run({"models"});
  CHECK(result.exit_code == 0);
  CHECK(contains(result.out, "publisher/good:Q4_K_M"));
  CHECK(mentions(result.err, {"~/.lmstudio/models/publisher/loop"}));
  CHECK(lines_of(result.err).size() == 1);
  CHECK(home.run({"models", "-q"}).err.empty());
}

}  // namespace attnviz::test
