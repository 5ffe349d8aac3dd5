#include "attnviz/attention/engine.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "attnviz/attention/attention_block.h"
#include "attnviz/attention/layer.h"
#include "attnviz/core/error.h"

namespace attnviz {

namespace {

std::size_t wanted_heads(const Model& model, std::size_t layer, const PatternSink& sink) {
  std::size_t count = 0;
  for (std::size_t head = 0; head < model.layers[layer].heads.size(); ++head) {
    if (sink.wants({layer, head})) {
      ++count;
    }
  }
  return count;
}

// One past the highest layer with a wanted head; nothing when nobody wants any.
std::optional<std::size_t> layers_to_run(const Model& model, const PatternSink& sink) {
  for (std::size_t layer = model.n_layers(); layer-- > 0;) {
    if (wanted_heads(model, layer, sink) > 0) {
      return layer + 1;
    }
  }
  return std::nullopt;
}

// The keys that blocks of queries look at, of all heads of the layers before `end_layer` and of
// `more_heads`; about what Progress is told.
double work(const Model& model, std::size_t end_layer, std::size_t more_heads, std::size_t n_tokens,
            const AttentionRequest& request) {
  std::size_t n_heads = more_heads;
  for (std::size_t layer = 0; layer < end_layer; ++layer) {
    n_heads += model.layers[layer].heads.size();
  }
  const Mask mask = request.mask.value_or(model.config.mask);  // some layers may see less
  const std::size_t rows = attending_rows(n_tokens);
  double pairs = 0.0;
  for (std::size_t first = 0; first < n_tokens; first += rows) {
    const std::size_t end = std::min(first + rows, n_tokens);
    pairs += static_cast<double>((end - first) * visible_range(mask, first, end, n_tokens).size());
  }
  return static_cast<double>(n_heads) * pairs;
}

MatrixBuffer run_before(std::size_t end_layer, const Model& model, const ModelInput& input,
                        const AttentionRequest& request, PatternSink& sink) {
  Progress progress(request.report, work(model, end_layer, 0, input.size(), request));
  LayerMemory memory;
  return run_layers(model, embed(model, input), end_layer, request, sink, memory, &progress);
}

}  // namespace

void check_request(const Model& model, const ModelInput& input, const AttentionRequest& request) {
  if (input.size() == 0) {
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

MatrixBuffer run_attention(const Model& model, const ModelInput& input,
                           const AttentionRequest& request, PatternSink& sink) {
  check_request(model, input, request);
  return run_before(layers_to_run(model, sink).value_or(model.n_layers()), model, input, request,
                    sink);
}

MatrixBuffer run_all_layers(const Model& model, const ModelInput& input,
                            const AttentionRequest& request, PatternSink& sink) {
  check_request(model, input, request);
  return run_before(model.n_layers(), model, input, request, sink);
}

void run_patterns(const Model& model, const ModelInput& input, const AttentionRequest& request,
                  PatternSink& sink) {
  check_request(model, input, request);
  const std::size_t end_layer = layers_to_run(model, sink).value_or(0);
  if (end_layer == 0) {
    return;
  }
  const std::size_t last = end_layer - 1;
  const std::size_t n_last = wanted_heads(model, last, sink);
  Progress progress(request.report, work(model, last, n_last, input.size(), request));
  LayerMemory memory;
  const MatrixBuffer stream =
      run_layers(model, embed(model, input), last, request, sink, memory, &progress);
  run_layer_patterns(model, last, stream.view(), request, sink, memory, &progress);
}

}  // namespace attnviz
