// Whole models against independent forward passes: tests/reference/models/README.md.

#include <doctest/doctest.h>

#include <libdeflate.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "attnviz/attention/engine.h"
#include "attnviz/core/mapped_file.h"
#include "attnviz/formats/npy.h"
#include "attnviz/model/stored_model.h"
#include "support/json.h"
#include "support/model_run.h"
#include "support/reference_case.h"
#include "support/run_program.h"
#include "support/stored_model.h"

namespace attnviz {

namespace {

namespace fs = std::filesystem;

const fs::path kModels = ATTNVIZ_SOURCE_DIR "/tests/reference/models";
const fs::path kShared = ATTNVIZ_SOURCE_DIR "/../shared/reference/models";

using Input = test::TokenIds;
using test::all_of;
using test::largest_difference;

// A file in an .npz, which is a zip of files.
std::string npz_member(std::string_view zip, std::string_view name) {
  constexpr std::size_t kHeader = 30;
  constexpr std::size_t kSizeAt = 18;
  constexpr std::size_t kNameLengthAt = 26;
  const auto number = [&zip](std::size_t at, std::size_t bytes) {
    std::size_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) {
      value |= static_cast<std::size_t>(static_cast<unsigned char>(zip.at(at + i))) << 8 * i;
    }
    return value;
  };
  std::size_t at = 0;
  while (zip.substr(at, 4) == "PK\x03\x04") {
    const std::size_t name_length = number(at + kNameLengthAt, 2);
    const std::size_t begin = at + kHeader + name_length + number(at + kNameLengthAt + 2, 2);
    const std::size_t packed = number(at + kSizeAt, 4);
    if (zip.substr(at + kHeader, name_length) == name) {
      std::string bytes(number(at + kSizeAt + 4, 4), '\0');
      libdeflate_decompressor* const decompressor = libdeflate_alloc_decompressor();
      const libdeflate_result result = libdeflate_deflate_decompress(
          decompressor, zip.data() + begin, packed, bytes.data(), bytes.size(), nullptr);
      libdeflate_free_decompressor(decompressor);
      REQUIRE(result == LIBDEFLATE_SUCCESS);
      return bytes;
    }
    at = begin + packed;
  }
  FAIL("no such member");
  return {};
}

// The logits of a reference model with this activation, whose MLPs add only their biases.
std::vector<float> logits_without_mlps(const std::string& name, const std::string& activation) {
  const test::TemporaryFolder folder;
  test::copy_model(name, folder.path());
  test::change_config(folder.path(), "hidden_act", activation);
  test::ReferenceCase loaded = test::load_reference_case(folder.path());
  std::vector<float> zeros;
  for (LayerWeights& layer : loaded.model.layers) {
    StoredMatrix& down = layer.mlp.down.weight;
    zeros.resize(down.rows * down.cols);
    down = ConstMatrix{zeros.data(), down.rows, down.cols, down.cols};
  }
  const test::ModelRun found = test::run_model(loaded.model, loaded.text);
  const MatrixBuffer logits = run_output_head(loaded.model, found.stream.view(), 1);
  return {all_of(logits).begin(), all_of(logits).end()};
}

}  // namespace

TEST_CASE("every family and variant: attention within 1e-5, logits within 1e-4 of float64") {
  for (const fs::path& folder : test::reference_cases()) {
    test::check_numbers(test::load_reference_case(folder));
  }
}

// transformers: RobertaLMHead.forward against BertPredictionHeadTransform.
TEST_CASE("hidden_act applies to BERT's head, too, but not to RoBERTa's, which is always GELU") {
  const auto difference = [](const std::string& name) {
    return largest_difference(logits_without_mlps(name, "relu"), logits_without_mlps(name, "gelu"));
  };
  CHECK(difference("roberta-mlm") == 0.0);
  CHECK(difference("bert-mlm-gamma-beta") > 1e-3);
}

TEST_CASE("a trained Llama model: attention, logits and greedy text of the reference files") {
  const fs::path folder = kShared / "stories260k";
  if (!fs::exists(folder)) {
    MESSAGE("SKIPPED: no ../shared/reference/models");
    return;
  }
  const Model model = load_hugging_face(folder);
  const auto read_array = [&folder](const char* name) {
    const MappedFile file(folder / name);
    return read_npy(file.bytes(), name);
  };
  CHECK(model.config.name == "stories260k");
  Input cat;
  cat.ids = test::read_json(folder / "cat.json")["ids"].get<std::vector<std::uint32_t>>();
  const test::ModelRun found = test::run_model(model, cat);
  CHECK(largest_difference(found.attention, all_of(read_array("cat.attention.npy").values)) < 1e-5);
  const MatrixBuffer logits = run_output_head(model, found.stream.view(), 1);
  CHECK(largest_difference(all_of(logits), all_of(read_array("cat.logits.npy").values)) < 1e-4);

  const auto greedy =
      test::read_json(folder / "greedy.json")["ids"].get<std::vector<std::uint32_t>>();
  Input text;
  text.ids.push_back(greedy.front());
  while (text.ids.size() < greedy.size()) {
    const test::ModelRun so_far = test::run_model(model, text);
    const ConstMatrix last = so_far.stream.view().row_block(text.ids.size() - 1, 1);
    const MatrixBuffer next = run_output_head(model, last, 1);
    const std::span<const float> row = next.view().row(0);
    text.ids.push_back(
        static_cast<std::uint32_t>(std::max_element(row.begin(), row.end()) - row.begin()));
  }
  CHECK(text.ids == greedy);
}

TEST_CASE("a trained GPT-2 model sorts, and its attention agrees with PyTorch") {
  const fs::path folder = kShared / "gpt-nano-sort";
  if (!fs::exists(folder)) {
    MESSAGE("SKIPPED: no ../shared/reference/models");
    return;
  }
  const Model model = load_hugging_face(folder);
  const MappedFile file(folder / "nano_sort_partials.npz");
  const NpyArray idx = read_npy(npz_member(file.bytes(), "idx.npy"), "idx.npy");
  const NpyArray att = read_npy(npz_member(file.bytes(), "attSm.npy"), "attSm.npy");
  const NpyArray expected = read_npy(npz_member(file.bytes(), "lm_head.npy"), "lm_head.npy");
  REQUIRE(idx.values.rows() == 3);
  const std::size_t n = idx.values.cols();
  for (std::size_t text = 0; text < idx.values.rows(); ++text) {
    Input input;
    for (const float id : idx.values.view().row(text)) {
      input.ids.push_back(static_cast<std::uint32_t>(id));
    }
    const test::ModelRun found = test::run_model(model, input);
    const std::size_t layer = model.n_heads() * n * n;
    const std::span<const float> first_layer = std::span(found.attention).first(layer);
    CHECK(largest_difference(first_layer, all_of(att.values).subspan(text * layer, layer)) < 1e-5);
    const MatrixBuffer logits = run_output_head(model, found.stream.view(), 1);
    const std::span<const float> own =
        all_of(expected.values).subspan(text * n * logits.cols(), n * logits.cols());
    CHECK(largest_difference(all_of(logits), own) < 1e-4);
  }
}

TEST_CASE("whole models: bit-identical for any number of threads") {
  const Model model = load_hugging_face(kModels / "llama-gqa-bias");
  Input input;
  for (std::uint32_t i = 0; i < 60; ++i) {
    input.ids.push_back(i * 7 % static_cast<std::uint32_t>(model.embeddings.rows));
  }
  const test::ModelRun one = test::run_model(model, input, 1);
  const test::ModelRun three = test::run_model(model, input, 3);
  CHECK(largest_difference(one.attention, three.attention) == 0.0);
  CHECK(largest_difference(all_of(one.stream), all_of(three.stream)) == 0.0);
}

}  // namespace attnviz
