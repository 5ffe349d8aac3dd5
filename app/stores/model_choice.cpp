#include "stores/model_choice.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>

#include "attnviz/core/error.h"
#include "attnviz/model/demo_model.h"
#include "attnviz/model/gguf_model.h"
#include "attnviz/model/hugging_face.h"
#include "attnviz/model/random_model.h"
#include "attnviz/model/weights_json.h"
#include "stores/model_store.h"
#include "system/memory.h"

namespace attnviz::app {

namespace {

// Follows random_model's defaults; an estimate, so doubles instead of checked products.
double random_model_bytes(const RandomShape& shape) {
  constexpr double kDefaultHeadWidth = 16.0;
  const auto heads = static_cast<double>(shape.n_heads);
  const auto or_else = [](std::size_t size, double otherwise) {
    return size == 0 ? otherwise : static_cast<double>(size);
  };
  const double guess =
      shape.d_model == 0 ? kDefaultHeadWidth : static_cast<double>(shape.d_model) / heads;
  const double d_head = or_else(shape.d_head, guess);
  const double d_model = or_else(shape.d_model, heads * d_head);
  const double d_value = or_else(shape.d_value, d_head);
  const double kv_heads = or_else(shape.n_kv_heads, heads);
  const double a_layer = d_model * (heads * (d_head + d_value) + kv_heads * (d_head + d_value));
  const double bookkeeping = heads * static_cast<double>(sizeof(HeadWeights));
  return static_cast<double>(shape.n_layers) *
         (a_layer * static_cast<double>(sizeof(float)) + bookkeeping);
}

Model load_model(const std::filesystem::path& path) {
  switch (model_kind(path)) {
    case ModelKind::kEmbedded:
      return demo_model();
    case ModelKind::kGguf:
      return load_gguf(path);
    case ModelKind::kHuggingFace:
      return load_hugging_face(path);
    case ModelKind::kWeightsJson:
      break;
  }
  return load_weights_json(path);
}

}  // namespace

Model open_model(const ModelOptions& options) {
  if (!options.weights) {
    require_memory(random_model_bytes(options.shape), "a random model of this shape",
                   "make --layers, --heads, --d-model, --d-head or --d-value smaller");
    return random_model(options.shape, options.seed.value_or(kDefaultSeed),
                        options.positions.value_or(Positions::kNone));
  }
  const std::filesystem::path path = find_model(*options.weights);
  Model model = load_model(path);
  if (path != *options.weights && is_gguf_file(path)) {
    model.config.name = options.weights->string();  // stores name files by their digests
  }
  if (options.positions) {
    if (model.config.positions != Positions::kNone &&
        model.config.positions != *options.positions) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("--positions {}: {} has positions of its own: {}{}",
                              positions_name(*options.positions), options.weights->string(),
                              positions_name(model.config.positions),
                              path == kDemo ? "; --random takes any" : ""));
    }
    model.config.positions = *options.positions;
  }
  if (options.seed) {
    if (model.config.random_weights) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("--seed {}: {} says that its weights are random, from seed {}",
                              *options.seed, options.weights->string(), model.config.seed));
    }
    model.config.seed = *options.seed;  // of embeddings that the file leaves out
  }
  return model;
}

}  // namespace attnviz::app
