// One head of a layer whose input and attention are known, followed for one query.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "attnviz/analysis/inspection.h"
#include "attnviz/attention/head_math.h"
#include "attnviz/attention/interventions.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/request.h"
#include "attnviz/attention/run_observer.h"
#include "attnviz/core/tensor.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// What is taken out of one layer.
struct LayerAblations {
  std::map<std::size_t, Ablation> of_heads;
  std::optional<Ablation> of_others, of_mlp;

  /// Behind what was taken out before it.
  void add(const Ablation& one);
  std::optional<Ablation> of_head(std::size_t head) const;
};

/// One layer's input [n_tokens, d_model], what its attention looks at, and what its attention gives
/// for the query that is followed, with the stream added where adds_stream_first(). `contexts` are
/// those of the query, of all heads side by side; only needed of heads that are taken out. `hider`
/// says which edges are hidden; null: none.
struct LayerTrace {
  std::shared_ptr<const MatrixBuffer> input;
  std::shared_ptr<const MatrixBuffer> look;
  std::shared_ptr<const MatrixBuffer> key_look;  // what keys and values are made of
  std::shared_ptr<const MatrixBuffer> query_latents, key_latents;  // of `look`; null without
  Latents latents;                                                 // their matrices as floats
  std::vector<std::shared_ptr<const MatrixBuffer>> converted;      // what these look at
  JointFactors joint;                                              // of `look`
  std::vector<std::size_t> kv_heads;                               // key_value_heads()
  std::size_t n_kv_heads = 0;
  std::vector<std::size_t> columns;  // context_columns()
  LayerAblations ablations;
  std::vector<float> contexts;
  std::vector<float> states;  // what those beside the heads give; empty without
  std::vector<float> attended;
  const RunObserver* hider = nullptr;
};

/// A view of weights; of those stored otherwise of a copy, which `converted` gets.
ConstMatrix as_floats(const StoredMatrix& weights,
                      std::vector<std::shared_ptr<const MatrixBuffer>>& converted);

/// What inspect_heads() says of one head, but for what layer 0's x is made of. Throws as it does.
Inspection trace_head(const Model& model, HeadId head, const LayerTrace& layer,
                      const AttentionRequest& request, std::size_t query, bool all_queries);

}  // namespace attnviz
