// How much of each token a head would pass on: the norm of its transformed value.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "attnviz/attention/attention_layer.h"
#include "attnviz/attention/run_observer.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// The W_O of one head, [d_value, d_model]; empty without one.
StoredMatrix head_output(const LayerWeights& layer, std::size_t head);

/// ‖f(x_k)‖₂ with f(x) = (x̂ W_V + b_V) W_O of one head, where x̂ is what the attention of its layer
/// looks at; b_O belongs to no head. Without W_O: the norm of the value. Known of a head when its
/// rows come.
///
/// Source  Kobayashi et al. 2020, "Attention is Not Only a Weight", eq. 4.
class ValueNorms : public RunObserver {
 public:
  /// Hands weights to `patterns`; the model must outlive it too. Heads without repeats.
  ValueNorms(const Model& model, const std::vector<HeadId>& heads, std::size_t n_threads,
             PatternSink& patterns);

  bool wants(std::size_t layer, LayerStep step) const override {
    return step == LayerStep::kBefore && heads_of_.contains(layer);
  }
  void stream(const RunPlace& at, ConstMatrix x) override;

  /// [n_tokens] of a head whose layer has begun.
  std::span<const double> of(HeadId head) const { return norms_.at(head); }

  /// What a thread needs for one head, kept for the next one: memory would be cleared by the system
  /// again and again.
  struct Scratch {
    MatrixBuffer values, transformed;
  };

 private:
  const Model& model_;
  std::size_t n_threads_;
  std::map<std::size_t, std::vector<HeadId>> heads_of_;  // by layer
  std::map<HeadId, std::vector<double>> norms_;
  LayerMemory memory_;
  std::vector<Scratch> scratch_;
};

}  // namespace attnviz
