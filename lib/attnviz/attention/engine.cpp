#include "attnviz/attention/engine.h"

#include <fmt/core.h>

#include <cmath>
#include <utility>

#include "attnviz/attention/layer.h"
#include "attnviz/core/error.h"

namespace attnviz {

namespace {

// One past the highest layer with a wanted head; all layers when nobody wants any.
std::size_t layers_to_run(const Model& model, const PatternSink& sink) {
  for (std::size_t layer = model.n_layers(); layer-- > 0;) {
    for (std::size_t head = 0; head < model.layers[layer].heads.size(); ++head) {
      if (sink.wants({layer, head})) {
        return layer + 1;
      }
    }
  }
  return model.n_layers();
}

}  // namespace

void check_request(const Model& model, std::span<const std::string_view> pieces,
                   const AttentionRequest& request) {
  if (pieces.empty()) {
    throw Error(ErrorKind::kUsage, "the text has no tokens: give at least one");
  }
  if (model.layers.empty()) {
    throw Error(ErrorKind::kMalformed, fmt::format("{}: no attention layers", model.config.name));
  }
  // Subnormal temperatures are out too: one over them is no float.
  if (!std::isnormal(request.temperature) || request.temperature < 0.0f) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("temperature {}: expected a number from 1e-37 to 1e38", request.temperature));
  }
  if (!(request.dropout >= 0.0f && request.dropout < 1.0f)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("dropout {}: expected at least 0 and less than 1", request.dropout));
  }
  const Mask mask = request.mask.value_or(model.config.mask);
  const bool needs_size = mask.kind != MaskKind::kCausal && mask.kind != MaskKind::kNone;
  if (needs_size && mask.size == 0) {
    throw Error(ErrorKind::kUsage,
                fmt::format("mask \"{}\": the size must be at least 1", mask.name()));
  }
}

MatrixBuffer run_attention(const Model& model, std::span<const std::string_view> pieces,
                           const AttentionRequest& request, PatternSink& sink) {
  check_request(model, pieces, request);
  const std::size_t end_layer = layers_to_run(model, sink);
  MatrixBuffer stream = embed(model, pieces);
  for (std::size_t layer = 0; layer < end_layer; ++layer) {
    stream = run_layer(model, layer, std::as_const(stream).view(), request, sink);
  }
  return stream;
}

}  // namespace attnviz
