// What a logit is the sum of: the parts that layers, heads and MLPs wrote into the last state. What
// a head's score of one key is the sum of: what was written into the query's stream, by what was
// written into the key's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "attnviz/attention/pattern_sink.h"
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

/// Something that was written into a token's stream before a layer; or, as kBias, what a query or
/// key has beside: the biases of its projection and of the norms in front of and behind it.
struct StreamPart {
  LogitPartKind kind = LogitPartKind::kEmbedding;
  std::size_t layer = 0;  // of heads, output biases and MLPs
  std::size_t head = 0;
};

struct ScoreSplit {
  // In the order in which they are added to the stream; kBias, if there is any, comes last.
  std::vector<StreamPart> query_parts, key_parts;
  std::vector<double> products;  // [n_query_parts, n_key_parts]: shares of the scaled score
  double position_bias = 0.0;    // ALiBi's; 0 without
  double score = 0.0;            // of the run, before mask, softmax and a soft cap: the sum of all
                                 // these but for rounding
  double weight = 0.0;           // after softmax and dropout
  bool is_visible = true;        // the query sees the key
};

/// Of head `head`, query token and key token. The norms on the way (of the stream, behind attention
/// and MLPs, of queries and keys) are linear with their scales frozen at this run; so are rotary
/// positions at the two tokens. Scaled as in the run: over √d_head, or whatever the model has in
/// its place, and over the temperature unless a soft cap comes between.
///
/// Source  Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits", the QK circuit
///         with its Q-, K- and both-sided compositions.
///
/// Throws Error{kUsage} for tokens outside of the text, Error{kUnsupported} for models whose layers
/// end in norms (BERT) or that have several streams (AltUp), of which the stream is no sum of
/// parts, and what run() throws. Precondition: the model has the head.
ScoreSplit split_score(const Model& model, const TokenizedText& text,
                       const AttentionRequest& request, HeadId head, std::size_t query,
                       std::size_t key);

}  // namespace attnviz
