// How far two models of one shape are apart on a text: their residual streams and what they say
// next.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "attnviz/attention/run_observer.h"
#include "attnviz/core/tensor.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// Whether the heads of two models correspond: as many layers, and in each as many heads. Throws
/// Error{kUsage} that says what differs.
void require_same_heads(const Model& a, const Model& b);

/// What differs in how two models compute, beside their tensors and masks: "norms' epsilon". In
/// words, in the order of a run. Precondition: as many heads in each layer.
std::vector<std::string> different_settings(const Model& a, const Model& b);

/// How far the residual streams are apart: ‖x_A − x_B‖ / ‖x_A‖ of each token; 1 where x_A is 0 and
/// x_B is not.
struct Departure {
  std::optional<std::size_t> layer;  // after it; absent: what enters the first one
  double largest = 0.0;              // of one token
  std::size_t token = 0;             // the first such
  double mean = 0.0;                 // over tokens
};

/// Keeps the residual stream before the first layer and after each of a run.
class StreamStore : public RunObserver {
 public:
  bool wants(std::size_t layer, LayerStep step) const override {
    return step == LayerStep::kAfter || (step == LayerStep::kBefore && layer == 0);
  }
  void stream(const RunPlace& at, ConstMatrix x) override;

  /// In the order of the run, [n_tokens, d_model] each.
  const std::vector<MatrixBuffer>& streams() const noexcept { return streams_; }

 private:
  std::vector<MatrixBuffer> streams_;
};

/// What a StreamStore keeps; an estimate.
double stream_bytes(const Model& model, std::size_t n_tokens) noexcept;

/// Compares the streams of another run with these, and keeps the last one.
class StreamComparison : public RunObserver {
 public:
  /// `first`, of a model with as many layers, must outlive it.
  explicit StreamComparison(const StreamStore& first) : first_(first) {}

  bool wants(std::size_t layer, LayerStep step) const override { return first_.wants(layer, step); }
  void stream(const RunPlace& at, ConstMatrix x) override;

  /// After each; empty where the streams are of different widths.
  const std::vector<Departure>& departures() const noexcept { return departures_; }
  ConstMatrix last() const noexcept { return last_.view(); }

 private:
  const StreamStore& first_;
  std::vector<Departure> departures_;
  std::size_t n_seen_ = 0;
  MatrixBuffer last_;
};

/// Σ p_A log2(p_A / p_B) over the vocabulary, in bits, of what two models predict from what leaves
/// their last layers, [n_tokens, d_model]: one number a token. Empty when one of them predicts
/// nothing, or when their vocabularies differ in size. Throws Error{kMalformed} when a logit is not
/// finite.
std::vector<double> prediction_kl_bits(const Model& a, ConstMatrix from_a, const Model& b,
                                       ConstMatrix from_b, std::size_t n_threads);

}  // namespace attnviz
