#include "attnviz/model/stored_model.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/formats/safetensors.h"
#include "support/failure.h"
#include "support/json.h"
#include "support/run_program.h"
#include "support/stored_model.h"
#include "support/tiny_gguf.h"

namespace attnviz {
namespace {

namespace fs = std::filesystem;
using test::check_refused;
using test::Failure;
using test::failure_of;
using test::safetensors_of;
using test::TemporaryFolder;
using test::write_file;

const std::vector<test::TestTensor> kX = {{"x", {2}, {1.0f, 2.0f}}};
const std::vector<test::TestTensor> kY = {{"y", {1}, {3.0f}}};

OpenedWeights opened(const fs::path& path) {
  return open_weights(path, find_weights(path), {});
}

Failure failure_in(const fs::path& path) {
  return failure_of([&] { opened(path); });
}

std::vector<std::string> ignored_keys_in(const OpenedWeights& weights) {
  std::vector<std::string> names;
  for (const IgnoredKey& one : weights.ignored_keys) {
    names.push_back(one.name);
  }
  return names;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("an adapter next to a model ends with code 4, by its name, for every writer") {
  for (const char* const name : {"adapter_config.json", "adapter_model.safetensors",
                                 "adapter_model.bin", "adapters.safetensors", "adapters.npz"}) {
    CAPTURE(name);
    const TemporaryFolder folder;
    test::copy_model("llama-mha-untied", folder.path());
    write_file(folder.file(name), "{}");
    check_refused([&] { load_hugging_face(folder.path()); },
                  folder.file(name) + ": an adapter changes the weights");
    check_refused([&] { load_hugging_face(folder.path() / "config.json"); }, "an adapter");
    // The solution that the message suggests.
    check_refused([&] { load_hugging_face(folder.path()); },
                  folder.file("model.safetensors") + " is the model without it");
    const Model base = load_hugging_face(folder.file("model.safetensors"));
    CHECK(std::ranges::count(base.config.ignored_keys, name, &IgnoredKey::name) == 1);
  }
}

TEST_CASE("an adapter without a model is refused as an adapter") {
  const TemporaryFolder folder;
  write_file(folder.file("adapter_config.json"), "{}");
  write_file(folder.file("adapter_model.safetensors"), safetensors_of(kX));
  const Failure failure = failure_in(folder.path());
  CHECK(failure.kind == ErrorKind::kUnsupported);
  CHECK(has(failure.message, "adapter_config.json: an adapter changes the weights"));
  CHECK_FALSE(has(failure.message, "is the model without it"));
}

TEST_CASE("a GGUF adapter is refused with advice") {
  const TemporaryFolder folder;
  write_file(folder.file("lora.gguf"),
             test::tiny_model("llama").add_string("general.type", "adapter").bytes());
  check_refused([&] { load_gguf(folder.file("lora.gguf")); }, "llama-export-lora");
}

TEST_CASE("shards without an index are read together, from the folder and from each of them") {
  const TemporaryFolder folder;
  write_file(folder.file("model-00001-of-00002.safetensors"), safetensors_of(kX));
  const Failure one_alone = failure_in(folder.path());
  CHECK(one_alone.kind == ErrorKind::kMalformed);
  CHECK(has(one_alone.message, "one of 2 shards"));
  CHECK(has(one_alone.message, "missing: model-00002-of-00002.safetensors"));
  write_file(folder.file("model-00002-of-00002.safetensors"), safetensors_of(kY));
  CHECK(opened(folder.path()).tensors.size() == 2);
  CHECK(opened(folder.file("model-00002-of-00002.safetensors")).tensors.size() == 2);
  write_file(folder.file("other-00001-of-00001.safetensors"), safetensors_of(kY));
  check_refused([&] { opened(folder.path()); }, "shards of several models");
}

TEST_CASE("missing files of an index are named, all in one message") {
  const TemporaryFolder folder;
  write_file(folder.file("b.safetensors"), safetensors_of(kY));
  write_file(
      folder.file("model.safetensors.index.json"),
      R"({"weight_map": {"x": "a.safetensors", "y": "b.safetensors", "z": "c.safetensors"}})");
  const Failure failure = failure_in(folder.path());
  CHECK(failure.kind == ErrorKind::kIo);
  CHECK(has(failure.message,
            "expected the 3 files that it names, missing: a.safetensors and "
            "c.safetensors"));
}

TEST_CASE("two sets of weights in a folder: equal ones are read once, others are refused") {
  const TemporaryFolder folder;
  const std::string index = "model.safetensors.index.json";
  write_file(folder.file("model.safetensors"), safetensors_of(kX));
  // As MLX writes one next to a single file.
  write_file(folder.file(index), R"({"weight_map": {"x": "model.safetensors"}})");
  CHECK(ignored_keys_in(opened(folder.path())).empty());
  write_file(folder.file(index), R"({"weight_map": {"x": "model-00001-of-00001.safetensors"}})");
  write_file(folder.file("model-00001-of-00001.safetensors"), safetensors_of(kX));
  CHECK(ignored_keys_in(opened(folder.path())) ==
        std::vector<std::string>{"model-00001-of-00001.safetensors"});
  write_file(folder.file("model-00001-of-00001.safetensors"),
             safetensors_of({{"x", {2}, {1.0f, 2.5f}}}));
  check_refused([&] { opened(folder.path()); }, "two models that differ");
  write_file(folder.file("model-00001-of-00001.safetensors"),
             safetensors_of({{"x", {1, 2}, {1.0f, 2.0f}}}));
  check_refused([&] { opened(folder.path()); }, "two models that differ");
  CHECK(opened(folder.file("model.safetensors")).tensors.find("x").tensor->shape.size() == 1);
  CHECK(opened(folder.file(index)).tensors.find("x").tensor->shape.size() == 2);
  // transformers reads model.safetensors, regardless of an index of other files.
  fs::remove(folder.file("model-00001-of-00001.safetensors"));
  CHECK(ignored_keys_in(opened(folder.path())) == std::vector<std::string>{index});
}

TEST_CASE("further weight files in a model's folder are ignored, and named") {
  const TemporaryFolder folder;
  write_file(folder.file("model.safetensors"), safetensors_of(kX));
  write_file(folder.file("consolidated.safetensors"), safetensors_of(kX));
  write_file(folder.file("mtp.safetensors"), safetensors_of(kY));
  const OpenedWeights weights = opened(folder.path());
  CHECK(ignored_keys_in(weights) ==
        std::vector<std::string>{"consolidated.safetensors", "mtp.safetensors"});
  CHECK(weights.tensors.size() == 1);
}

TEST_CASE("an adapter next to a model is refused under any name, by its tensors") {
  for (const char* const tensor : {"layers.0.q_proj.lora_A.weight", "q.lora_down.weight",
                                   "q_proj.lora_a", "v_proj.oft_r", "k_proj.ia3_l"}) {
    CAPTURE(tensor);
    const TemporaryFolder folder;
    write_file(folder.file("model.safetensors"), safetensors_of(kX));
    write_file(folder.file("anna.safetensors"), safetensors_of({{tensor, {1}, {1.0f}}}));
    check_refused([&] { opened(folder.path()); },
                  folder.file("anna.safetensors") + ": an adapter changes the weights");
  }
}

TEST_CASE("a folder without readable weights is refused with a list of its files") {
  const TemporaryFolder folder;
  CHECK(has(failure_in(folder.path()).message, "found nothing"));
  write_file(folder.file("config.json"), "{}");
  CHECK(has(failure_in(folder.path()).message, "found config.json"));
  fs::create_directory(folder.file("onnx"));
  write_file(folder.file("onnx/model.onnx"), "");
  CHECK(has(failure_in(folder.path()).message, "found onnx/model.onnx"));
  write_file(folder.file("pytorch_model.bin"), "");
  const Failure failure = failure_in(folder.path());
  CHECK(failure.kind == ErrorKind::kIo);
  CHECK(has(failure.message, "found onnx/model.onnx and pytorch_model.bin"));
  CHECK(has(failure.message, "save_pretrained() of transformers writes safetensors"));
  for (int i = 0; i < 20; ++i) {
    write_file(folder.file("part" + std::to_string(i) + ".bin"), "");
  }
  CHECK(has(failure_in(folder.path()).message, " and 16 more"));
}

TEST_CASE("weights quantised by other tools are named as in their config") {
  struct Case {
    std::string key;
    nlohmann::json value;
    std::string found;
  };
  const Case cases[] = {
      {"quantization", {{"group_size", 64}, {"bits", 4}}, "found 4 bits in groups of 64"},
      {"quantization_config", {{"group_size", 32}, {"bits", 8}}, "found 8 bits in groups of 32"},
      {"quantization_config", {{"quant_algo", "FP8"}}, "found quant_algo \"FP8\""},
      {"quantization_config", {{"quant_method", "awq"}, {"bits", 4}}, "found quant_method \"awq\""},
  };
  for (const Case& item : cases) {
    const TemporaryFolder folder;
    test::copy_model("llama-mha-untied", folder.path());
    test::change_config(folder.path(), item.key, item.value);
    check_refused([&] { load_hugging_face(folder.path()); },
                  item.key + ": expected none, " + item.found);
  }
}

}  // namespace attnviz
