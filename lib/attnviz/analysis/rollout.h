// Attention rollout: how much of each input token reaches each token through several layers. The
// mean of several heads' patterns, taken while they are computed.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "attnviz/analysis/analysis_requests.h"
#include "attnviz/analysis/heads/score_run.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/request.h"
#include "attnviz/attention/run_observer.h"
#include "attnviz/core/choices.h"
#include "attnviz/core/exact_sum.h"
#include "attnviz/core/tensor.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// "heads", "layers", "all".
std::string_view average_name(AverageOver over) noexcept;
/// Throws Error{kUsage} naming the valid ones, with did-you-mean.
AverageOver parse_average(std::string_view name);

/// Which of `heads` are averaged with which, in order. Throws Error{kUsage} when they are no full
/// rectangle of layers and heads, unless `over` is kAll. Precondition: heads is not empty.
std::vector<std::vector<HeadId>> average_groups(std::span<const HeadId> heads, AverageOver over);

/// Adds up the patterns of each group; keeps one matrix a group, of 8 bytes a weight.
///
/// The sums are in fixed point; each weight is off by less than 1e-12.
class AverageSink : public PatternSink {
 public:
  /// Groups without repeats, none empty. `largest_weight`: no weight is above it, none below 0.
  /// Throws Error{kUsage} when the size overflows and Error{kIo} when memory is not to be had.
  AverageSink(std::vector<std::vector<HeadId>> groups, std::size_t n_tokens, float largest_weight);

  bool wants(HeadId head) const override;
  void rows(HeadId head, std::size_t first_query, std::size_t first_key,
            ConstMatrix weights) override;

  const std::vector<std::vector<HeadId>>& groups() const noexcept { return groups_; }

  /// The mean of one group, [n_tokens, n_tokens], once every row of its heads has come. Gives the
  /// memory of its sums back: may be called once.
  MatrixBuffer take_mean(std::size_t group);

 private:
  using Sums = std::vector<std::int64_t>;  // [n_tokens, n_tokens]

  std::vector<std::vector<HeadId>> groups_;
  std::map<HeadId, std::size_t> group_of_;
  std::size_t n_tokens_;
  FixedPoint sum_;
  std::vector<Sums> sums_;
  std::array<std::mutex, 64> row_locks_;  // each for every 64th row
};

/// The mean of patterns of one shape, at least one: their sum in double precision, in their order.
MatrixBuffer mean_pattern(std::span<const ConstMatrix> patterns);

/// How the heads of a layer become one pattern.

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
