#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/formats/gguf_metadata.h"
#include "support/gguf_builder.h"

namespace attnviz {

namespace {

using namespace std::literals;
using test::GgufBuilder;

std::string bytes_of_a_file() {
  GgufBuilder b;
  b.add_u32("seven", 7)
      .add_u32("zero", 0)
      .add("u64", GgufType::kU64, b.number(std::uint64_t{12}))
      .add("minus", GgufType::kI32, b.number(-1))
      .add("2^31", GgufType::kI64, b.number(std::int64_t{1} << 31))
      .add("2^31+1", GgufType::kI64, b.number((std::int64_t{1} << 31) + 1))
      .add("2^32-1", GgufType::kU64, b.number((std::uint64_t{1} << 32) - 1))
      .add("2^32", GgufType::kU64, b.number(std::uint64_t{1} << 32))
      .add("half", GgufType::kF32, b.number(0.5f))
      .add("nan", GgufType::kF32, b.number(std::numeric_limits<float>::quiet_NaN()))
      .add("inf", GgufType::kF64, b.number(std::numeric_limits<double>::infinity()))
      .add("below", GgufType::kF64, b.number(-0.25))
      .add("yes", GgufType::kBool, "\1"s)
      .add_string("llama", "llama")
      .add_string("latin", "caf\xE9")
      .add("words", GgufType::kArray, b.array(GgufType::kString, 2, b.strings({"a", "\xFF"})))
      .add("scores", GgufType::kArray, b.array(GgufType::kF32, 2, b.numbers({-1.5f, 2.0f})))
      .add("mask", GgufType::kArray, b.array(GgufType::kBool, 3, "\1\0\1"s))
      .add("rows", GgufType::kArray, b.array(GgufType::kArray, 1, b.array(GgufType::kU8, 1, "\5")));
  return b.bytes();
}

}  // namespace

TEST_CASE("GGUF metadata: values, and defaults for missing ones") {
  const std::string bytes = bytes_of_a_file();
  const Gguf file(bytes, "m.gguf");
  const GgufMetadata metadata(file);
  CHECK(metadata.has("seven"));
  CHECK(!metadata.has("eight"));
  CHECK(metadata.size("seven") == 7);
  CHECK(metadata.size("u64") == 12);
  CHECK(metadata.size("2^31") == 2147483648U);
  CHECK(metadata.size_or("seven", 9) == 7);
  CHECK(metadata.size_or("eight", 9) == 9);
  CHECK(metadata.id("zero") == 0);
  CHECK(metadata.id("2^32-1") == 4294967295U);
  CHECK(metadata.id("eight") == std::nullopt);
  CHECK(metadata.positive("half") == 0.5);
  CHECK(metadata.positive("seven") == 7);
  CHECK(metadata.positive_or("eight", 1e-5) == 1e-5);
  CHECK(metadata.number_or("below", 3) == -0.25);
  CHECK(metadata.number_or("eight", 3) == 3);
  CHECK(metadata.flag("yes") == true);
  CHECK(metadata.flag("eight") == std::nullopt);
  CHECK(metadata.flag_or("yes", false));
  CHECK(metadata.flag_or("eight", true));
  CHECK(metadata.text("llama") == "llama");
  CHECK(metadata.text_or("eight", "none") == "none");
  CHECK(metadata.strings("words") == std::vector<std::string_view>{"a", "\xFF"});
  CHECK(metadata.strings("eight").empty());
  CHECK(metadata.numbers("scores") == std::vector<double>{-1.5, 2});
  CHECK(metadata.numbers("eight").empty());
  CHECK(metadata.flags("mask") == std::vector<bool>{true, false, true});
  CHECK(metadata.flags("eight").empty());
}

TEST_CASE("GGUF metadata: messages name file and key, and say what was expected and found") {
  const std::string bytes = bytes_of_a_file();
  const Gguf file(bytes, "m.gguf");
  const GgufMetadata metadata(file);
  struct Case {
    std::function<void()> read;
    std::string_view message;
  };
  const std::vector<Case> cases = {
      {[&] { metadata.size("eight"); },
       "m.gguf: eight: expected a whole number from 1 to 2147483648, but the key is missing"},
      {[&] { metadata.size("zero"); },
       "m.gguf: zero: expected a whole number from 1 to 2147483648, "
       "found u32 0"},
      {[&] { metadata.size("minus"); }, "found i32 -1"},
      {[&] { metadata.size("2^31+1"); }, "found i64 2147483649"},
      {[&] { metadata.size("half"); }, "found f32 0.5"},
      {[&] { metadata.size("yes"); }, "found bool true"},
      {[&] { metadata.size("llama"); }, "found string \"llama\""},
      {[&] { metadata.size("scores"); }, "found [f32 x 2]"},
      {[&] { metadata.size_or("zero", 3); }, "found u32 0"},
      {[&] { metadata.id("minus"); }, "expected a whole number from 0 to 4294967295, found i32 -1"},
      {[&] { metadata.id("2^32"); }, "found u64 4294967296"},
      {[&] { metadata.id("half"); }, "found f32 0.5"},
      {[&] { metadata.positive("eight"); },
       "m.gguf: eight: expected a finite number greater than 0"},
      {[&] { metadata.positive("zero"); }, "found u32 0"},
      {[&] { metadata.positive("below"); }, "found f64 -0.25"},
      {[&] { metadata.positive("nan"); },
       "m.gguf: nan: expected a finite number greater than 0, "
       "found f32 nan"},
      {[&] { metadata.positive_or("inf", 1); }, "found f64 inf"},
      {[&] { metadata.number_or("nan", 1); }, "expected a finite number, found f32 nan"},
      {[&] { metadata.number_or("llama", 1); }, "expected a finite number, found string"},
      {[&] { metadata.flag("seven"); }, "expected a bool, found u32 7"},
      {[&] { metadata.flag_or("llama", true); }, "expected a bool, found string \"llama\""},
      {[&] { metadata.text("seven"); }, "expected a string of UTF-8, found u32 7"},
      {[&] { metadata.text("latin"); }, "expected a string of UTF-8, found string \"caf<E9>\""},
      {[&] { metadata.text("eight"); }, "expected a string of UTF-8, but the key is missing"},
      {[&] { metadata.text_or("words", ""); }, "found [string x 2]"},
      {[&] { metadata.strings("llama"); }, "expected an array of strings, found string \"llama\""},
      {[&] { metadata.strings("scores"); }, "expected an array of strings, found [f32 x 2]"},
      {[&] { metadata.numbers("words"); }, "expected an array of numbers, found [string x 2]"},
      {[&] { metadata.numbers("mask"); }, "expected an array of numbers, found [bool x 3]"},
      {[&] { metadata.numbers("rows"); }, "expected an array of numbers, found [array x 1]"},
      {[&] { metadata.flags("scores"); }, "expected an array of bools, found [f32 x 2]"},
      {[&] { metadata.flags("yes"); }, "expected an array of bools, found bool true"},
      {[&] { metadata.fail("a\x1B", "said"); }, "m.gguf: a\\x1B: said"},
  };
  for (const Case& one : cases) {
    CAPTURE(one.message);
    std::string message = "nothing was thrown";
    try {
      one.read();
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::kMalformed);
      message = error.what();
    }
    CAPTURE(message);
    CHECK(message.find(one.message) != std::string::npos);
    CHECK(message.starts_with("m.gguf: "));
  }
}

namespace {

using test::GgufBuilder;

GgufBuilder gemma3() {
  GgufBuilder file;
  file.add_string("general.architecture", "gemma3");
  file.add("gemma3.attention.layer_norm_rms_epsilon", GgufType::kF32, file.number(1e-5F));
  file.add_u32("gemma3.context_length", 131072);
  return file;
}

// A file, and its metadata as they are interpreted.
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

TEST_CASE("a file written by llama.cpp is taken literally") {
  const Read read(gemma3());
  CHECK(read.metadata.dialect().meant.empty());
  CHECK_FALSE(read.metadata.has("gemma3.rope.scaling.factor"));
  CHECK(Read(llama3("llama-bpe", 128009)).metadata.dialect().meant.empty());
  CHECK(Read(llama3("qwen2", 5)).metadata.dialect().meant.empty());
}

TEST_CASE("Gemma 3 from Ollama: RoPE bases under other names, and its defaults") {
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

TEST_CASE("Gemma 3 from Ollama: llama.cpp's keys take precedence, a short context is not scaled") {
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

TEST_CASE("Gemma 3 from Ollama: an alternative name counts as read once its value has been used") {
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

TEST_CASE("Llama 3 without a pre-tokenizer, or with end-of-text as end-of-turn") {
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

TEST_CASE("Phi-3 without scaling: empty lists of factors do not count as factors") {
  GgufBuilder file;
  file.add_string("general.architecture", "phi3");
  file.tensors.push_back({"rope_factors_long.weight", {0}, 0, ""});
  file.tensors.push_back({"b", {2}, 0, std::string(8, '\0')});
  const Read read(file);
  REQUIRE(read.gguf.tensors().size() == 1);
  CHECK(read.gguf.tensors()[0].name == "b");
}

}  // namespace attnviz
