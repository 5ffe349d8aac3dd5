// GGUF files of tests/reference/experts as Ollama and newer converters write them: with different
// keys and names, and with layers that predict tokens further ahead.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/attention/engine.h"
#include "attnviz/attention/run_observer.h"
#include "attnviz/core/error.h"
#include "attnviz/formats/llama_cpp_keys.h"
#include "attnviz/formats/safetensors.h"
#include "attnviz/model/stored_model.h"
#include "support/failure.h"
#include "support/gguf_parts.h"
#include "support/model_run.h"
#include "support/run_program.h"

namespace attnviz {
namespace {

namespace fs = std::filesystem;
using test::GgufParts;

const fs::path kWriterCases = ATTNVIZ_SOURCE_DIR "/tests/reference/experts";

GgufParts parts_of(const std::string& name) {
  return GgufParts(kWriterCases / name / (name + ".gguf"));
}

Model load_parts(const GgufParts& parts) {
  const test::TemporaryFolder folder;
  test::write_file(folder.file("model.gguf"), parts.bytes());
  return load_gguf(folder.file("model.gguf"));
}

void check_malformed(const GgufParts& parts, const std::string& message) {
  const test::Failure failure = test::failure_of([&] { load_parts(parts); });
  CAPTURE(failure.message);
  CHECK(failure.kind == ErrorKind::kMalformed);
  CHECK(failure.message.find(message) != std::string::npos);
}

std::string blk(std::size_t layer, const std::string& name) {
  return "blk." + std::to_string(layer) + "." + name;
}

// A further layer after the last one: a copy of it, plus the tensors that only these layers have.
GgufParts with_layer_ahead(GgufParts parts, const std::string& architecture) {
  const std::string count = architecture + ".block_count";
  const std::size_t n = parts.u32(count);
  const auto stored = parts.tensors;
  for (test::GgufBuilder::Tensor tensor : stored) {
    if (const std::string last = blk(n - 1, ""); tensor.name.starts_with(last)) {
      tensor.name = blk(n, tensor.name.substr(last.size()));
      parts.tensors.push_back(tensor);
    }
  }
  for (const char* name : {"nextn.eh_proj.weight", "nextn.enorm.weight", "nextn.hnorm.weight",
                           "nextn.shared_head_norm.weight"}) {
    auto tensor = parts.tensor("output_norm.weight");
    tensor.name = blk(n, name);
    parts.tensors.push_back(tensor);
  }
  parts.set_u32(count, static_cast<std::uint32_t>(n + 1));
  parts.set_u32(architecture + ".nextn_predict_layers", 1);
  return parts;
}

// Ollama's `convert/convert_qwen3next.go`, up to 2026.
GgufParts as_ollama(GgufParts parts, const std::string& architecture, std::uint32_t interval) {
  const auto key = [&](const char* name) { return architecture + "." + name; };
  const std::size_t n = parts.u32(key("block_count"));
  std::vector<std::uint32_t> counts;
  for (std::size_t layer = 0; layer < n; ++layer) {
    const bool attends = (layer + 1) % interval == 0;
    counts.push_back(attends ? parts.u32(key("attention.head_count_kv")) : 0);
    if (!attends) {
      parts.rename(blk(layer, "ssm_dt.bias"), blk(layer, "ssm_dt"));
    }
  }
  parts.set_list(key("attention.head_count_kv"), counts);
  parts.erase(key("full_attention_interval"));
  parts.erase(key("rope.dimension_sections"));
  parts.set_list(key("mrope_sections"), {2, 1, 1});
  parts.set_list(key("rope.mrope_section"), {2, 1, 1});
  parts.set_flag(key("rope.mrope_interleaved"), true);
  parts.set_u32(key("image_token_id"), 70);
  parts.set_u32(key("vision_start_token_id"), 71);
  parts.set_u32(key("vision_end_token_id"), 72);
  parts.set_u32(key("vision.block_count"), 3);
  auto further = parts.tensor("output_norm.weight");
  for (const char* name : {"mtp.norm.weight", "v.blk.0.attn_q.weight"}) {
    further.name = name;
    parts.tensors.push_back(further);
  }
  return parts;
}

// Reorders rows of heads of `width` from llama.cpp's order to Hugging Face's: in a file whose value
// heads alternate between 2 key heads, head h is at (h mod 2) · 2 + h / 2.
void reorder(std::string& bytes, std::size_t first, std::size_t head_bytes) {
  constexpr std::size_t kHeads = 4;
  const std::string dealt = bytes.substr(first, kHeads * head_bytes);
  for (std::size_t head = 0; head < kHeads; ++head) {
    const std::size_t to = head % 2 * 2 + head / 2;
    bytes.replace(first + to * head_bytes, head_bytes, dealt, head * head_bytes, head_bytes);
  }
}

GgufParts in_order_of_hugging_face(GgufParts parts) {
  constexpr std::size_t kValue = 8;  // of a head; keys of two heads of 8 come before values
  constexpr std::size_t kKeys = 2 * 2 * 8;
  for (auto& tensor : parts.tensors) {
    const std::size_t row =
        static_cast<std::size_t>(tensor.dimensions.front()) * test::number_bytes(tensor);
    const auto is = [&](const char* name) { return tensor.name.ends_with(name); };
    if (is("attn_qkv.weight") || is("ssm_conv1d.weight")) {
      reorder(tensor.bytes, kKeys * row, kValue * row);
    } else if (is("attn_gate.weight")) {
      reorder(tensor.bytes, 0, kValue * row);
    } else if (is("ssm_alpha.weight") || is("ssm_beta.weight")) {
      reorder(tensor.bytes, 0, row);
    } else if (is(".ssm_a") || is("ssm_dt.bias")) {
      reorder(tensor.bytes, 0, test::number_bytes(tensor));
    } else if (is("ssm_out.weight")) {
      for (std::size_t first = 0; first < tensor.bytes.size(); first += row) {
        reorder(tensor.bytes, first, kValue * test::number_bytes(tensor));
      }
    }
  }
  return parts;
}

// The factors by which the first layer's router multiplies the chosen experts.
struct FirstRouter : RunObserver {
  bool wants(std::size_t layer, LayerStep step) const override {
    return layer == 0 && step == LayerStep::kRouter;
  }
  void router(const RunPlace& /*at*/, const RoutedTokens& routed) override { found = routed; }
  RoutedTokens found;
};

RoutedTokens first_routes(const GgufParts& parts, const std::vector<std::uint32_t>& ids) {
  FirstRouter router;
  ModelInput input;
  input.ids = ids;
  run(load_parts(parts), input, {}, router);
  return router.found;
}

}  // namespace

TEST_CASE("GGUF: layers that predict tokens further ahead are left out, and that is reported") {
  const std::pair<const char*, const char*> models[] = {
      {"qwen3.5", "qwen35"},      {"qwen3.5-moe", "qwen35moe"},    {"qwen3next", "qwen3next"},
      {"deepseek3", "deepseek2"}, {"deepseek2-lite", "deepseek2"}, {"mixtral", "llama"}};
  for (const auto& [name, architecture] : models) {
    const GgufParts parts = with_layer_ahead(parts_of(name), architecture);
    test::check_gguf(kWriterCases / name, parts.bytes());
    const Model model = load_parts(parts);
    const std::string ahead = blk(model.n_layers(), "");
    CHECK(std::ranges::count_if(model.config.ignored_keys, [&](const IgnoredKey& one) {
            return one.name.starts_with(ahead) && one.why == kMultiToken;
          }) > 4);
  }
  // Per-layer lists may or may not have items for these layers.
  GgufParts nemotron = with_layer_ahead(parts_of("nemotronh-moe"), "nemotron_h_moe");
  test::check_gguf(kWriterCases / "nemotronh-moe", nemotron.bytes());
  nemotron.set_list("nemotron_h_moe.feed_forward_length", {0, 16, 0, 16, 0, 0, 16});
  nemotron.set_list("nemotron_h_moe.attention.head_count_kv", {0, 0, 2, 0, 0, 2, 2});
  test::check_gguf(kWriterCases / "nemotronh-moe", nemotron.bytes());
  nemotron.set_list("nemotron_h_moe.feed_forward_length", {0, 16, 0, 16, 0});
  check_malformed(nemotron, "feed_forward_length: expected 7");
}

TEST_CASE("GGUF: an ordinary layer is not left out as a multi-token prediction layer") {
  for (const auto& [name, architecture] :
       {std::pair("mixtral", "llama"), std::pair("deepseek3", "deepseek2")}) {
    GgufParts parts = parts_of(name);
    parts.set_u32(std::string(architecture) + ".nextn_predict_layers", 1);
    check_malformed(parts, "has no nextn tensors: it is a layer like the others");
  }
}

TEST_CASE("GGUF: as many prediction layers as layers in all, or more, are refused") {
  for (const std::uint32_t n : {4U, 5U, 4294967295U}) {
    GgufParts parts = parts_of("qwen3.5");
    parts.set_u32("qwen35.nextn_predict_layers", n);
    check_malformed(parts, "nextn_predict_layers: expected less than block_count 4");
  }
}

TEST_CASE("GGUF: Qwen 3.5 and Qwen3-Next as Ollama writes them are read") {
  test::check_gguf(kWriterCases / "qwen3.5", as_ollama(parts_of("qwen3.5"), "qwen35", 2).bytes());
  GgufParts moe = as_ollama(parts_of("qwen3.5-moe"), "qwen35moe", 3);
  moe.set_flag("qwen35moe.norm_top_k_prob", true);
  test::check_gguf(kWriterCases / "qwen3.5-moe", moe.bytes());
  test::check_gguf(kWriterCases / "qwen3next",
                   as_ollama(parts_of("qwen3next"), "qwen3next", 4).bytes());
}

TEST_CASE("GGUF: both values of ssm.v_head_reordered, the order of value heads, are read") {
  GgufParts parts = parts_of("qwen3.5");
  parts.set_flag("qwen35.ssm.v_head_reordered", true);
  test::check_gguf(kWriterCases / "qwen3.5", parts.bytes());
  GgufParts plain = in_order_of_hugging_face(parts);
  plain.set_flag("qwen35.ssm.v_head_reordered", false);
  test::check_gguf(kWriterCases / "qwen3.5", plain.bytes());

  // Qwen3-Next under the name of Qwen 3.5, as Ollama writes it since 2026: ssm_ba is ordered by key
  // head.
  GgufParts next = parts_of("qwen3next");
  for (auto& key : next.keys) {
    if (key.name.starts_with("qwen3next.")) {
      key.name.replace(0, std::string("qwen3next").size(), "qwen35moe");
    }
  }
  next.set("general.architecture", GgufType::kString, test::GgufBuilder().string("qwen35moe"));
  test::check_gguf(kWriterCases / "qwen3next", next.bytes());
  next.set_flag("qwen35moe.ssm.v_head_reordered", true);
  check_malformed(next, "ssm.v_head_reordered: expected false");
}

TEST_CASE("GGUF: norm_top_k_prob says whether the factors of experts add up to 1") {
  const test::ReferenceCase expected = test::load_reference_case(
      kWriterCases / "qwen3moe-norm/expected.safetensors", load_parts(parts_of("qwen3moe-norm")));
  GgufParts parts = parts_of("qwen3moe-norm");
  parts.set_flag("qwen3moe.norm_top_k_prob", true);
  test::check_gguf(kWriterCases / "qwen3moe-norm", parts.bytes());
  const RoutedTokens normed = first_routes(parts, expected.text.ids);
  parts.set_flag("qwen3moe.norm_top_k_prob", false);
  const RoutedTokens plain = first_routes(parts, expected.text.ids);
  REQUIRE(plain.factors.size() == normed.factors.size());
  for (std::size_t first = 0; first < plain.factors.size(); first += plain.n_used) {
    float sum = 0.0f;
    for (std::size_t i = first; i < first + plain.n_used; ++i) {
      sum += plain.factors[i];
    }
    CHECK(sum < 0.999f);  // some experts are not chosen
    for (std::size_t i = first; i < first + plain.n_used; ++i) {
      CHECK(plain.factors[i] / sum == doctest::Approx(normed.factors[i]).epsilon(1e-5));
    }
  }
}

TEST_CASE("GGUF: keys of `ollama create` that do not affect attention are read") {
  GgufParts nemotron = parts_of("nemotronh");
  nemotron.set("nemotron_h.rope.freq_base", GgufType::kF32, test::GgufBuilder().number(10000.0F));
  test::check_gguf(kWriterCases / "nemotronh", nemotron.bytes());
  const fs::path cohere = ATTNVIZ_SOURCE_DIR "/tests/reference/families/cohere";
  GgufParts command_r(cohere / "cohere.gguf");
  command_r.set_u32("command-r.max_position_embeddings", 256);
  test::check_gguf(cohere, command_r.bytes());
  const fs::path bert = ATTNVIZ_SOURCE_DIR "/tests/reference/dialects/snowflake-arctic-embed2";
  GgufParts arctic(bert / "ollama.gguf");
  arctic.set_flag("bert.normalize_embeddings", true);
  const test::ReferenceCase pooled =
      test::load_reference_case(bert / "expected.safetensors", load_parts(arctic));
  const test::ModelRun found = test::run_model(pooled.model, pooled.text);
  CHECK(test::largest_difference(found.attention, pooled.attention) < 2e-5);
}

}  // namespace attnviz
