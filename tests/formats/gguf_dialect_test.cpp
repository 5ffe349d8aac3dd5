#include "attnviz/formats/gguf_dialect.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/formats/gguf_metadata.h"
#include "support/gguf_builder.h"

namespace attnviz {
namespace {

using test::GgufBuilder;

GgufBuilder gemma3() {
  GgufBuilder file;
  file.add_string("general.architecture", "gemma3");
  file.add("gemma3.attention.layer_norm_rms_epsilon", GgufType::kF32, file.number(1e-5F));
  file.add_u32("gemma3.context_length", 131072);
  return file;
}

// A file, and its metadata as they are meant.
struct Read {
  explicit Read(const GgufBuilder& file)
      : bytes(file.bytes()), gguf(bytes, "model.gguf"), metadata(gguf) {}
  std::string bytes;
  Gguf gguf;
  GgufMetadata metadata;
};

GgufBuilder llama3(std::string_view pre, std::uint32_t eos) {
  GgufBuilder file;
  file.add_string("general.architecture", "llama");
  std::string tokens;
  for (std::uint32_t id = 0; id < 128256; ++id) {
    tokens += file.string(id == 128009   ? "<|eot_id|>"
                          : id == 128006 ? "<|start_header_id|>"
                                         : std::to_string(id));
  }
  file.add("tokenizer.ggml.tokens", GgufType::kArray,
           file.array(GgufType::kString, 128256, tokens));
  file.add_u32("tokenizer.ggml.eos_token_id", eos);
  if (!pre.empty()) {
    file.add_string("tokenizer.ggml.pre", pre);
  }
  return file;
}

}  // namespace

TEST_CASE("a file of llama.cpp's means what it says") {
  const Read read(gemma3());
  CHECK(read.metadata.dialect().meant.empty());
  CHECK_FALSE(read.metadata.has("gemma3.rope.scaling.factor"));
  CHECK(Read(llama3("llama-bpe", 128009)).metadata.dialect().meant.empty());
  CHECK(Read(llama3("qwen2", 5)).metadata.dialect().meant.empty());
}

TEST_CASE("Gemma 3 of Ollama's: bases of the rotation under other names, and its defaults") {
  GgufBuilder file = gemma3();
  file.add("gemma3.rope.global.freq_base", GgufType::kF32, file.number(500000.0F));
  file.tensors.push_back({"token_embd.weight", {2, 3}, 0, std::string(24, '\0')});
  const Read read(file);
  CHECK(read.metadata.positive("gemma3.rope.freq_base") == 500000.0);
  CHECK(read.metadata.positive("gemma3.rope.freq_base_swa") == 10000.0);
  CHECK(read.metadata.positive("gemma3.attention.layer_norm_rms_epsilon") == doctest::Approx(1e-5));
  CHECK(read.metadata.text("gemma3.rope.scaling.type") == "linear");
  CHECK(read.metadata.positive("gemma3.rope.scaling.factor") == 8.0);
  CHECK(read.metadata.dialect().most_tokens == 3);
}

TEST_CASE("Gemma 3 of Ollama's: a key of llama.cpp's comes first, a short context is not scaled") {
  GgufBuilder file;
  file.add_string("general.architecture", "gemma3");
  file.add_u32("gemma3.context_length", 32768);
  file.add("gemma3.rope.freq_base", GgufType::kF32, file.number(7.0F));
  file.add("gemma3.rope.global.freq_base", GgufType::kF32, file.number(500000.0F));
  const Read read(file);
  CHECK(read.metadata.positive("gemma3.rope.freq_base") == 7.0);
  CHECK(read.metadata.positive("gemma3.attention.layer_norm_rms_epsilon") == doctest::Approx(1e-6));
  CHECK_FALSE(read.metadata.has("gemma3.rope.scaling.factor"));
}

TEST_CASE("Gemma 3 of Ollama's: another name counts as read once its value has been taken") {
  constexpr const char* kGlobal = "gemma3.rope.global.freq_base";
  constexpr const char* kLocal = "gemma3.rope.local.freq_base";
  GgufBuilder file;
  file.add_string("general.architecture", "gemma3");
  file.add(kGlobal, GgufType::kF32, file.number(500000.0F));
  file.add(kLocal, GgufType::kF32, file.number(20000.0F));
  const Read read(file);
  CHECK(read.metadata.text("general.architecture") == "gemma3");
  CHECK(read.metadata.unread_keys() == std::vector<std::string_view>{kGlobal, kLocal});
  CHECK(read.metadata.positive("gemma3.rope.freq_base") == 500000.0);
  CHECK(read.metadata.unread_keys() == std::vector<std::string_view>{kLocal});
  CHECK(read.metadata.positive("gemma3.rope.freq_base_swa") == 20000.0);
  CHECK(read.metadata.unread_keys().empty());

  file.add("gemma3.rope.freq_base", GgufType::kF32, file.number(7.0F));
  const Read both(file);
  CHECK(both.metadata.positive("gemma3.rope.freq_base") == 7.0);
  CHECK(std::ranges::count(both.metadata.unread_keys(), kGlobal) == 1);
}

TEST_CASE("EmbeddingGemma calls itself Gemma 3 in Ollama's files") {
  GgufBuilder file = gemma3();
  file.tensors.push_back({"dense.0.weight", {2, 1}, 0, std::string(8, '\0')});
  CHECK(Read(file).metadata.text("general.architecture") == "gemma-embedding");
}

TEST_CASE("Llama 3 without a way of cutting texts, or with the end of texts for that of turns") {
  const Read silent(llama3("", 128009));
  CHECK(silent.metadata.text("tokenizer.ggml.pre") == "llama-bpe");
  CHECK(silent.metadata.id("tokenizer.ggml.eos_token_id") == 128009);
  const Read read(llama3("default", 128001));
  CHECK(read.metadata.text("tokenizer.ggml.pre") == "llama-bpe");
  CHECK(read.metadata.id("tokenizer.ggml.eos_token_id") == 128009);
  const Read base(llama3("smaug-bpe", 128001));
  CHECK(base.metadata.text("tokenizer.ggml.pre") == "smaug-bpe");
  CHECK(base.metadata.id("tokenizer.ggml.eos_token_id") == 128001);
  CHECK_FALSE(base.metadata.has("tokenizer.ggml.eot_token_id"));
}

TEST_CASE("Phi-3 without scaling: factors of no numbers are no factors") {
  GgufBuilder file;
  file.add_string("general.architecture", "phi3");
  file.tensors.push_back({"rope_factors_long.weight", {0}, 0, ""});
  file.tensors.push_back({"b", {2}, 0, std::string(8, '\0')});
  const Read read(file);
  REQUIRE(read.gguf.tensors().size() == 1);
  CHECK(read.gguf.tensors()[0].name == "b");
}

}  // namespace attnviz
