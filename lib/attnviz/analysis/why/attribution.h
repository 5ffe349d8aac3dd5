// The parts that add up to a logit: what layers, heads and MLPs wrote into the last state. The
// parts that add up to a head's score of one key: what was written into the query's stream, times
// what was written into the key's.
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

/// A value read from the normed last state: its product with `weights` [d_model], plus `bias`.
struct LogitDirection {
  std::vector<double> weights;
  double bias = 0.0;
};

/// The logit of a token, before a cap. Throws Error{kUsage} for an id outside the vocabulary, and
/// Error{kUnsupported} for a model that predicts nothing.
LogitDirection logit_direction(const Model& model, std::uint32_t id);
/// The mean of all logits.
LogitDirection mean_logit_direction(const Model& model);
LogitDirection operator-(LogitDirection one, const LogitDirection& other);

enum class LogitPartKind {
  kEmbedding,
  kPosition,     // learned or sinusoidal, if added to the embeddings
  kHead,         // with its share of the values' bias
  kOutputBias,   // b_O, if the layer has one
  kMlp,          // with its biases
  kConvolution,  // of a layer without attention, like the next two
  kGatedDelta,
  kMamba2,
  kLayerInput,  // each token's own embedding for a layer
  kNormBias,    // of the last norm
  kLogitBias,
  kBias,  // of a query or a key, in split_score() alone
};

/// Whether a part belongs to one layer.
constexpr bool has_layer(LogitPartKind kind) noexcept {
  return kind == LogitPartKind::kHead || kind == LogitPartKind::kOutputBias ||
         kind == LogitPartKind::kMlp || kind == LogitPartKind::kConvolution ||
         kind == LogitPartKind::kGatedDelta || kind == LogitPartKind::kMamba2 ||
         kind == LogitPartKind::kLayerInput;
}

/// The kind of part that a layer without attention writes, or the states next to its attention.
inline LogitPartKind part_of(const LayerWeights& layer) noexcept {
  return layer.recurrence.is_delta()  ? LogitPartKind::kGatedDelta
         : layer.recurrence.present() ? LogitPartKind::kMamba2
                                      : LogitPartKind::kConvolution;
}

/// Shares are in logit units, one for each direction.
struct LogitPart {
  LogitPartKind kind = LogitPartKind::kEmbedding;
  std::size_t layer = 0;  // if has_layer()
  std::size_t head = 0;
  std::vector<double> shares;
  // For heads, in the first direction; 0 and empty if the request ablates the head:
  double bias_share = 0.0;     // b_V W_O, times the sum of the weights
  std::vector<double> by_key;  // [n_tokens]: weight · value of each key; they add up to the share
};

/// Parts are in the order in which they are added to the stream. A layer's heads come before its
/// output bias, and that before its MLP.
struct Attribution {
  std::vector<LogitPart> parts;
  std::vector<double> logits;  // the last state's product with each direction: the sums of the
                               // parts, except for rounding in the run
};

/// Splits the prediction after token `at` into parts. The last norm and the norms after attention
/// and MLPs are taken as linear, with their scales frozen at this state.
///
/// Source  Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits", direct paths;
///         LayerNorm also subtracts each part's mean.
///
/// Throws Error{kUsage} for a token outside the text, Error{kUnsupported} for models in which a
/// logit is not a sum of parts, because layers end in a norm (BERT) or there are several streams
/// (AltUp), and what run() throws.
Attribution attribute(const Model& model, const TokenizedText& text,
                      const AttentionRequest& request, std::size_t at,
                      std::span<const LogitDirection> directions);

/// Something written into a token's stream before a layer; or, as kBias, the biases that a query or
/// key adds: those of its projection and of the norms before and after it.
struct StreamPart {
  LogitPartKind kind = LogitPartKind::kEmbedding;
  std::size_t layer = 0;  // of heads, output biases and MLPs
  std::size_t head = 0;
};

struct ScoreSplit {
  // In the order in which they are added to the stream; kBias, if present, is last.
  std::vector<StreamPart> query_parts, key_parts;
  std::vector<double> products;  // [n_query_parts, n_key_parts]: shares of the scaled score
  double position_bias = 0.0;    // ALiBi's; 0 without it
  double score = 0.0;            // of the run, before mask, softmax and soft cap: the sum of all
                                 // these, except for rounding
  double weight = 0.0;           // after softmax and dropout
  bool is_visible = true;        // whether the query sees the key
};

/// Splits one head's score of a query token and a key token. The norms on the way (of the stream,
/// after attention and MLPs, of queries and keys) are taken as linear, with their scales frozen at
/// this run; so are rotary positions at the two tokens. Scaled as in the run: divided by √d_head or
/// the model's replacement for it, and by the temperature unless a soft cap comes between.
///
/// Source  Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits", the QK circuit
///         with its Q-, K- and both-sided compositions.
///
/// Throws Error{kUsage} for tokens outside the text, Error{kUnsupported} for models whose stream is
/// not a sum of parts, because layers end in norms (BERT) or there are several streams (AltUp), and
/// for layers that read another layer's keys, and what run() throws. Precondition: the model has
/// the head.
ScoreSplit split_score(const Model& model, const TokenizedText& text,
                       const AttentionRequest& request, HeadId head, std::size_t query,
                       std::size_t key);

}  // namespace attnviz
