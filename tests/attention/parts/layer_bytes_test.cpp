// The memory that the parts of a layer are estimated to need, against what they take.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "attnviz/attention/decoding.h"
#include "attnviz/attention/engine.h"
#include "attnviz/attention/key_value_cache.h"
#include "attnviz/attention/layer.h"
#include "attnviz/attention/parts/cross_attention.h"
#include "attnviz/model/stored_model.h"
#include "support/model_builder.h"

namespace attnviz {
namespace {

const std::filesystem::path kExperts = ATTNVIZ_SOURCE_DIR "/tests/reference/experts";
constexpr double kFloat = sizeof(float);

double size_of(const MatrixBuffer& matrix) {
  return static_cast<double>(matrix.view().rows * matrix.view().cols);
}

std::vector<std::uint32_t> some_ids(std::size_t count) {
  std::vector<std::uint32_t> ids(count);
  for (std::size_t i = 0; i < count; ++i) {
    ids[i] = static_cast<std::uint32_t>(5 + i % 11);
  }
  return ids;
}

// The model of one layer for which `fits` is true.
template <class Fits>
Model one_layer(const char* name, Fits fits) {
  Model model = load_hugging_face(kExperts / name);
  const auto found = std::ranges::find_if(model.layers, fits);
  REQUIRE(found != model.layers.end());
  model.layers = {*found};
  return model;
}

}  // namespace

TEST_CASE("cross_bytes is what a run over all layers keeps of the source") {
  for (const char* name : {"t5-relu-tied", "t5-v1.1", "marian"}) {
    CAPTURE(name);
    const Model model = load_hugging_face(kExperts / name);
    const std::vector<std::uint32_t> source = some_ids(37);
    const std::vector<std::uint32_t> target = some_ids(6);
    ModelInput input;
    input.ids = source;
    const MatrixBuffer encoded = encode(model, input, {});
    input.ids = target;
    LayerMemory memory;
    memory.cross.encoded = encoded.view();
    RunObserver idle_observer;
    run_layers(model, 0, embed(model, input), {model.n_layers() - 1, LayerReach::kWhole}, {},
               idle_observer, memory);
    double taken = size_of(encoded) + size_of(memory.cross.contexts);
    for (const MatrixBuffer& queries : memory.cross.queries) {
      taken += size_of(queries);
    }
    REQUIRE(memory.cross.layers.size() == model.n_layers());
    for (const CrossKeys& layer : memory.cross.layers) {
      for (std::size_t head = 0; head < layer.keys.size(); ++head) {
        taken += static_cast<double>(
            kernels::KeyPanels::n_floats(layer.keys[head].n_keys(), layer.keys[head].d_head()));
        taken += size_of(layer.values[head]);
      }
    }
    const double estimate = cross_bytes(model, target.size(), source.size());
    CHECK(estimate >= taken * kFloat);
    CHECK(estimate < 1.2 * taken * kFloat);
    CHECK(continuation_bytes(model, 6, 4, 37) ==
          continuation_bytes(model, 6, 4) + estimate - cross_bytes(model, 6, 0));
  }
  CHECK(cross_bytes(load_hugging_face(kExperts / "qwen3.5"), 6, 37) == 0.0);
}

TEST_CASE("layer_bytes counts output gates beside contexts") {
  Model model = one_layer("qwen3.5", [](const LayerWeights& layer) {
    return !layer.heads.empty() && !layer.heads.front().output_gate.weight.empty();
  });
  const double with = layer_bytes(model, 10);
  double width = 0.0;
  for (HeadWeights& head : model.layers.front().heads) {
    width += static_cast<double>(head.d_value());
    head.output_gate = {};
  }
  CHECK(with - layer_bytes(model, 10) == 10.0 * width * kFloat);
}

TEST_CASE("layer_bytes counts learned residuals, and the per-token inputs of layers") {
  Model model =
      one_layer("gemma3n", [](const LayerWeights& layer) { return layer.laurel.present(); });
  const double whole = layer_bytes(model, 10);
  const double rank = static_cast<double>(model.layers.front().laurel.left.d_out());
  model.layers.front().laurel = {};
  const double without = layer_bytes(model, 10);
  CHECK(whole - without ==
        10.0 * (2.0 * static_cast<double>(model.config.d_model) + rank) * kFloat);
  const double inputs = static_cast<double>(model.layer_embeddings.projection.d_out());
  model.layer_embeddings = {};
  CHECK(without - layer_bytes(model, 10) == 10.0 * inputs * kFloat);
}

TEST_CASE("layer_bytes counts a convolution's output, and keys that are kept for other layers") {
  test::ModelBuilder builder(1, 4);
  builder.add_layer({{4, 3}}, test::OutputForm::kPerLayer);
  builder.add_layer({{4, 3}}, test::OutputForm::kPerLayer);
  Model& model = builder.model;
  const double plain = layer_bytes(model, 10);
  model.layers[1].keys_from = 0;
  CHECK(layer_bytes(model, 10) - plain == LayerCache::bytes(model.layers[0], 10));
  CHECK(layer_bytes(model, 10) - plain >= 10.0 * (4 + 3) * kFloat);
  model.layers[1].keys_from.reset();
  for (LayerWeights& layer : model.layers) {
    layer.convolution.width = 3;
    layer.convolution.in.weight = builder.random(4, 12);
    layer.convolution.out.weight = builder.random(4, 4);
  }
  CHECK(layer_bytes(model, 10) - plain == 10.0 * (12 + 4) * kFloat);
}

}  // namespace attnviz
