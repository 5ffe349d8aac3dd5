// Text pieces in, attention rows out to sinks, layer after layer.
#pragma once

#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/request.h"
#include "attnviz/attention/run_observer.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// Runs softmax((Q K^T / √d_head + bias) / T) V for every head, layer after layer, as far as
/// `observer` wants something, and tells it; the weights of heads that its sink wants go there in
/// blocks of rows. Of a last layer of which only weights are wanted, only wanted heads run, and
/// these without values. Nothing runs when nothing is wanted.
///
/// Source  Vaswani et al. 2017, eq. 1. The bias is ALiBi's -slope · |query - key| (Press et al.
///         2022), or absent; the temperature T divides it as it does the score.
///
/// Masked weights are exactly 0; a query with nothing to see gets a row of zeros. The result does
/// not depend on n_threads. Throws Error{kUsage} for values out of range and whatever embed()
/// throws; Error{kMalformed} when a score, a context or an output that is computed is not finite
/// (weights overflow), naming the head.
void run(const Model& model, const ModelInput& input, const AttentionRequest& request,
         RunObserver& observer);

/// The same for weights alone.
void run(const Model& model, const ModelInput& input, const AttentionRequest& request,
         PatternSink& patterns);

}  // namespace attnviz
