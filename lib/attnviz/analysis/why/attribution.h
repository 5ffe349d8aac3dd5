// What a logit is the sum of: the parts that layers, heads and MLPs wrote into the last state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "attnviz/attention/request.h"
#include "attnviz/model/model.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz {

/// What is read off the normed last state: its product with `weights` [d_model], plus `bias`.
struct LogitDirection {
  std::vector<double> weights;
  double bias = 0.0;
};

/// The logit of a token, before a cap. Throws Error{kUsage} for an id outside of the vocabulary,
/// and Error{kUnsupported} for a model that predicts nothing.
LogitDirection logit_direction(const Model& model, std::uint32_t id);
/// The mean of all logits.
LogitDirection mean_logit_direction(const Model& model);
LogitDirection operator-(LogitDirection one, const LogitDirection& other);

enum class LogitPartKind {
  kEmbedding,
  kPosition,     // learned or sinusoidal ones that are added to the embeddings
  kHead,         // with its share of the values' bias
  kOutputBias,   // b_O, of a layer that has one
  kMlp,          // with its biases
  kConvolution,  // of a layer without attention, as the next two
  kGatedDelta,
  kMamba2,
  kLayerInput,  // each token's own embedding for a layer
  kNormBias,    // that of the last norm
  kLogitBias,
  kBias,  // of a query or a key: split_score() has it
};

/// Whether a part is one layer's.
constexpr bool has_layer(LogitPartKind kind) noexcept {
  return kind == LogitPartKind::kHead || kind == LogitPartKind::kOutputBias ||
         kind == LogitPartKind::kMlp || kind == LogitPartKind::kConvolution ||
         kind == LogitPartKind::kGatedDelta || kind == LogitPartKind::kMamba2 ||
         kind == LogitPartKind::kLayerInput;
}

/// What a layer without attention writes, or the states beside its attention.
inline LogitPartKind part_of(const LayerWeights& layer) noexcept {
  return layer.recurrence.is_delta()  ? LogitPartKind::kGatedDelta
         : layer.recurrence.present() ? LogitPartKind::kMamba2
                                      : LogitPartKind::kConvolution;
}

/// Shares are in the logits' unit, one for each direction.
struct LogitPart {
  LogitPartKind kind = LogitPartKind::kEmbedding;
  std::size_t layer = 0;  // where has_layer() says that there is one
  std::size_t head = 0;
  std::vector<double> shares;
  // Of heads, in the first direction; of one that the request takes out 0 and empty:
  double bias_share = 0.0;     // b_V W_O, times the sum of the weights
  std::vector<double> by_key;  // [n_tokens]: weight · value of each key; their sum is the share
};

/// In the order in which they are added to the stream. A layer\'s heads come before its output
/// bias, that before its MLP.
struct Attribution {
  std::vector<LogitPart> parts;
  std::vector<double> logits;  // what the last state gives in each direction: the sums, but for the
                               // rounding of the run
};

/// Of the prediction behind token `at`. The last norm, and norms behind attention and MLPs, are
/// linear with their scales frozen at this state.
///
/// Source  Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits", direct paths;
///         LayerNorm also takes the mean of a part off it.
///
/// Throws Error{kUsage} for a token outside of the text, Error{kUnsupported} for models whose
/// layers end in a norm (BERT) or that have several streams (AltUp), of which a logit is no sum of
/// parts, and what run() throws.
Attribution attribute(const Model& model, const TokenizedText& text,
                      const AttentionRequest& request, std::size_t at,
                      std::span<const LogitDirection> directions);

}  // namespace attnviz
