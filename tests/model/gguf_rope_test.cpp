// Rotary positions according to the keys and tensors of a GGUF file.
#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/formats/gguf.h"
#include "attnviz/model/families/gguf/gguf_families.h"
#include "attnviz/model/stored_model.h"
#include "support/failure.h"
#include "support/gguf_builder.h"
#include "support/run_program.h"

namespace attnviz {
namespace {

using test::GgufBuilder;

constexpr std::size_t kHead = 4;

GgufBuilder file_of(const std::string& architecture) {
  GgufBuilder file;
  file.add_string("general.architecture", architecture);
  return file;
}

// For heads of kHead dimensions in a context of 16.
std::shared_ptr<const Rope> rope_of(const GgufBuilder& file) {
  const test::TemporaryFolder folder;
  test::write_file(folder.file("rope.gguf"), file.bytes());
  const auto files = std::make_shared<const GgufFiles>(folder.file("rope.gguf"));
  WeightReader weights(TensorFiles::of_gguf(files), {}, "");
  return read_gguf_rope(GgufMetadata(files->first()), weights,
                        {.d_head = kHead, .n_ctx = 16, .has_factors = true});
}

void check_refused(const GgufBuilder& file, std::string_view message) {
  test::check_refused([&] { rope_of(file); }, message);
}

// Two heads, narrower or wider than their share of the embedding.
GgufBuilder llama_of(std::uint32_t d_model, std::uint32_t n_rotated) {
  GgufBuilder file = file_of("llama");
  file.add_u32("llama.embedding_length", d_model);
  file.add_u32("llama.attention.head_count", 2);
  file.add_u32("llama.attention.key_length", kHead);
  file.add_u32("llama.rope.dimension_count", n_rotated);
  return file;
}

GgufBuilder& add_number(GgufBuilder& file, const char* key, float value) {
  return file.add(key, GgufType::kF32, file.number(value));
}

GgufBuilder phi3_with_factors() {
  GgufBuilder file = file_of("phi3");
  file.add_u32("phi3.rope.scaling.original_context_length", 8);
  add_number(file, "phi3.rope.scaling.attn_factor", 1.5f);
  for (const char* tensor : {"rope_factors_long.weight", "rope_factors_short.weight"}) {
    file.tensors.push_back({tensor, {kHead / 2}, 0, file.numbers({2.0f, 4.0f})});
  }
  return file;
}

GgufBuilder yarn_of(std::initializer_list<std::pair<const char*, float>> factors) {
  GgufBuilder file = file_of("llama");
  file.add_string("llama.rope.scaling.type", "yarn");
  for (const auto& [key, value] : factors) {
    add_number(file, key, value);
  }
  return file;
}

// A file of tests/reference/families with one more key before the others.
Model with_key(const std::string& family, std::string_view key, GgufType type,
               std::string_view value) {
  constexpr std::size_t kNumberOfKeys = 16;  // offsets of this count and of the first key
  constexpr std::size_t kFirstKey = 24;
  constexpr std::size_t kAlignment = 32;
  const GgufBuilder write;
  std::string more = write.string(key) + write.number(static_cast<std::uint32_t>(type));
  more.append(value);
  std::string padding = write.string("general.padding") +
                        write.number(static_cast<std::uint32_t>(GgufType::kString)) +
                        write.string("");
  const std::size_t n_blanks = kAlignment - (more.size() + padding.size()) % kAlignment;
  padding.resize(padding.size() - sizeof(std::uint64_t));
  more += padding + write.string(std::string(n_blanks, ' '));
  std::string file = test::read_file(ATTNVIZ_SOURCE_DIR "/tests/reference/families/" + family +
                                     "/" + family + ".gguf");
  file.insert(kFirstKey, more);
  file[kNumberOfKeys] = static_cast<char>(file[kNumberOfKeys] + 2);
  const test::TemporaryFolder folder;
  test::write_file(folder.file("more.gguf"), file);
  return load_gguf(folder.file("more.gguf"));
}

}  // namespace

TEST_CASE("a Llama in GGUF rotates whole heads") {
  CHECK(rope_of(file_of("llama"))->n_rotated() == kHead);
  CHECK(rope_of(llama_of(8, 4))->n_rotated() == kHead);
  check_refused(llama_of(8, 2), "llama.rope.dimension_count 2: ");
  GgufBuilder partial = file_of("gptneox");
  partial.add_u32("gptneox.rope.dimension_count", 2);
  CHECK(rope_of(partial)->n_rotated() == 2);
}

TEST_CASE("a Llama from Ollama: the width of each head instead of its rotated dimensions") {
  for (const std::uint32_t d_model : {4U, 6U, 8U, 16U}) {
    CAPTURE(d_model);
    CHECK(rope_of(llama_of(d_model, d_model / 2))->n_rotated() == kHead);
  }
  check_refused(llama_of(16, 2), "llama.rope.dimension_count 2: ");
}

// llama.cpp: for Granite, "finetuned" decides whether there are rotary positions at all.
TEST_CASE("Granite in GGUF: no rotary positions if its scaling is not finetuned") {
  constexpr const char* kKey = "granite.rope.scaling.finetuned";
  using namespace std::string_literals;
  CHECK(with_key("granite", kKey, GgufType::kBool, "\0"s).layers.front().rope->n_rotated() == 0);
  CHECK(with_key("granite", kKey, GgufType::kBool, "\1"s).layers.front().rope->n_rotated() == 8);
}

TEST_CASE("OLMo 3 in GGUF: layers with a window may have their own base") {
  const Model model =
      with_key("olmo3", "olmo2.rope.freq_base_swa", GgufType::kF32, GgufBuilder().number(1e4f));
  CHECK(model.layers[0].rope->theta == 1e4);
  CHECK(model.layers[3].rope->theta == 5e5);
}

TEST_CASE("LongRoPE in GGUF: no scaling besides its factors") {
  CHECK(rope_of(phi3_with_factors())->scaling == "longrope");
  for (const char* type : {"longrope", "none"}) {
    GgufBuilder file = phi3_with_factors();
    file.add_string("phi3.rope.scaling.type", type);
    add_number(file, "phi3.rope.scaling.factor", 1.0f);
    CHECK(rope_of(file)->magnitude == 1.5f);
  }
  for (const char* type : {"linear", "yarn", "invented"}) {
    GgufBuilder file = phi3_with_factors();
    file.add_string("phi3.rope.scaling.type", type);
    check_refused(file, std::string("phi3.rope.scaling.type \"") + type + "\": ");
  }
  for (const char* key : {"phi3.rope.scaling.factor", "phi3.rope.scale_linear"}) {
    GgufBuilder file = phi3_with_factors();
    add_number(file, key, 32.0f);
    check_refused(file, std::string(key) + " 32: ");
  }
}

// llama.cpp: n_ctx_orig_yarn defaults to n_ctx_train.
TEST_CASE("LongRoPE in GGUF: the original context is the file's context unless it gives another") {
  GgufBuilder file = file_of("minicpm");
  for (const char* tensor : {"rope_factors_long.weight", "rope_factors_short.weight"}) {
    file.tensors.push_back({tensor, {kHead / 2}, 0, file.numbers({2.0f, 4.0f})});
  }
  CHECK(rope_of(file)->short_text == 16);
  CHECK(rope_of(file)->magnitude == 1.0f);
}

// llama.cpp: the converter permutes the weights of models with these sections.
TEST_CASE("GLM-4 in GGUF: dimensions are paired by halves if positions have sections") {
  const GgufBuilder write;
  const auto pairing = [&](std::uint32_t width) {
    const std::string sections = write.number(static_cast<std::uint32_t>(GgufType::kU32)) +
                                 write.number(std::uint64_t{4}) + write.number(width) +
                                 write.number(width) + write.number(width) +
                                 write.number(std::uint32_t{0});
    return with_key("glm-4-0414", "glm4.rope.dimension_sections", GgufType::kArray, sections)
        .layers.front()
        .rope->pairing;
  };
  CHECK(pairing(2) == RopePairing::kHalves);
  CHECK(pairing(0) == RopePairing::kNeighbours);
}

// llama.cpp: llm_build_minicpm() before February 2025.
TEST_CASE("MiniCPM in GGUF: older files have the first models' multipliers") {
  std::string file =
      test::read_file(ATTNVIZ_SOURCE_DIR "/tests/reference/families/minicpm-2b/minicpm-2b.gguf");
  for (const char* name : {"embedding_scale", "residual_scale", "logit_scale"}) {
    const std::size_t at = file.find(std::string("minicpm.") + name);
    REQUIRE(at != std::string::npos);
    file.replace(at, 7, "general");  // where the file has none
  }
  const test::TemporaryFolder folder;
  test::write_file(folder.file("older.gguf"), file);
  const Model model = load_gguf(folder.file("older.gguf"));
  CHECK(model.embedding_scale == 12.0f);
  CHECK(model.layers.front().branch_scale == doctest::Approx(1.4 / std::sqrt(3.0)));
  CHECK(model.head.scale == doctest::Approx(256.0 / 24.0));
}

// llama.cpp: llama_context's constructor uses its own factor; yarn_attn_factor is read only for
// Grok.
TEST_CASE(
    "YaRN in GGUF: one factor for cosines and sines; a different one in the file is refused") {
  constexpr const char* kYarn = "llama.rope.scaling.yarn_attn_factor";
  constexpr const char* kAny = "llama.rope.scaling.attn_factor";
  CHECK(rope_of(yarn_of({}))->magnitude == 1.0f);
  CHECK(rope_of(yarn_of({{kAny, 2.0f}}))->magnitude == 2.0f);
  CHECK(rope_of(yarn_of({{kYarn, 1.0f}, {kAny, 2.0f}}))->magnitude == 2.0f);
  check_refused(yarn_of({{kYarn, 2.0f}}), "llama.rope.scaling.yarn_attn_factor 2: ");
  constexpr const char* kFactor = "llama.rope.scaling.factor";
  const double eightfold = 1.0 + 0.1 * std::log(8.0);  // Peng et al. 2023, eq. 22
  CHECK(rope_of(yarn_of({{kFactor, 8.0f}}))->magnitude == doctest::Approx(eightfold));
  CHECK(rope_of(yarn_of({{kFactor, 8.0f}, {kYarn, static_cast<float>(eightfold)}}))->magnitude ==
        doctest::Approx(eightfold));
  CHECK(rope_of(yarn_of({{kFactor, 0.0f}}))->factor == 1.0);  // has the same effect as none
  constexpr const char* kLog = "llama.rope.scaling.yarn_log_multiplier";
  CHECK(rope_of(yarn_of({{kFactor, 8.0f}, {kLog, 1.0f}}))->magnitude == doctest::Approx(1.0));
}

}  // namespace attnviz
