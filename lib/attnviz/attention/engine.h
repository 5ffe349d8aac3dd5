// Text pieces in, attention rows out to sinks, layer after layer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/progress.h"
#include "attnviz/core/tensor.h"
#include "attnviz/model/mask.h"
#include "attnviz/model/model.h"

namespace attnviz {

/// What-if switches; the defaults are the model's own attention.
struct AttentionRequest {
  std::optional<Mask> mask;  // default: the model's
  float temperature = 1.0f;  // divides the scaled scores; > 0
  bool scale = true;         // divide scores by √d_head
  float dropout = 0.0f;      // in [0, 1): drops weights, the others are divided by 1 - dropout
  std::uint64_t dropout_seed = 0;
  std::size_t n_threads = 1;
  ProgressReport report;  // told the share of the attention that is done; may be empty
};

/// Throws Error{kUsage} for a text without tokens or a request out of range, and Error{kMalformed}
/// for a model without layers: what every run checks first.
void check_request(const Model& model, const ModelInput& input, const AttentionRequest& request);

/// Runs softmax((Q K^T / √d_head + bias) / T) V for every head of every layer up to the highest one
/// that `sink` wants (all layers when it wants none), and hands the weights of wanted heads to it
/// in blocks of rows. Returns the output of the last layer that ran: [n_tokens, d_model], or the
/// contexts side by side when that layer has no W_O.
///
/// Source  Vaswani et al. 2017, eq. 1. The bias is ALiBi's -slope · |query - key| (Press et al.
///         2022), or absent; the temperature T divides it as it does the score.
///
/// Masked weights are exactly 0; a query with nothing to see gets a row of zeros. The result does
/// not depend on n_threads. Throws Error{kUsage} for values out of range and whatever embed()
/// throws; Error{kMalformed} when a score, a context or an output is not finite (weights overflow),
/// naming the head.
MatrixBuffer run_attention(const Model& model, const ModelInput& input,
                           const AttentionRequest& request, PatternSink& sink);

/// The same through all layers, whatever `sink` wants: what an output head takes.
MatrixBuffer run_all_layers(const Model& model, const ModelInput& input,
                            const AttentionRequest& request, PatternSink& sink);

/// The same weights without the output: of the last layer only wanted heads, and of these neither
/// values nor contexts. Nothing runs when `sink` wants nothing. Throws as run_attention does, but
/// not for what it does not compute.
void run_patterns(const Model& model, const ModelInput& input, const AttentionRequest& request,
                  PatternSink& sink);

}  // namespace attnviz
