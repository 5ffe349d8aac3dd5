// One head of a layer whose input and attention are known, followed for one query.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "attnviz/analysis/inspection.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/request.h"
#include "attnviz/attention/run_observer.h"
#include "attnviz/core/tensor.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// One layer's input [n_tokens, d_model], what its attention looks at, and what its attention gives
/// for the query that is followed, with the stream added where adds_stream_first(). `contexts` are
/// those of the query, of all heads side by side; only needed of heads that are taken out. `hider`
/// says which edges are hidden; null: none.
struct LayerTrace {
  std::shared_ptr<const MatrixBuffer> input;
  std::shared_ptr<const MatrixBuffer> look;
  std::shared_ptr<const MatrixBuffer> key_look;  // what keys and values are made of
  std::vector<float> contexts;
  std::vector<float> attended;
  const RunObserver* hider = nullptr;
};

/// What inspect_heads() says of one head, but for what layer 0's x is made of. Throws as it does.
Inspection trace_head(const Model& model, HeadId head, const LayerTrace& layer,
                      const AttentionRequest& request, std::size_t query, bool all_queries);

}  // namespace attnviz
