#include "attnviz/attention/engine.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "attnviz/attention/blocked_product.h"
#include "attnviz/attention/head_math.h"
#include "attnviz/attention/interventions.h"
#include "attnviz/attention/layer.h"
#include "attnviz/attention/parts/layer_parts.h"
#include "attnviz/core/error.h"
#include "attnviz/kernels/row_kernels.h"

namespace attnviz {

namespace {

// Number of keys that all blocks of queries read; approximately the work that Progress counts.
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
    throw Error(
        ErrorKind::kUsage,
        fmt::format("{}: its decoder attends to another text: expected the output of its encoder",
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

MatrixBuffer run_output_head(const Model& model, ConstMatrix stream, std::size_t n_threads) {
  MatrixBuffer logits(stream.rows, model.head.unembedding.d_out());
  run_output_head(model, stream, n_threads, logits.view());
  return logits;
}

void run_output_head(const Model& model, ConstMatrix stream, std::size_t n_threads, Matrix logits) {
  const OutputHead& head = model.head;
  if (head.unembedding.weight.empty()) {
    throw Error(
        ErrorKind::kUnsupported,
        fmt::format("{}: the model has no output head: it predicts no tokens", model.config.name));
  }
  MatrixBuffer normed(stream.rows, stream.cols);
  apply_norm(head.norm, stream, normed.view());
  if (!head.transform.weight.empty()) {
    MatrixBuffer transformed(stream.rows, stream.cols);
    blocked_product(std::as_const(normed).view(), head.transform, n_threads, transformed.view());
    kernels::activate(head.activation, transformed.view());
    apply_norm(head.transform_norm, transformed.view(), transformed.view());
    normed = std::move(transformed);
  }
  if (!head.projection.weight.empty()) {
    MatrixBuffer projected(stream.rows, head.projection.d_out());
    blocked_product(std::as_const(normed).view(), head.projection, n_threads, projected.view());
    normed = std::move(projected);
  }
  blocked_product(std::as_const(normed).view(), head.unembedding, n_threads, logits);
  for (std::size_t row = 0; row < logits.rows && head.scale != 1.0f; ++row) {
    kernels::scale(logits.row(row), head.scale);
  }
  if (head.soft_cap > 0.0f) {
    for (std::size_t row = 0; row < logits.rows; ++row) {
      kernels::soft_cap(logits.row(row), head.soft_cap);
    }
  }
  if (!kernels::all_finite(logits)) {
    throw Error(ErrorKind::kMalformed,
                fmt::format("{}: a logit is not a finite number ({})", model.config.name,
                            why_not_finite(model, model.n_layers())));
  }
}

std::vector<ProbableToken> most_probable(std::span<const float> logits, std::size_t count) {
  std::vector<std::uint32_t> ids(logits.size());
  std::iota(ids.begin(), ids.end(), std::uint32_t{0});
  const auto middle = ids.begin() + static_cast<std::ptrdiff_t>(
                                        std::min(std::max<std::size_t>(count, 1), ids.size()));
  std::partial_sort(ids.begin(), middle, ids.end(), [logits](std::uint32_t a, std::uint32_t b) {
    return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
  });
  const auto largest = static_cast<double>(logits[ids.front()]);
  double sum = 0.0;
  for (const float logit : logits) {
    sum += std::exp(static_cast<double>(logit) - largest);
  }
  std::vector<ProbableToken> tokens;
  tokens.reserve(std::min(count, ids.size()));
  ids.resize(std::min(count, ids.size()));
  for (const std::uint32_t id : ids) {
    const float logit = logits[id];
    tokens.push_back({id, std::exp(static_cast<double>(logit) - largest) / sum, logit});
  }
  return tokens;
}

double log_probability(std::span<const float> logits, std::uint32_t id) {
  const auto largest = static_cast<double>(*std::ranges::max_element(logits));
  double sum = 0.0;
  for (const float logit : logits) {
    sum += std::exp(static_cast<double>(logit) - largest);
  }
  return static_cast<double>(logits[id]) - largest - std::log(sum);
}

std::size_t rank_of(std::span<const float> logits, std::uint32_t id) noexcept {
  const float own = logits[id];
  std::size_t rank = 0;
  for (std::size_t other = 0; other < logits.size(); ++other) {
    rank += logits[other] > own || (logits[other] == own && other < id) ? 1u : 0u;
  }
  return rank;
}

}  // namespace attnviz
