// What a change of a run does to what is predicted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attnviz/analysis/most_probable.h"
#include "attnviz/core/tensor.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// What a change of the run does to the prediction behind the last token. KL divergences are in
/// bits and at least 0.
struct PredictionChange {
  double log_probability = 0.0;  // of the target: new minus old, nats
  double kl_bits = 0.0;          // KL(unchanged ‖ changed) behind the last token
  double kl_bits_mean = 0.0;     // its mean over all tokens
  ProbableToken top;             // the most probable one now
};

/// What the unchanged run predicts, for changed ones to be held against.
class UnchangedPrediction {
 public:
  /// `last` [n_tokens, d_model] is what leaves the last layer. Keeps all logits, [n_tokens,
  /// n_vocab]. `model` must outlive it. Throws Error{kUsage} for a target outside of the vocabulary
  /// and what run_output_head() throws.
  UnchangedPrediction(const Model& model, ConstMatrix last, std::uint32_t target,
                      std::size_t n_threads);

  /// Of each run whose last layer gives n_tokens rows of `lasts`, [n_runs · n_tokens, d_model].
  /// Throws what run_output_head() throws.
  std::vector<PredictionChange> changes_to(ConstMatrix lasts);

  /// How many short ones are best told at once: their logits are one product.
  std::size_t runs_at_once() const noexcept;

  /// Bytes that it takes, with as many runs as are told at once; an estimate.
  static double bytes(const Model& model, std::size_t n_tokens) noexcept;

 private:
  const Model& model_;
  std::uint32_t target_;
  std::size_t n_threads_;
  MatrixBuffer logits_, memory_;
  std::vector<double> log_sums_;  // by token
};

/// ln p of the target for each row of what leaves the last layer, [last.rows]. Throws as
/// UnchangedPrediction() does.
std::vector<double> log_probabilities(const Model& model, ConstMatrix last, std::uint32_t target,
                                      std::size_t n_threads);

}  // namespace attnviz
