// Attention rollout: how much of each input token reaches each token through several layers. The
// average of several heads' patterns, computed while they arrive.
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
/// Throws Error{kUsage} that lists the valid names, with a suggestion.
AverageOver parse_average(std::string_view name);

/// Which of `heads` are averaged together, in order. Throws Error{kUsage} if they do not form a
/// full rectangle of layers and heads, unless `over` is kAll. Precondition: heads is not empty.
std::vector<std::vector<HeadId>> average_groups(std::span<const HeadId> heads, AverageOver over);

/// Adds up the patterns of each group, in one matrix per group with 8 bytes per weight.
///
/// The sums are in fixed point; each weight is off by less than 1e-12.
class AverageSink : public PatternSink {
 public:
  /// Groups have no repeats, and none is empty. All weights are between 0 and `largest_weight`.
  /// Throws Error{kUsage} if the size overflows and Error{kIo} if there is not enough memory.
  AverageSink(std::vector<std::vector<HeadId>> groups, std::size_t n_tokens, float largest_weight);

  bool wants(HeadId head) const override;
  void rows(HeadId head, std::size_t first_query, std::size_t first_key,
            ConstMatrix weights) override;

  const std::vector<std::vector<HeadId>>& groups() const noexcept { return groups_; }

  /// The average of one group, [n_tokens, n_tokens], once all rows of its heads have arrived. Frees
  /// the memory of its sums: may be called once.
  MatrixBuffer take_mean(std::size_t group);

 private:
  using Sums = std::vector<std::int64_t>;  // [n_tokens, n_tokens]

  std::vector<std::vector<HeadId>> groups_;
  std::map<HeadId, std::size_t> group_of_;
  std::size_t n_tokens_;
  FixedPoint sum_;
  std::vector<Sums> sums_;
  std::array<std::mutex, 64> row_locks_;  // one for every 64th row
};

/// The average of patterns of one shape (at least one), summed in order in double precision.
MatrixBuffer mean_pattern(std::span<const ConstMatrix> patterns);

/// Whether a layer adds its input to the output of attention. If it does not, its residual share is
/// 0.
bool has_residual(const Model& model, std::size_t layer) noexcept;

/// R = Â_l … Â_1 Â_0 with Â = (1 - r) · A + r · I, rows scaled to sum to 1; A is the mean or the
/// maximum over the chosen heads of a layer, and r is the residual share. Layers without a chosen
/// head are left out. If weighted, each row of A[q][k] · ‖f(x_k)‖ is first scaled to sum to 1, with
/// f as in ValueNorms.
///
/// Rows of R sum to 1, except that rows of queries that see nothing and have no residual are 0. Its
/// memory does not grow with layers and heads: rollout_bytes().
///
/// It is the sink of a run and must also observe that run.
///
/// Source  Abnar & Zuidema 2020, "Quantifying Attention Flow in Transformers", section 3; weighted
///         by Kobayashi et al. 2020, eq. 4.
class Rollout : public PatternSink, public RunObserver {
 public:
  /// `heads` have no repeats; the text has `n_tokens`. The model must outlive this.
  Rollout(const Model& model, const std::vector<HeadId>& heads, std::size_t n_tokens,
          const AttentionRequest& request, const RolloutRequest& rollout);

  bool wants(HeadId head) const override;
  void rows(HeadId head, std::size_t first_query, std::size_t first_key,
            ConstMatrix weights) override;

  bool wants(std::size_t layer, LayerStep step) const override;
  void stream(const RunPlace& at, ConstMatrix x) override;
  bool wants_values(HeadId head) const override { return rollout_.weighted && wants(head); }
  void values(std::size_t layer, std::span<const HeadValues> heads) override;

  /// R [n_tokens, n_tokens], after the run. May be called once.
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
  std::optional<std::size_t> layer_;  // whose rows are arriving
  std::optional<AverageSink> mean_;   // of this layer
  MatrixBuffer largest_;              // instead of the mean
  std::array<std::mutex, 64> row_locks_;
  std::atomic<bool> looks_ahead_ = false;  // whether a query sees a later key
  MatrixBuffer reached_;                   // R of the layers before; empty before the first
};

/// Estimated bytes that a Rollout takes at most.
double rollout_bytes(std::size_t n_tokens) noexcept;

}  // namespace attnviz
