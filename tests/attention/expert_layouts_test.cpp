// Models of tests/reference/experts as other programs write them: the numbers stay the same.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/model/stored_model.h"
#include "support/gguf_parts.h"
#include "support/model_run.h"
#include "support/run_program.h"
#include "support/stored_model.h"

namespace attnviz {
namespace {

namespace fs = std::filesystem;
using test::GgufParts;
using test::TestTensor;

const fs::path kLayoutCases = ATTNVIZ_SOURCE_DIR "/tests/reference/experts";

void check_folder(const std::string& name, const std::vector<TestTensor>& tensors,
                  const std::vector<std::pair<std::string, nlohmann::json>>& settings = {}) {
  CAPTURE(name);
  const test::TemporaryFolder folder;
  test::copy_model(name, folder.path());
  test::write_file(folder.file("model.safetensors"), test::safetensors_of(tensors));
  for (const auto& [key, value] : settings) {
    test::change_config(folder.path(), key, value);
  }
  try {
    test::check_numbers(test::load_reference_case(kLayoutCases / name / "expected.safetensors",
                                                  load_hugging_face(folder.path())));
  } catch (const Error& error) {
    const std::string what = error.what();
    FAIL_CHECK(what);
  }
}

void check_gguf(const std::string& name, const GgufParts& parts) {
  test::check_gguf(kLayoutCases / name, parts.bytes());
}

std::vector<TestTensor> stored(const std::string& name) {
  return test::tensors_of(kLayoutCases / name / "model.safetensors");
}

void append(std::vector<float>& to, const std::vector<float>& from, std::size_t first = 0,
            std::size_t count = std::string::npos) {
  const auto begin = from.begin() + static_cast<std::ptrdiff_t>(first);
  to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(std::min(count, from.size())));
}

// The tensors of all experts, "…experts.3.w1.weight" for a gate, merged into one: transformers'
// MergeModulelist(0), and Concatenate(1) of gate and up. Without a gate only the former.
std::vector<TestTensor> put_together(std::vector<TestTensor> tensors, const std::string& gate,
                                     const std::string& up, const std::string& down) {
  std::vector<TestTensor> rest;
  std::map<std::string, std::map<std::size_t, std::map<std::string, TestTensor>>> layers;
  for (TestTensor& tensor : tensors) {
    const std::string experts = ".experts.";
    const std::size_t at = tensor.name.find(experts);
    if (at == std::string::npos) {
      rest.push_back(std::move(tensor));
      continue;
    }
    const std::size_t number = at + experts.size();
    const std::size_t dot = tensor.name.find('.', number);
    const std::string part = tensor.name.substr(dot + 1, tensor.name.rfind('.') - dot - 1);
    layers[tensor.name.substr(0, at)][std::stoul(tensor.name.substr(number, dot - number))][part] =
        std::move(tensor);
  }
  REQUIRE(!layers.empty());
  for (auto& [layer, experts] : layers) {
    const std::size_t d_ff = experts[0][up].shape[0];
    const std::size_t d = experts[0][up].shape[1];
    TestTensor all_up{layer + (gate.empty() ? ".experts.up_proj" : ".experts.gate_up_proj"),
                      {experts.size(), (gate.empty() ? 1 : 2) * d_ff, d},
                      {}};
    TestTensor all_down{layer + ".experts.down_proj", {experts.size(), d, d_ff}, {}};
    for (auto& [number, parts] : experts) {
      if (!gate.empty()) {
        append(all_up.numbers, parts[gate].numbers);
      }
      append(all_up.numbers, parts[up].numbers);
      append(all_down.numbers, parts[down].numbers);
    }
    rest.push_back(std::move(all_up));
    rest.push_back(std::move(all_down));
  }
  return rest;
}

// The reverse.
std::vector<TestTensor> take_apart(const std::vector<TestTensor>& tensors) {
  std::vector<TestTensor> apart;
  for (const TestTensor& tensor : tensors) {
    const bool is_up = tensor.name.ends_with("experts.gate_up_proj");
    if (!is_up && !tensor.name.ends_with("experts.down_proj")) {
      apart.push_back(tensor);
      continue;
    }
    const std::string prefix = tensor.name.substr(0, tensor.name.rfind('.') + 1);
    const std::size_t rows = tensor.shape[1] / (is_up ? 2 : 1);
    const std::size_t size = rows * tensor.shape[2];
    std::size_t first = 0;
    for (std::size_t i = 0; i < tensor.shape[0]; ++i) {
      for (const char* part :
           is_up ? std::vector{"gate_proj", "up_proj"} : std::vector{"down_proj"}) {
        TestTensor one{
            prefix + std::to_string(i) + "." + part + ".weight", {rows, tensor.shape[2]}, {}};
        append(one.numbers, tensor.numbers, first, size);
        first += size;
        apart.push_back(std::move(one));
      }
    }
  }
  return apart;
}

// gpt-oss: [n, d_in, d_out], gate and up alternating; with biases.
std::vector<TestTensor> take_apart_turned(const std::vector<TestTensor>& tensors) {
  std::vector<TestTensor> apart;
  for (const TestTensor& tensor : tensors) {
    const bool is_up = tensor.name.find("experts.gate_up_proj") != std::string::npos;
    if (!is_up && tensor.name.find("experts.down_proj") == std::string::npos) {
      apart.push_back(tensor);
      continue;
    }
    const bool is_bias = tensor.name.ends_with("_bias");
    const std::string prefix = tensor.name.substr(0, tensor.name.rfind('.') + 1);
    const std::size_t n_parts = is_up ? 2 : 1;
    const std::size_t d_in = is_bias ? 1 : tensor.shape[1];
    const std::size_t d_out = tensor.shape.back() / n_parts;
    for (std::size_t i = 0; i < tensor.shape[0]; ++i) {
      for (std::size_t part = 0; part < n_parts; ++part) {
        TestTensor one{prefix + std::to_string(i) +
                           (!is_up      ? ".down_proj"
                            : part == 0 ? ".gate_proj"
                                        : ".up_proj") +
                           (is_bias ? ".bias" : ".weight"),
                       is_bias ? std::vector{d_out} : std::vector{d_out, d_in},
                       {}};
        for (std::size_t row = 0; row < d_out; ++row) {
          for (std::size_t col = 0; col < d_in; ++col) {
            one.numbers.push_back(
                tensor.numbers[(i * d_in + col) * n_parts * d_out + row * n_parts + part]);
          }
        }
        apart.push_back(std::move(one));
      }
    }
  }
  return apart;
}

std::string layer_name(std::size_t layer, const std::string& name) {
  return "blk." + std::to_string(layer) + "." + name;
}

// llama.cpp's ffn_gate_up_exps: for each expert all gate rows, then all up rows.
GgufParts with_gates_and_ups(const fs::path& path) {
  GgufParts parts(path);
  std::size_t n_fused = 0;
  for (std::size_t layer = 0; layer < 8; ++layer) {
    for (const std::string kind : {".weight", ".bias"}) {
      const std::string gate = layer_name(layer, "ffn_gate_exps" + kind);
      const std::string up = layer_name(layer, "ffn_up_exps" + kind);
      if (!parts.has(gate)) {
        continue;
      }
      test::GgufBuilder::Tensor fused = parts.tensor(gate);
      const std::string gates = fused.bytes;
      const std::string ups = parts.tensor(up).bytes;
      fused.name = layer_name(layer, "ffn_gate_up_exps" + kind);
      const std::size_t size = gates.size() / static_cast<std::size_t>(fused.dimensions.back());
      fused.dimensions[fused.dimensions.size() - 2] *= 2;
      fused.bytes.clear();
      for (std::size_t first = 0; first < gates.size(); first += size) {
        fused.bytes += gates.substr(first, size) + ups.substr(first, size);
      }
      std::erase_if(parts.tensors,
                    [&](const auto& one) { return one.name == gate || one.name == up; });
      parts.tensors.push_back(fused);
      ++n_fused;
    }
  }
  REQUIRE(n_fused > 0);
  return parts;
}

constexpr std::size_t kWide = 32;            // d_model of nemotronh-moe
constexpr std::size_t kLatents = kWide + 3;  // wider than it, so that nothing is lost

std::size_t dealt(std::size_t latent) {
  return latent * 5 % kWide;
}

// x -> 2 x in another order, and three more latents that no expert reads.
std::vector<float> into_latents() {
  std::vector<float> rows(kLatents * kWide);
  for (std::size_t i = 0; i < kLatents; ++i) {
    rows[i * kWide + (i < kWide ? dealt(i) : 0)] = i < kWide ? 2.0f : 1.0f;
  }
  return rows;
}

std::vector<float> out_of_latents() {
  std::vector<float> rows(kWide * kLatents);
  for (std::size_t i = 0; i < kWide; ++i) {
    rows[dealt(i) * kLatents + i] = 0.25f;
  }
  return rows;
}

// [d_ff, d_model] that reads latents.
std::vector<float> up_of_latents(const float* up, std::size_t d_ff) {
  std::vector<float> rows(d_ff * kLatents);
  for (std::size_t row = 0; row < d_ff; ++row) {
    for (std::size_t i = 0; i < kWide; ++i) {
      rows[row * kLatents + i] = up[row * kWide + dealt(i)] / 2.0f;
    }
  }
  return rows;
}

// [d_model, d_ff] that writes latents, the last three of them unused.
std::vector<float> down_to_latents(const float* down, std::size_t d_ff) {
  std::vector<float> rows(kLatents * d_ff, 1.0f);
  for (std::size_t i = 0; i < kWide; ++i) {
    for (std::size_t col = 0; col < d_ff; ++col) {
      rows[i * d_ff + col] = 4.0f * down[dealt(i) * d_ff + col];
    }
  }
  return rows;
}

// The numbers of a tensor of BF16.
std::vector<float> floats_of(const test::GgufBuilder::Tensor& tensor) {
  REQUIRE(tensor.type == 30);
  std::vector<float> numbers(tensor.bytes.size() / 2);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::array<char, 4> bytes{0, 0, tensor.bytes[2 * i], tensor.bytes[2 * i + 1]};
    std::memcpy(&numbers[i], bytes.data(), bytes.size());
  }
  return numbers;
}

test::GgufBuilder::Tensor tensor_of(const std::string& name,
                                    const std::vector<std::uint64_t>& dimensions,
                                    const std::vector<float>& numbers) {
  std::string bytes(numbers.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return {name, dimensions, 0, bytes};
}

// nemotronh-moe with latents under these names.
GgufParts with_latents(const std::string& in, const std::string& out) {
  GgufParts parts(kLayoutCases / "nemotronh-moe/nemotronh-moe.gguf");
  constexpr std::size_t kFf = 16;
  constexpr std::size_t kExperts = 8;
  for (const std::size_t layer : {std::size_t{1}, std::size_t{3}}) {
    for (const std::string name : {"ffn_up_exps.weight", "ffn_down_exps.weight"}) {
      auto& tensor = parts.tensor(layer_name(layer, name));
      const std::vector<float> numbers = floats_of(tensor);
      std::vector<float> all;
      const bool is_up = name.find("up") != std::string::npos;
      for (std::size_t i = 0; i < kExperts; ++i) {
        const float* const one = numbers.data() + i * kFf * kWide;
        append(all, is_up ? up_of_latents(one, kFf) : down_to_latents(one, kFf));
      }
      tensor = tensor_of(tensor.name,
                         is_up ? std::vector<std::uint64_t>{kLatents, kFf, kExperts}
                               : std::vector<std::uint64_t>{kFf, kLatents, kExperts},
                         all);
    }
    parts.tensors.push_back(
        tensor_of(layer_name(layer, in + ".weight"), {kWide, kLatents}, into_latents()));
    parts.tensors.push_back(
        tensor_of(layer_name(layer, out + ".weight"), {kLatents, kWide}, out_of_latents()));
  }
  return parts;
}

}  // namespace

// Source: transformers, src/transformers/conversion_mapping.py, whose modules hold experts like
// this; save_pretrained() writes them so unless it reverses the mapping.
TEST_CASE("experts of a folder are read from one merged tensor, as transformers 5 stores them") {
  for (const char* name : {"qwen2moe", "qwen3moe-norm", "qwen3moe-mixed-layers", "qwen3next",
                           "deepseek2-lite", "deepseek2-groups", "deepseek3"}) {
    check_folder(name, put_together(stored(name), "gate_proj", "up_proj", "down_proj"));
  }
  std::vector<TestTensor> mixtral = put_together(stored("mixtral"), "w1", "w3", "w2");
  for (TestTensor& tensor : mixtral) {
    if (const std::size_t at = tensor.name.find("block_sparse_moe"); at != std::string::npos) {
      tensor.name.replace(at, std::string("block_sparse_moe").size(), "mlp");
    }
  }
  check_folder("mixtral", mixtral);
  check_folder("nemotronh-moe", put_together(stored("nemotronh-moe"), "", "up_proj", "down_proj"));
}

TEST_CASE("experts of a folder are read from one tensor per expert, as others write them") {
  for (const char* name : {"qwen3.5-moe", "gemma4-moe"}) {
    check_folder(name, take_apart(stored(name)));
  }
  check_folder("gptoss-bf16", take_apart_turned(stored("gptoss-bf16")));
}

TEST_CASE("experts of GGUF files are read with gate and up in one tensor or in two") {
  for (const char* name : {"mixtral", "qwen2moe", "qwen3moe-norm", "qwen3next", "qwen3.5-moe",
                           "granitemoe", "granite4-hybrid", "deepseek2-lite", "deepseek3"}) {
    check_gguf(name, with_gates_and_ups(kLayoutCases / name / (std::string(name) + ".gguf")));
  }
  check_gguf("gptoss-bf16-gguf",
             with_gates_and_ups(kLayoutCases / "gptoss-bf16-gguf/gptoss-bf16.gguf"));

  // Ollama's Gemma 4: the other order, and a different name for the experts' scales.
  GgufParts gemma(kLayoutCases / "gemma4-moe/gemma4-moe.gguf");
  for (std::size_t layer = 0; layer < 3; ++layer) {
    const auto fused = gemma.tensor(layer_name(layer, "ffn_gate_up_exps.weight"));
    auto gate = fused;
    gate.name = layer_name(layer, "ffn_gate_exps.weight");
    gate.dimensions[1] /= 2;
    auto up = gate;
    up.name = layer_name(layer, "ffn_up_exps.weight");
    gate.bytes.clear();
    up.bytes.clear();
    const std::size_t half = fused.bytes.size() / fused.dimensions[2] / 2;
    for (std::size_t first = 0; first < fused.bytes.size(); first += 2 * half) {
      gate.bytes += fused.bytes.substr(first, half);
      up.bytes += fused.bytes.substr(first + half, half);
    }
    std::erase_if(gemma.tensors, [&](const auto& one) { return one.name == fused.name; });
    gemma.tensors.push_back(gate);
    gemma.tensors.push_back(up);
    gemma.rename(layer_name(layer, "ffn_down_exps.scale"),
                 layer_name(layer, "ffn_gate_inp.per_expert_scale"));
  }
  check_gguf("gemma4-moe", gemma);
}

TEST_CASE("experts that work on a stream of another width project into it and back") {
  std::vector<TestTensor> tensors = stored("nemotronh-moe");
  for (TestTensor& tensor : tensors) {
    if (tensor.name.find(".experts.") == std::string::npos) {
      continue;
    }
    const bool is_up = tensor.name.find("up_proj") != std::string::npos;
    const std::size_t d_ff = tensor.shape[is_up ? 0 : 1];
    tensor.numbers = is_up ? up_of_latents(tensor.numbers.data(), d_ff)
                           : down_to_latents(tensor.numbers.data(), d_ff);
    tensor.shape[is_up ? 1 : 0] = kLatents;
  }
  for (const std::string layer : {"backbone.layers.1.mixer.", "backbone.layers.3.mixer."}) {
    tensors.push_back({layer + "fc1_latent_proj.weight", {kLatents, kWide}, into_latents()});
    tensors.push_back({layer + "fc2_latent_proj.weight", {kWide, kLatents}, out_of_latents()});
  }
  check_folder("nemotronh-moe", tensors, {{"moe_latent_size", kLatents}});
  check_folder("nemotronh-moe", put_together(tensors, "", "up_proj", "down_proj"),
               {{"moe_latent_size", kLatents}});
  GgufParts parts = with_latents("ffn_latent_down", "ffn_latent_up");
  parts.set_u32("nemotron_h_moe.moe_latent_size", kLatents);
  check_gguf("nemotronh-moe", parts);
  check_gguf("nemotronh-moe", with_latents("ffn_latent_in", "ffn_latent_out"));  // Ollama's
}

TEST_CASE("a single head of latents is read from tensors without their outermost dimension of 1") {
  const fs::path one = kLayoutCases / "deepseek2-one-head";
  test::ReferenceCase expected;
  expected.model = load_hugging_face(one);
  expected.text.ids = {5, 6, 7, 8, 9, 3};
  const test::ModelRun folder = test::run_model(expected.model, expected.text);
  const test::ModelRun gguf =
      test::run_model(load_gguf(one / "deepseek2-one-head.gguf"), expected.text);
  CHECK(test::largest_difference(gguf.attention, folder.attention) < 1e-6);
  CHECK(test::largest_difference(test::all_of(gguf.stream), test::all_of(folder.stream)) < 1e-5);
}

}  // namespace attnviz
