// The switches of attention for one run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "attnviz/model/mask.h"

namespace attnviz {

struct Model;
struct ModelInput;
struct Interventions;

/// Receives the share of the work that is done, in [0, 1]: one call at a time, from any thread.
///
/// Example:
///     const attnviz::ProgressReport report = [](double done) { std::printf("%.2f\n", done); };
using ProgressReport = std::function<void(double done)>;

/// From 1e-37 to 1e38, so that the reciprocal is a normal float, too.
constexpr bool is_temperature(float temperature) noexcept {
  return temperature >= 1e-37f && temperature <= 1e38f;
}

/// What-if switches; the defaults are the model's own attention.
///
/// Example:
///     attnviz::AttentionRequest request;
///     request.temperature = 0.5f;
///     request.mask = attnviz::Mask{attnviz::MaskKind::kNone};
///     request.report = [](double done) { std::fprintf(stderr, "%.0f %%\n", 100 * done); };
struct AttentionRequest {
  std::optional<Mask> mask;  // default: the model's
  float temperature = 1.0f;  // divides the scaled scores; is_temperature()
  bool scale = true;         // divide scores by √d_head
  float dropout = 0.0f;      // in [0, 1): drops weights, the others are divided by 1 - dropout
  std::uint64_t dropout_seed = 0;
  std::size_t n_threads = 1;
  ProgressReport report;  // receives the share of the attention that is done; may be empty
  /// What the run leaves out, applied before an observer is called; null: nothing.
  std::shared_ptr<const Interventions> interventions;

  /// No row of weights sums to more than this.
  float largest_sum() const noexcept { return 1.0f / (1.0f - dropout); }
};

/// The checks that every run makes first: throws Error{kUsage} for a text without tokens or a
/// request out of range, and Error{kMalformed} for a model without layers.
void check_request(const Model& model, const ModelInput& input, const AttentionRequest& request);

}  // namespace attnviz
