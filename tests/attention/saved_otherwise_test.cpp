// Folders as other programs save them: wrapped names, adapters, classifiers, buffers of old
// versions, broken files beside the model.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "attnviz/attention/engine.h"
#include "attnviz/core/error.h"
#include "attnviz/formats/llama_cpp_keys.h"
#include "attnviz/model/stored_model.h"
#include "support/failure.h"
#include "support/model_builder.h"
#include "support/run_program.h"
#include "support/stored_model.h"

namespace attnviz {
namespace {

namespace fs = std::filesystem;
using test::TestTensor;

constexpr const char* kSmallLlama = "llama-mha-untied";

// A copy of a model that a test may change.
class SavedModel {
 public:
  explicit SavedModel(const std::string& name) {
    test::copy_model(name, folder_.path());
    tensors = test::tensors_of(file());
  }

  std::vector<TestTensor> tensors;

  void set(const std::string& key, const nlohmann::json& value) const {
    test::change_config(folder_.path(), key, value);
  }
  void write(const std::string& name, const std::string& text) const {
    test::write_file(folder_.file(name), text);
  }
  Model load() const {
    test::write_file(file(), test::safetensors_of(tensors));
    return load_hugging_face(folder_.path());
  }
  test::Failure failure() const {
    return test::failure_of([&] { load(); });
  }
  TestTensor& tensor(const std::string& name) {
    const auto found = std::ranges::find(tensors, name, &TestTensor::name);
    REQUIRE(found != tensors.end());
    return *found;
  }

 private:
  fs::path file() const { return folder_.file("model.safetensors"); }

  test::TemporaryFolder folder_;
};

MatrixBuffer output_of_ids(const Model& model) {
  const std::vector<std::uint32_t> ids = {1, 2, 3, 5, 4};
  ModelInput input;
  input.ids = ids;
  return test::output_of(model, input);
}

void check_same_output(const Model& one, const Model& other) {
  const MatrixBuffer a = output_of_ids(one);
  const MatrixBuffer b = output_of_ids(other);
  REQUIRE(a.rows() == b.rows());
  for (std::size_t row = 0; row < a.rows(); ++row) {
    CHECK(std::ranges::equal(a.view().row(row), b.view().row(row)));
  }
}

std::string_view why_ignored(const Model& model, const std::string& name) {
  const auto found = std::ranges::find(model.config.ignored_keys, name, &IgnoredKey::name);
  return found == model.config.ignored_keys.end() ? "not passed over" : found->why;
}

}  // namespace

TEST_CASE("names that all begin with the same wrapper prefix are read without it") {
  const Model plain = SavedModel(kSmallLlama).load();
  for (const std::string wrapper :
       {"_orig_mod.", "module.", "module._orig_mod.", "_orig_mod.module.", "base_model.model."}) {
    CAPTURE(wrapper);
    SavedModel saved(kSmallLlama);
    for (TestTensor& tensor : saved.tensors) {
      tensor.name.insert(0, wrapper);
    }
    const Model wrapped = saved.load();
    check_same_output(wrapped, plain);
    CHECK(wrapped.head.unembedding.d_out() == plain.head.unembedding.d_out());
    // A buffer, known by its name without the wrapper.
    CHECK(why_ignored(wrapped, wrapper + "model.layers.0.self_attn.rotary_emb.inv_freq") ==
          "no weight: computed from the config");
  }
}

TEST_CASE("where only some names are wrapped, the message lists the nearest existing ones") {
  SavedModel saved(kSmallLlama);
  saved.tensor("model.embed_tokens.weight").name = "_orig_mod.model.embed_tokens.weight";
  const test::Failure failure = saved.failure();
  CHECK(failure.kind == ErrorKind::kMalformed);
  CHECK(failure.message.find("embed_tokens.weight: missing tensor (the nearest are "
                             "_orig_mod.model.embed_tokens.weight, ") != std::string::npos);
  SavedModel other(kSmallLlama);
  for (const std::string layer : {"model.layers.0.", "model.layers.1."}) {
    other.tensor(layer + "self_attn.q_proj.weight").name = layer + "attention.q_proj.weight";
  }
  CHECK(other.failure().message.ends_with(
      "model.layers.0.self_attn.q_proj.weight: missing tensor (the nearest are "
      "model.layers.0.attention.q_proj.weight, model.layers.1.attention.q_proj.weight and "
      "model.layers.0.self_attn.k_proj.weight)"));
}

TEST_CASE("an adapter that is not merged into the weights is refused by its name") {
  SavedModel saved(kSmallLlama);
  for (TestTensor& tensor : saved.tensors) {
    tensor.name.insert(0, "base_model.model.");
  }
  TestTensor& query = saved.tensor("base_model.model.model.layers.0.self_attn.q_proj.weight");
  query.name = "base_model.model.model.layers.0.self_attn.q_proj.base_layer.weight";
  test::check_refused([&] { saved.load(); }, query.name + ": an adapter (PEFT)");
  SavedModel beside(kSmallLlama);
  beside.tensors.push_back({"model.layers.0.self_attn.q_proj.lora_A.default.weight", {1}, {0.0f}});
  test::check_refused([&] { beside.load(); }, "lora_A.default.weight: an adapter (PEFT)");
}

// Source: transformers, modeling_modernbert.py: the head of ModernBertForSequenceClassification has
// the names of ForMaskedLM's.
TEST_CASE("ModernBERT: classifiers are read as their base model, without its predictions") {
  const Model guesses = SavedModel("modernbert").load();
  REQUIRE(guesses.head.unembedding.d_out() > 0);
  const TestTensor classifier{"classifier.weight", {2, 1}, {1.0f, 2.0f}};
  const TestTensor bias{"classifier.bias", {2}, {1.0f, 2.0f}};
  SavedModel saved("modernbert");
  saved.tensors.push_back(classifier);
  saved.tensors.push_back(bias);
  const Model kept = saved.load();  // the decoder of the base model is still there
  check_same_output(kept, guesses);
  CHECK(kept.head.unembedding.d_out() == 0);
  CHECK(why_ignored(kept, "decoder.bias") == kOtherTask);
  CHECK(why_ignored(kept, "head.dense.weight") == kOtherTask);

  saved.tensor("decoder.bias").name = "model.decoder.bias";
  CHECK(why_ignored(saved.load(), "model.decoder.bias") == kOtherTask);
  std::erase_if(saved.tensors, [](const TestTensor& one) {
    return one.name.find("decoder") != std::string::npos;
  });
  check_same_output(saved.load(), guesses);
  std::erase_if(saved.tensors,
                [](const TestTensor& one) { return one.name.starts_with("classifier"); });
  check_same_output(saved.load(),
                    guesses);  // a head of another task whose own weights are elsewhere
}

TEST_CASE("buffers that old versions saved are ignored in decoders of all kinds") {
  for (const std::string buffer :
       {"self_attn.masked_bias", "self_attn.bias", "attention.bias", "attention.masked_bias"}) {
    SavedModel saved(kSmallLlama);
    const std::string name = "model.layers.1." + buffer;
    saved.tensors.push_back({name, {1}, {-1e9f}});
    CHECK(why_ignored(saved.load(), name).ends_with(": computed from the config"));
  }
  SavedModel gpt2("gpt2-tied");
  gpt2.tensors.push_back({"h.0.attn.masked_bias", {1}, {-1e4f}});
  CHECK(why_ignored(gpt2.load(), "h.0.attn.masked_bias") == "a mask: computed from the config");
}

TEST_CASE("a broken generation_config.json is ignored, as in transformers") {
  for (const std::string broken :
       {"{\"eos_token_id\": 2", "", "[1]", "{\"eos_token_id\": \"two\"}"}) {
    CAPTURE(broken);
    SavedModel saved(kSmallLlama);
    saved.set("eos_token_id", 3);
    saved.write("generation_config.json", broken);
    const Model model = saved.load();
    CHECK(model.config.end_of_text == std::vector<std::uint32_t>{3});
    CHECK(why_ignored(model, "generation_config.json") ==
          "it cannot be read; transformers ignores it, too");
  }
}

TEST_CASE("a tied model whose lm_head.weight holds other numbers is noted, for any type") {
  const test::TemporaryFolder folder;
  test::copy_model(kSmallLlama, folder.path());
  test::change_config(folder.path(), "tie_word_embeddings", true);
  std::vector<TestTensor> tensors = test::tensors_of(folder.file("model.safetensors"));
  fs::remove(folder.file("model.safetensors"));
  const auto find = [&tensors](const char* name) {
    return std::ranges::find(tensors, name, &TestTensor::name);
  };
  tensors.erase(find("lm_head.weight"));
  TestTensor& embeddings = *find("model.embed_tokens.weight");
  // The upper halves of floats, in a separate file.
  std::string halves;
  nlohmann::json map = {{"lm_head.weight", "head.safetensors"}};
  for (float& number : embeddings.numbers) {
    auto bits = std::bit_cast<std::uint32_t>(number);
    halves += static_cast<char>(bits >> 16U & 0xFFU);
    halves += static_cast<char>(bits >> 24U);
    number = std::bit_cast<float>(bits & 0xFFFF0000U);
  }
  const nlohmann::json header = {
      {"lm_head.weight",
       {{"dtype", "BF16"}, {"shape", embeddings.shape}, {"data_offsets", {0, halves.size()}}}}};
  const std::string text = header.dump();
  std::string size(8, '\0');
  size[0] = static_cast<char>(text.size());
  REQUIRE(text.size() < 128);
  test::write_file(folder.file("head.safetensors"), size + text + halves);
  for (const TestTensor& tensor : tensors) {
    map[tensor.name] = "rest.safetensors";
  }
  test::write_file(folder.file("model.safetensors.index.json"),
                   nlohmann::json{{"weight_map", map}}.dump());
  test::write_file(folder.file("rest.safetensors"), test::safetensors_of(tensors));
  CHECK(load_hugging_face(folder.path()).config.origin.empty());
  embeddings.numbers.back() += 1.0f;
  test::write_file(folder.file("rest.safetensors"), test::safetensors_of(tensors));
  CHECK(load_hugging_face(folder.path()).config.origin.find("lm_head.weight is another matrix") !=
        std::string::npos);
}

// OPTConfig always writes the key, and modeling_opt.py reads it only with pre-norm.
TEST_CASE("OPT: _remove_final_layer_norm changes nothing with post-norm") {
  const fs::path post_norm = ATTNVIZ_SOURCE_DIR "/tests/reference/families/opt-post-norm";
  CHECK(load_hugging_face(post_norm).config.order == LayerOrder::kPostNorm);
  CHECK_NOTHROW(test::with_settings("opt-post-norm", {{"_remove_final_layer_norm", true}}));
}

TEST_CASE("a NaN among the weights is called NaN, not too large") {
  const auto message_with = [](const std::vector<std::string>& names, float number) {
    SavedModel saved(kSmallLlama);
    for (const std::string& name : names) {
      std::ranges::fill(saved.tensor(name).numbers, number);
    }
    const Model model = saved.load();
    return test::failure_of([&] { output_of_ids(model); }).message;
  };
  CHECK(message_with({"model.layers.1.self_attn.q_proj.weight"}, std::nanf(""))
            .ends_with("layer 1, head 0: a score is not a finite number (a weight is NaN)"));
  CHECK(message_with({"model.layers.0.mlp.down_proj.weight"}, INFINITY)
            .ends_with("layer 0, the output is not a finite number (a weight is infinite, or "
                       "too large for float32)"));
  CHECK(message_with(
            {"model.layers.0.self_attn.q_proj.weight", "model.layers.0.self_attn.k_proj.weight"},
            1e30f)
            .ends_with("is not a finite number (weights too large?)"));
}

TEST_CASE("a NaN in a tensor of any kind is not called too large") {
  for (const char* const name : {"gpt-neo-untied", "falcon-h1-norm", "granite4-hybrid", "lfm2",
                                 "deepseek3", "gemma3n", "gemma4-moe", "qwen3next"}) {
    const SavedModel whole(name);
    for (std::size_t i = 0; i < whole.tensors.size(); ++i) {
      CAPTURE(std::string(name));
      CAPTURE(whole.tensors[i].name);
      SavedModel saved(name);
      std::ranges::fill(saved.tensors[i].numbers, std::nanf(""));
      const test::Failure failure = test::failure_of([&] { output_of_ids(saved.load()); });
      CHECK_FALSE(failure.message.ends_with("too large?)"));
    }
  }
}

TEST_CASE("a sink that is not a number is an error, not a missing sink") {
  SavedModel saved("gptoss-bf16");
  saved.tensor("model.layers.0.self_attn.sinks").numbers.front() = std::nanf("");
  const test::Failure failure = saved.failure();
  CHECK(failure.kind == ErrorKind::kMalformed);
  CHECK(failure.message.ends_with("model.layers.0.self_attn.sinks: expected finite numbers"));
}

}  // namespace attnviz
