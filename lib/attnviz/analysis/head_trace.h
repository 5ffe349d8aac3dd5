// One head of a layer with known input and attention, followed for one query.
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

/// What is ablated in one layer.
struct LayerAblations {
  std::map<std::size_t, Ablation> of_heads;
  std::optional<Ablation> of_others, of_mlp;

  /// Adds an ablation after the earlier ones.
  void add(const Ablation& one);
  std::optional<Ablation> of_head(std::size_t head) const;
};

/// One layer's input [n_tokens, d_model], the input of its attention, and the output of its
/// attention for the query that is followed, plus the stream if adds_stream_first(). `contexts` are
/// the query's, of all heads side by side; only needed if heads are ablated. `hider` says which
/// edges are hidden; null: none.
struct LayerTrace {
  std::shared_ptr<const MatrixBuffer> input;
  std::shared_ptr<const MatrixBuffer> look;
  std::shared_ptr<const MatrixBuffer> key_look;                    // source of keys and values
  std::shared_ptr<const MatrixBuffer> query_latents, key_latents;  // of `look`; null without
  Latents latents;                                                 // their matrices as floats
  std::vector<std::shared_ptr<const MatrixBuffer>> converted;      // float copies that these
                                                                   // point into
  JointFactors joint;                                              // of `look`
  std::vector<std::size_t> kv_heads;                               // key_value_heads()
  std::size_t n_kv_heads = 0;
  std::vector<std::size_t> columns;  // context_columns()
  LayerAblations ablations;
  std::vector<float> contexts;
  std::vector<float> states;  // added by states next to the heads; empty without
  std::vector<float> attended;
  const RunObserver* hider = nullptr;
};

/// A view of weights as floats; if they are stored otherwise, of a copy, which is added to
/// `converted`.
ConstMatrix as_floats(const StoredMatrix& weights,
                      std::vector<std::shared_ptr<const MatrixBuffer>>& converted);

/// Computes one head's part of inspect_heads(), except for the components of layer 0's x. Throws as
/// it does.
Inspection trace_head(const Model& model, HeadId head, const LayerTrace& layer,
                      const AttentionRequest& request, std::size_t query, bool all_queries);

}  // namespace attnviz
