// Files that are not what their names say, folders one level too high, and models of which a part
// would be left out: what -m and models say of them.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "cli/attnviz_program.h"
#include "cli/model_home.h"
#include "support/json.h"
#include "support/stopwatch.h"
#include "support/stored_model.h"

namespace attnviz::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::string kPointer =
    "version https://git-lfs.github.com/spec/v1\n"
    "oid sha256:2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881\n"
    "size 267832560\n";
const std::string kLibrary = "registry.ollama.ai/library/";
const std::string kHub = ".cache/huggingface/hub/";

std::string gguf_file(const std::string& name) {
  return read_file(kReference + "gguf/models/" + name);
}

std::map<std::string, json> listed(const Home& home) {
  std::map<std::string, json> by_name;
  const json list = parse_json(home.run({"models", "--json"}).out);
  for (const json& model : list["models"]) {
    by_name[model["name"]] = model;
  }
  return by_name;
}

// A small model, in a new folder.
void copy_to(const fs::path& folder) {
  fs::create_directories(folder);
  copy_model("llama-mha-untied", folder);
}

void check(const ProgramResult& result, int exit_code, const std::vector<std::string>& named) {
  CAPTURE(result.err);
  CHECK(result.exit_code == exit_code);
  CHECK(mentions(result.err, named));
}

}  // namespace

TEST_CASE("Ollama: a model with an adapter is refused by name, and listed with the reason") {
  const Home home;
  const std::string base = home.blob_layer('1', gguf_file("gpt2-tied.gguf"));
  home.manifest(kLibrary + "base/latest", base);
  home.manifest(kLibrary + "tuned/latest", base + "," + home.blob_layer('2', "adapter", "adapter"));
  home.manifest(kLibrary + "first/latest",  // in any order
                home.blob_layer('2', "adapter", "adapter") + "," + base);
  for (const std::string name : {"tuned", "first"}) {
    for (const char* const command : {"show", "info", "tokenize"}) {
      CAPTURE(command);
      std::vector<std::string> words = {command, "-m", name};
      if (command != std::string("info")) {
        words.emplace_back("abc");
      }
      check(home.run(words), 4, {"adapter", "sha256", std::string(64, '2')});
    }
  }
  // The base model by the line that the message has.
  const std::string blob = home.path() / (".ollama/models/blobs/sha256-" + std::string(64, '1'));
  CHECK(contains(home.run({"-m", "tuned", "abc"}).err, "attnviz -m " + blob));
  CHECK(home.run({"-m", blob, "abc", "--json"}).exit_code == 0);
  std::map<std::string, json> models = listed(home);
  CHECK(contains(models["tuned:latest"]["problem"], "an adapter"));
  CHECK(models["base:latest"]["problem"].is_null());
  const std::string names = home.run({"models", "--names"}).out;
  CHECK(contains(names, "base:latest"));
  CHECK(!contains(names, "tuned:latest"));
}

TEST_CASE("Ollama: a second file of weights is refused, a projector and the same file are not") {
  const Home home;
  const std::string base = home.blob_layer('1', gguf_file("gpt2-tied.gguf"));
  home.manifest(kLibrary + "two/latest",
                base + "," + home.blob_layer('3', gguf_file("gemma-mqa.gguf")));
  home.manifest(kLibrary + "twice/latest", base + "," + base);
  home.manifest(kLibrary + "sees/latest",
                base + "," + home.blob_layer('4', "projector", "projector"));
  check(home.run({"-m", "two", "abc"}), 4, {"two"});
  CHECK(home.run({"-m", "twice", "abc"}).exit_code == 0);
  CHECK(home.run({"-m", "sees", "abc"}).exit_code == 0);
}

TEST_CASE("a Git LFS pointer is named with the size of the file that was not downloaded") {
  for (const std::string name :
       {"model.safetensors", "tokenizer.json", "config.json", "tokenizer_config.json"}) {
    CAPTURE(name);
    const TemporaryFolder folder;
    copy_model("llama-mha-untied", folder.path());
    write_file(folder.file("tokenizer.json"), read_file(kReference + "../../assets/demo/model/"
                                                                     "tokenizer.json"));
    write_file(folder.file(name), kPointer);
    check(attnviz({"-m", folder.path(), "abc"}), 1,
          {name, "Git LFS", "267,832,560 bytes", "git lfs pull"});
  }
  const TemporaryFolder folder;
  fs::create_directory(folder.file("sharded"));
  write_file(folder.file("sharded/config.json"),
             read_file(kModels + "llama-mha-untied/config.json"));
  for (const std::string name :
       {"m.gguf", "m.json", "vocab.txt", "a.npy", "sharded/model-00001-of-00001.safetensors"}) {
    write_file(folder.file(name), kPointer);
  }
  check(in_folder(folder, {"-m", "m.gguf", "x"}), 1, {"m.gguf", "Git LFS"});
  check(in_folder(folder, {"-m", "m.json", "x"}), 1, {"m.json", "Git LFS"});
  check(in_folder(folder, {"tokenize", "--tokenizer", "vocab.txt", "x"}), 1, {"Git LFS"});
  check(in_folder(folder, {"render", "a.npy"}), 1, {"a.npy", "Git LFS"});
  check(in_folder(folder, {"-m", "sharded", "x"}), 1, {"of-00001.safetensors", "Git LFS"});
}

TEST_CASE("what was saved instead of a model's file, and files of other programs, are named") {
  struct Case {
    std::string name;
    std::string bytes;
    int exit_code;
    std::vector<std::string> named;
  };
  const std::string page = "<!doctype html>\n<html><head><title>Sign in</title></head></html>\n";
  const Case cases[] = {
      {"model.safetensors", page, 3, {"model.safetensors"}},
      {"model.safetensors",
       std::string("\x80\x04\x95\x10\0\0\0\0\0\0\0", 11),
       4,
       {"model.safetensors"}},
      {"config.json", page, 3, {"config.json"}},
      {"config.json", "Entry not found", 3, {"config.json"}},
      {"tokenizer.json", page, 3, {"tokenizer.json"}},
      {"tokenizer.json", "IQ== 0\nIg== 1\n", 4, {"tokenizer.json", "tiktoken"}},
  };
  for (const Case& item : cases) {
    CAPTURE(item.name);
    const TemporaryFolder folder;
    copy_model("llama-mha-untied", folder.path());
    write_file(folder.file(item.name), item.bytes);
    check(attnviz({"-m", folder.path(), "abc"}), item.exit_code, item.named);
  }
  const TemporaryFolder folder;
  write_file(folder.file("model.pth"), "\x80\x02\x8a\x0al\xfc\x9c");
  write_file(folder.file("gpt2_124M.bin"), std::string("\xC6\xD7\x34\x01\x03\0\0\0", 8));
  write_file(folder.file("model.onnx"), "\x08\x07\x12\x07pytorch");
  write_file(folder.file("manifest"), R"({"schemaVersion": 2, "layers": []})");
  write_file(folder.file("page.gguf"), page);
  write_file(folder.file("tokenizer.model"), "IQ== 0\nIg== 1\nIw== 2\n");
  write_file(folder.file("vocab.txt"), page);
  check(in_folder(folder, {"-m", "model.pth", "x"}), 4, {"model.pth", "PyTorch"});
  check(in_folder(folder, {"-m", "gpt2_124M.bin", "x"}), 4, {"llm.c", "attnviz"});
  check(in_folder(folder, {"-m", "model.onnx", "x"}), 4, {"model.onnx", "ONNX model"});
  check(in_folder(folder, {"-m", "manifest", "x"}), 4, {"Ollama"});
  check(in_folder(folder, {"-m", "page.gguf", "x"}), 3, {"page.gguf"});
  check(in_folder(folder, {"tokenize", "--tokenizer", "tokenizer.model", "x"}), 4,
        {"tokenizer.model", "tiktoken"});
  check(in_folder(folder, {"tokenize", "--tokenizer", "vocab.txt", "x"}), 3, {"vocab.txt"});
}

TEST_CASE("a file of weights alone is named for what it is, and for the config.json it lacks") {
  const TemporaryFolder folder;
  const std::string tensor = safetensors_of({{"x", {2}, {1.0f, 2.0f}}});
  const struct {
    std::string bytes;
    int exit_code;
    std::vector<std::string> named;
  } cases[] = {
      {kPointer, 1, {"alone.safetensors", "Git LFS", "267,832,560 bytes"}},
      {"<!doctype html>\n<html></html>\n", 3, {"alone.safetensors"}},
      {"Entry not found", 3, {"alone.safetensors"}},
      {R"({"error":"Repository not found"})", 3, {"alone.safetensors"}},
      {"<html>", 3, {"alone.safetensors"}},
      {"", 3, {"alone.safetensors"}},
      {tensor, 1, {"alone.safetensors", "config.json"}},
      {tensor.substr(0, tensor.size() - 2), 3, {"alone.safetensors"}},
  };
  std::map<std::string, int> messages;
  for (const auto& item : cases) {
    write_file(folder.file("alone.safetensors"), item.bytes);
    const ProgramResult run = in_folder(folder, {"-m", "alone.safetensors", "x"});
    check(run, item.exit_code, item.named);
    ++messages[run.err];
  }
  CHECK(messages.size() == 6);  // the two pages are one kind, and so are the two answers
  write_file(folder.file("adapter_model.safetensors"), tensor);
  check(in_folder(folder, {"-m", "adapter_model.safetensors", "x"}), 4,
        {"adapter_model.safetensors", "adapter"});
  for (const std::string bytes : {R"({"error":"Repository not found"})", "\xEF\xBB\xBF<html>"}) {
    write_file(folder.file("a.gguf"), bytes);
    check(in_folder(folder, {"-m", "a.gguf", "x"}), 3, {"a.gguf"});
  }
}

TEST_CASE("the error for a folder without readable weights says what its other files are") {
  const std::string pickle("\x80\x02}q\0.", 6);
  const struct {
    std::string name;
    std::string bytes;
    int exit_code;
    std::vector<std::string> named;
  } cases[] = {
      {"pytorch_model.bin", kPointer, 1, {"m/pytorch_model.bin", "Git LFS"}},
      {"pytorch_model.bin", pickle, 4, {"pytorch_model.bin", "pickle"}},
      {"onnx/model.onnx",
       "\x08\x07\x12\x07pytorch",
       4,
       {"onnx/model.onnx", "ONNX model", "attnviz"}},
      {"tf_model.h5", "\x89HDF\r\n\x1a\n", 4, {"tf_model.h5", "HDF5 file"}},
      {"training_args.bin", pickle, 1, {"training_args.bin", "state"}},
  };
  for (const auto& item : cases) {
    CAPTURE(item.name);
    const TemporaryFolder folder;
    const fs::path path = folder.path() / "m" / item.name;
    fs::create_directories(path.parent_path());
    write_file(folder.path() / "m/config.json", R"({"model_type": "llama"})");
    write_file(path, item.bytes);
    check(in_folder(folder, {"-m", "m", "x"}), item.exit_code, item.named);
  }
}

TEST_CASE("a link of a snapshot whose file was not downloaded is named") {
  const Home home;
  const fs::path snapshot = home.path() / (kHub + "models--me--cut/snapshots/abc");
  copy_to(snapshot);
  for (const std::string name : {"model.safetensors", "config.json"}) {
    fs::remove(snapshot / name);
    fs::create_symlink("../../blobs/0123", snapshot / name);
    check(home.run({"-m", "me/cut", "--ids", "1"}), 1,
          {name, "No such file or directory", "../../blobs/0123"});
    fs::remove(snapshot / name);
    copy_model("llama-mha-untied", snapshot);
  }
}

TEST_CASE("files that a run does not need do not stop it") {
  const TemporaryFolder folder;
  copy_model("llama-mha-untied", folder.path());
  const std::string tokenizer = read_file(ATTNVIZ_SOURCE_DIR "/assets/demo/model/tokenizer.json");
  const auto run = [&folder](std::vector<std::string> words) {
    words.insert(words.begin(), {"-m", folder.path()});
    return attnviz(words);
  };
  const std::string drawn = run({"--ids", "1,2", "--json"}).out;
  write_file(folder.file("generation_config.json"), kPointer);
  CHECK(run({"--ids", "1,2", "--json"}).out == drawn);
  CHECK(mentions(run({"--ids", "1,2", "-v"}).err, {"generation_config.json"}));

  write_file(folder.file("tokenizer.json"), kPointer);
  CHECK(run({"--ids", "1,2", "--json"}).exit_code == 0);
  check(run({"abc"}), 1, {"tokenizer.json", "Git LFS"});

  write_file(folder.file("tokenizer.json"), tokenizer);
  const std::string tokens = run({"tokenize", "The cat"}).out;
  write_file(folder.file("chat_template.jinja"), kPointer);
  CHECK(attnviz({"tokenize", "-m", folder.path(), "The cat"}).exit_code == 0);
  CHECK(
      mentions(attnviz({"tokenize", "-m", folder.path(), "The cat", "-v"}).err, {"chat_template"}));
  check(attnviz({"tokenize", "-m", folder.path(), "The cat", "--chat"}), 1,
        {"chat_template.jinja", "Git LFS"});
}

TEST_CASE("tokenizers: an empty file, and one that is not read, are named") {
  const TemporaryFolder folder;
  copy_model("llama-mha-untied", folder.path());
  write_file(folder.file("sentencepiece.bpe.model"), "");
  const ProgramResult pieces = attnviz({"-m", folder.path(), "abc"});
  check(pieces, 1, {"sentencepiece.bpe.model", "XLM-RoBERTa", "mBART"});
  check(pieces, 1, {"a tokenizer.json"});
  check(pieces, 1, {"--ids"});
  CHECK(attnviz({"-m", folder.path(), "--ids", "1,2"}).exit_code == 0);
  write_file(folder.file("tokenizer.json"), "");
  check(attnviz({"-m", folder.path(), "abc"}), 3, {"tokenizer.json"});
}

TEST_CASE("a folder one level too high: a snapshot is taken, other folders are lines to type") {
  const Home home;
  const std::string snapshot = kHub + "models--me--small/snapshots/abc";
  copy_to(home.path() / snapshot);
  const std::string repository = kHub + "models--me--small";
  CHECK(home.run({"info", "-m", repository}).exit_code == 0);
  CHECK(contains(home.run({"info", "-m", repository}).out, "me/small"));

  copy_to(home.path() / "out/checkpoint-500");
  home.write("out/trainer_state.json", "{}");
  const ProgramResult one = home.run({"-m", "out", "--ids", "1,2"});
  check(one, 2, {"out"});
  CHECK(contains(one.err, "\n  -m out/checkpoint-500\n"));
  // The last checkpoint first.
  copy_to(home.path() / "out/checkpoint-1500");
  copy_to(home.path() / "out/checkpoint-1000");
  const auto lines_after = [&home](const std::vector<std::string>& words) {
    const std::string err = home.run(words).err;
    return err.substr(std::min(err.find('\n'), err.size()));
  };
  CHECK(lines_after({"info", "-m", "out"}) ==
        "\n  -m out/checkpoint-1500\n  -m out/checkpoint-1000\n  -m out/checkpoint-500\n");
  fs::remove_all(home.path() / "out/checkpoint-1000");
  fs::remove_all(home.path() / "out/checkpoint-500");
  CHECK(lines_after({"info", "out"}) == "\n  -m out/checkpoint-1500\n");
  CHECK(lines_after({"diff", "-m", "demo", "--model=out", "The cat"}) ==
        "\n  -m out/checkpoint-1500\n");
  // No line could show this name.
  copy_to(home.path() / "odd/line\n");
  CHECK(lines_after({"info", "-m", "odd"}) == "\n");
  for (int i = 1; i <= 7; ++i) {
    copy_to(home.path() / ("out/c" + std::to_string(i)));
  }
  check(home.run({"-m", "out", "--ids", "1,2"}), 2, {"3"});
}

TEST_CASE("models offers nothing that -m refuses, and lists the type of the tensors") {
  const Home home;
  const auto add = [&home](const std::string& name) {
    fs::path snapshot = home.path() / (kHub + "models--me--" + name) / "snapshots/abc";
    copy_to(snapshot);
    return snapshot;
  };
  change_config(add("good"), "torch_dtype", "bfloat16");
  change_config(add("fp8"), "quantization_config", {{"quant_method", "fp8"}});
  change_config(add("mlx"), "quantization", {{"bits", 4}, {"group_size", 64}});
  change_config(add("foreign"), "architectures", {"OtherForCausalLM"});
  change_config(add("unknown"), "model_type", "invented");
  change_config(add("deeper"), "num_hidden_layers", 40);
  write_file(add("pointer") / "model.safetensors", kPointer);
  write_file(add("tuned") / "adapter_model.safetensors", "");
  const fs::path part = add("part");
  fs::rename(part / "model.safetensors", part / "model-00001-of-00002.safetensors");
  const fs::path gone = add("gone");
  fs::remove(gone / "model.safetensors");
  write_file(gone / "model.safetensors.index.json", R"({"weight_map": {"x": "a.safetensors"}})");
  fs::remove(gone / "expected.safetensors");
  home.write(".lmstudio/models/me/lora/lora.gguf", gguf_file("gpt2-tied.gguf").substr(0, 5000));

  const std::map<std::string, std::vector<std::string>> problems = {
      {"me/fp8", {"quant_method \"fp8\""}},
      {"me/mlx", {"4 bits", "64"}},
      {"me/foreign", {"architectures"}},
      {"me/unknown", {"model_type \"invented\""}},
      {"me/deeper", {"model.layers."}},
      {"me/pointer", {"Git LFS"}},
      {"me/tuned", {"adapter"}},
      {"me/part", {"2 shards"}},
      {"me/gone", {"a.safetensors"}},
      {"me/lora:lora", {"lora.gguf"}},
  };
  std::map<std::string, json> models = listed(home);
  CHECK(models["me/good"]["problem"].is_null());
  CHECK(models["me/good"]["quantisation"] == "F32");
  for (const auto& [model, named] : problems) {
    const std::string& name = model;
    CAPTURE(name);
    REQUIRE(models[name]["problem"].is_string());
    const std::string problem = models[name]["problem"];
    CAPTURE(problem);
    CHECK(mentions(problem, named));
    // The same words.
    const ProgramResult run = home.run({"-m", name, "--ids", "1,2", "--json"});
    CAPTURE(run.err);
    CHECK(run.exit_code > 0);
    CHECK(contains(run.err, problem));
  }
  CHECK(home.run({"-m", "me/good", "--ids", "1,2", "--json"}).exit_code == 0);
}

TEST_CASE("models: type and size are those of the files that -m reads") {
  const Home home;
  const std::string snapshot = kHub + "models--me--two/snapshots/abc/";
  // Two numbers of F16, and beside them the same as F32.
  const std::string header = R"({"x":{"dtype":"F16","shape":[2],"data_offsets":[0,4]}})";
  const std::string half = std::string(1, static_cast<char>(header.size())) + std::string(7, '\0') +
                           header + std::string("\x00\x3C\x00\x40", 4);
  home.write(snapshot + "config.json", R"({"model_type": "llama"})");
  home.write(snapshot + "model.safetensors", half);
  home.write(snapshot + "consolidated.safetensors", safetensors_of({{"y", {2}, {1.0f, 2.0f}}}));
  std::map<std::string, json> models = listed(home);
  CHECK(models["me/two"]["quantisation"] == "F16");
  CHECK(models["me/two"]["bytes"] == half.size());
}

TEST_CASE("models: an adapter without its model is listed like others that cannot be read") {
  const Home home;
  const std::string lora = kHub + "models--me--lora/snapshots/abc/";
  home.write(lora + "adapter_config.json", "{}");
  home.write(lora + "adapter_model.safetensors", "");
  copy_to(home.path() / (kHub + "models--me--new/snapshots/abc"));
  change_config(home.path() / (kHub + "models--me--new/snapshots/abc"), "model_type", "invented");
  home.write(".lmstudio/models/me/cut/cut.gguf", "GGUF");
  std::map<std::string, json> models = listed(home);
  REQUIRE(models.contains("me/lora"));
  check(home.run({"-m", "me/lora", "x"}), 4, {models["me/lora"]["problem"].get<std::string>()});
  CHECK(!contains(home.run({"models", "--names"}).out, "me/lora"));
  const std::vector<std::string> lines = lines_of(home.run({"models"}).out);
  for (const std::string name : {"me/lora", "me/new", "me/cut:cut"}) {
    CAPTURE(name);
    CHECK(std::ranges::count_if(lines, [&](const std::string& line) {
            return line.starts_with(name + " ") && contains(line, "(unreadable)");
          }) == 1);
  }
}

TEST_CASE("models lists the sizes of the models that are read, as info does") {
  const Home home;
  for (const std::string name : {"bart", "tinystories", "falcon-h1"}) {
    CAPTURE(name);
    const fs::path folder = home.path() / fmt::format("{}models--me--{}/snapshots/abc", kHub, name);
    fs::create_directories(folder);
    copy_model(name, folder);
    const json listing = listed(home)["me/" + name];
    const json info = parse_json(home.run({"info", "-m", "me/" + name, "--json"}).out);
    CHECK(listing["n_layers"] == info["shape"]["n_layers"]);
    CHECK(listing["n_heads"] == info["shape"]["n_heads"]);
    CHECK(listing["parameters"] == info["parameters"]["total"]);
  }
}

TEST_CASE("models does not wait at a link to a file that never has anything to read") {
  const Home home;
  home.write(".ollama/models/manifests/a/b/c/good", "{}");
  fs::create_symlink("/proc/kmsg", home.path() / ".ollama/models/manifests/a/b/c/d");
  check_in_time([&] {
    const ProgramResult names = home.run({"models", "--names"});
    CHECK(names.exit_code == 0);
    CHECK(!contains(names.out, "a/b/c:d"));
    CHECK(contains(home.run({"models", "--json"}).out, "/d: cannot read: "));
  });
}

}  // namespace attnviz::test
