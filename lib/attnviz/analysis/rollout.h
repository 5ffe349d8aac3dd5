// Attention rollout: how much of each input token reaches each token through several layers.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "attnviz/analysis/average.h"
#include "attnviz/analysis/heads/value_norms.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/request.h"
#include "attnviz/attention/run_observer.h"
#include "attnviz/core/choices.h"
#include "attnviz/core/tensor.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// How the heads of a layer become one pattern.
enum class RolloutOver { kMean, kMax };

inline constexpr std::array kRolloutOvers = {Choice{"mean", RolloutOver::kMean},
                                             Choice{"max", RolloutOver::kMax}};

struct RolloutRequest {
  RolloutOver over = RolloutOver::kMean;
  float residual = 0.5f;  // share of the residual stream, in [0, 1)
  bool weighted = false;  // by what each token would pass on: A[q][k] · ‖f(x_k)‖ in place of A
};

/// Whether a layer adds the stream that enters it to what attention gives. The residual share of
/// layers that do not is 0.
bool has_residual(const Model& model, std::size_t layer) noexcept;

/// R = Â_l … Â_1 Â_0 with Â = (1 - r) · A + r · I, rows scaled to sum to 1; A is the mean, or the
/// largest, over the chosen heads of a layer, and r the residual share. Layers without a chosen
/// head are left out. Weighted: each row of A[q][k] · ‖f(x_k)‖ is scaled to sum to 1 first, f as in
/// ValueNorms.
///
/// Rows of R sum to 1, but for those of queries that see nothing and have no residual: these are 0.
/// Its memory does not grow with layers and heads: rollout_bytes().
///
/// It is the sink of a run and has to be an observer of the same run.
///
/// Source  Abnar & Zuidema 2020, "Quantifying Attention Flow in Transformers", section 3; weighted
///         by Kobayashi et al. 2020, eq. 4.
class Rollout : public PatternSink, public RunObserver {
 public:
  /// `heads`, without repeats, of a text of `n_tokens`. The model must outlive it.
  Rollout(const Model& model, const std::vector<HeadId>& heads, std::size_t n_tokens,
          const AttentionRequest& request, const RolloutRequest& rollout);

  bool wants(HeadId head) const override;
  void rows(HeadId head, std::size_t first_query, std::size_t first_key,
            ConstMatrix weights) override;

  bool wants(std::size_t layer, LayerStep step) const override;
  void stream(const RunPlace& at, ConstMatrix x) override;
  bool wants_values(HeadId head) const override { return rollout_.weighted && wants(head); }
  void values(std::size_t layer, std::span<const HeadValues> heads) override;

  /// R [n_tokens, n_tokens], once the run is over. May be called once.
  MatrixBuffer take();

 private:
  void finish_layer();
  void keep_largest(std::size_t first_query, std::size_t first_key, ConstMatrix weights);
  void add(HeadId head, std::size_t first_query, std::size_t first_key, ConstMatrix weights);

  const Model& model_;
  std::map<std::size_t, std::vector<HeadId>> heads_;  // of each layer, sorted
  std::size_t n_tokens_;
  std::size_t n_threads_;
  float largest_sum_;  // of a row of weights
  RolloutRequest rollout_;
  std::optional<ValueNorms> norms_;
  std::optional<std::size_t> layer_;  // whose rows come
  std::optional<AverageSink> mean_;   // of it
  MatrixBuffer largest_;              // in place of the mean
  std::array<std::mutex, 64> row_locks_;
  std::atomic<bool> looks_ahead_ = false;  // a query, at what comes behind it
  MatrixBuffer reached_;                   // R of the layers before; empty before the first
};

/// What a Rollout takes at most; an estimate.
double rollout_bytes(std::size_t n_tokens) noexcept;

}  // namespace attnviz
