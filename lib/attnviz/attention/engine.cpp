#include "attnviz/attention/engine.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "attnviz/attention/head_math.h"
#include "attnviz/attention/interventions.h"
#include "attnviz/attention/layer.h"
#include "attnviz/attention/parts/altup_streams.h"
#include "attnviz/core/error.h"

namespace attnviz {

namespace {

// The keys that blocks of queries look at; about what Progress is told.
double work(const Model& model, std::size_t n_heads, std::size_t n_tokens,
            const AttentionRequest& request) {
  const Mask mask = request.mask.value_or(model.config.mask);  // some layers may see less
  const std::size_t rows = attending_rows(n_tokens);
  double pairs = 0.0;
  for (std::size_t first = 0; first < n_tokens; first += rows) {
    const std::size_t end = std::min(first + rows, n_tokens);
    pairs += static_cast<double>((end - first) * visible_range(mask, first, end, n_tokens).size());
  }
  return static_cast<double>(n_heads) * pairs;
}

void run_observed(const Model& model, const ModelInput& input, const AttentionRequest& request,
                  RunObserver& observer) {
  const RunEnd end = run_end(model, observer);
  if (end.reach == LayerReach::kNothing) {
    return;
  }
  std::size_t n_heads = end.n_heads;
  for (std::size_t layer = 0; layer < end.layer; ++layer) {
    n_heads += model.layers[layer].heads.size();
  }
  Progress progress(request.report, work(model, n_heads, input.size(), request));
  LayerMemory memory;
  memory.cross.encoded = input.encoded;
  MatrixBuffer stream = embed(model, input);
  memory.layer_inputs = embed_for_layers(model, input, std::as_const(stream).view());
  run_layers(model, 0, enter_layers(model, std::move(stream), request.n_threads), end, request,
             observer, memory, &progress);
}

}  // namespace

void check_request(const Model& model, const ModelInput& input, const AttentionRequest& request) {
  if (input.size() == 0) {
    throw Error(ErrorKind::kUsage, "the text has no tokens: give at least one");
  }
  if (model.layers.empty()) {
    throw Error(ErrorKind::kMalformed, fmt::format("{}: no attention layers", model.config.name));
  }
  if (model.encoder != nullptr && input.encoded.empty()) {
    throw Error(ErrorKind::kUsage,
                fmt::format("{}: a decoder that looks at another text: expected what its encoder "
                            "makes of one",
                            model.config.name));
  }
  if (!is_temperature(request.temperature)) {
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

void run(const Model& model, const ModelInput& input, const AttentionRequest& request,
         RunObserver& observer) {
  check_request(model, input, request);
  if (request.interventions == nullptr) {
    return run_observed(model, input, request, observer);
  }
  Intervener changes(model, input, request, *request.interventions);
  ObserverGroup both({&changes, &observer});
  run_observed(model, input, request, both);
}

void run(const Model& model, const ModelInput& input, const AttentionRequest& request,
         PatternSink& patterns) {
  RunObserver observer(patterns);
  run(model, input, request, observer);
}

}  // namespace attnviz
