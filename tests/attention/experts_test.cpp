// Models with experts against independent forward passes in float64:
// tests/reference/experts/README.md.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "attnviz/attention/decoding.h"
#include "attnviz/attention/engine.h"
#include "attnviz/core/error.h"
#include "attnviz/core/mapped_file.h"
#include "attnviz/formats/safetensors.h"
#include "attnviz/model/stored_model.h"
#include "support/model_run.h"
#include "support/reference_case.h"

namespace attnviz {

namespace {

namespace fs = std::filesystem;

const fs::path kCases = ATTNVIZ_SOURCE_DIR "/tests/reference/experts";

// Encoder-decoders are tested in encoder_decoder_test.
bool is_of_two_stacks(const fs::path& numbers) {
  const MappedFile file(numbers);
  return Safetensors(file.bytes(), numbers.string()).find("decoder_ids") != nullptr;
}

std::vector<fs::path> cases() {
  std::vector<fs::path> folders;
  for (const fs::directory_entry& entry : fs::directory_iterator(kCases)) {
    const fs::path numbers = entry.path() / "expected.safetensors";
    if (fs::exists(numbers) && !is_of_two_stacks(numbers)) {
      folders.push_back(entry.path());
    }
  }
  std::ranges::sort(folders);
  return folders;
}

// The folder itself, if it is a model, and its GGUF files.
std::vector<fs::path> models_of(const fs::path& folder) {
  std::vector<fs::path> models;
  if (fs::exists(folder / "config.json")) {
    models.push_back(folder);
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".gguf") {
      models.push_back(entry.path());
    }
  }
  std::ranges::sort(models);
  return models;
}

Model load(const fs::path& path) {
  return fs::is_directory(path) ? load_hugging_face(path) : load_gguf(path);
}

// The numbers of a tensor; empty if it does not exist.
template <class Number>
std::vector<Number> numbers_of(const fs::path& folder, std::string_view name) {
  const MappedFile file(folder / "expected.safetensors");
  const Safetensors expected(file.bytes(), folder.string());
  const StoredTensor* const tensor = expected.find(name);
  std::vector<Number> numbers(tensor == nullptr ? 0 : tensor->n_numbers());
  if (tensor != nullptr) {
    REQUIRE(tensor->bytes.size() == numbers.size() * sizeof(Number));
    std::memcpy(numbers.data(), tensor->bytes.data(), tensor->bytes.size());
  }
  return numbers;
}

// The routers' choices, layer by layer.
struct Routes : RunObserver {
  bool wants(std::size_t /*layer*/, LayerStep step) const override {
    return step == LayerStep::kRouter;
  }
  void router(const RunPlace& /*at*/, const RoutedTokens& routed) override {
    experts.insert(experts.end(), routed.experts.begin(), routed.experts.end());
    factors.insert(factors.end(), routed.factors.begin(), routed.factors.end());
  }
  std::vector<std::uint32_t> experts;
  std::vector<float> factors;
};

// The weights of learned sinks, by layer, head and query.
struct Sinks : PatternSink {
  Sinks(const Model& model, std::size_t n)
      : n_heads(model.n_heads()), n_tokens(n), weights(model.n_layers() * n_heads * n) {}
  bool wants(HeadId /*head*/) const override { return true; }
  void rows(HeadId /*head*/, std::size_t /*first*/, std::size_t /*key*/, ConstMatrix) override {}
  void sinks(HeadId head, std::size_t first_query, std::span<const float> some) override {
    std::ranges::copy(
        some, weights.begin() + static_cast<std::ptrdiff_t>(
                                    (head.layer * n_heads + head.head) * n_tokens + first_query));
  }
  std::size_t n_heads;
  std::size_t n_tokens;
  std::vector<float> weights;
};

void check_sinks(const Model& model, const test::TokenIds& text, const fs::path& folder) {
  const std::vector<float> expected = numbers_of<float>(folder, "sink");
  if (!expected.empty()) {
    Sinks found(model, text.ids.size());
    run(model, text.view(), {}, found);
    CHECK(test::largest_difference(found.weights, expected) < 1e-5);
  }
}

void check_routes(const Model& model, const test::TokenIds& text, const fs::path& folder) {
  Routes routes;
  run(model, text.view(), {}, routes);
  const std::vector<std::int64_t> experts = numbers_of<std::int64_t>(folder, "router_index");
  CHECK(std::ranges::equal(routes.experts, experts,
                           [](std::uint32_t a, std::int64_t b) { return std::int64_t{a} == b; }));
  CHECK(test::largest_difference(routes.factors, numbers_of<float>(folder, "router_weight")) <
        1e-5);
}

void check_model(const fs::path& folder, Model loaded) {
  const test::ReferenceCase expected =
      test::load_reference_case(folder / "expected.safetensors", std::move(loaded));
  const Model& model = expected.model;
  for (const std::size_t n_threads : {std::size_t{1}, std::size_t{2}}) {
    const test::ModelRun found = test::run_model(model, expected.text, n_threads);
    CHECK(test::largest_difference(test::of_attention(model, found.attention), expected.attention) <
          1e-5);
    const MatrixBuffer logits = run_output_head(model, found.stream.view(), 1);
    CHECK(test::largest_difference(test::all_of(logits), expected.logits) < 1e-4);
    Decoding decoding(model, {}, expected.text.ids.size());
    for (std::size_t i = 0; i < expected.text.ids.size(); ++i) {
      const std::span<const float> row = decoding.feed(std::span(expected.text.ids).subspan(i, 1));
      CHECK(test::largest_difference(row, logits.view().row(i)) < 2e-5);
    }
  }
  check_routes(model, expected.text, folder);
  check_sinks(model, expected.text, folder);
}

}  // namespace

TEST_CASE("experts: attention within 1e-5 of float64, logits within 1e-4, the same experts") {
  const std::vector<fs::path> folders = cases();
  CHECK(folders.size() >= 6);
  for (const fs::path& folder : folders) {
    for (const fs::path& path : models_of(folder)) {
      const std::string name = path.string();
      CAPTURE(name);
      try {
        check_model(folder, load(path));
      } catch (const Error& error) {
        const std::string what = error.what();
        FAIL_CHECK(what);
      }
    }
  }
}

}  // namespace attnviz
