// How much of each token a head would pass on: the norm of its transformed value.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "attnviz/attention/run_observer.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// Whether gates open contexts, which differ from query to query.
bool has_output_gates(const Model& model) noexcept;

/// What is said where they are left out.
inline constexpr const char* kGatesLeftOut =
    "norms of values leave out the output gates, which differ from query to query";

/// ‖f(x_k)‖₂ with f(x) = (x̂ W_V + b_V) W_O of one head, where x̂ is what the attention of its layer
/// looks at; b_O belongs to no head. Without W_O: the norm of the value. An output
/// gate is a query's, and belongs to no key: it is left out. Known of a head when its rows come.
///
/// Source  Kobayashi et al. 2020, "Attention is Not Only a Weight", eq. 4.
class ValueNorms : public RunObserver {
 public:
  /// Hands weights to `patterns`; the model must outlive it too. Heads without repeats.
  ValueNorms(const Model& model, const std::vector<HeadId>& heads, std::size_t n_threads,
             PatternSink& patterns);

  bool wants_values(HeadId head) const override { return norms_.contains(head); }
  void values(std::size_t layer, std::span<const HeadValues> heads) override;

  /// [n_tokens] of a head whose weights come.
  std::span<const double> of(HeadId head) const { return norms_.at(head); }

 private:
  const Model& model_;
  std::size_t n_threads_;
  std::map<HeadId, std::vector<double>> norms_;
  // f(x) of one head, a thread each; kept for the next one, or the system would clear memory again
  // and again.
  std::vector<MatrixBuffer> transformed_;
};

}  // namespace attnviz
