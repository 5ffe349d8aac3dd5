// What a head's score of one key is the sum of: what was written into the query's stream, by what
// was written into the key's.
#pragma once

#include <cstddef>
#include <vector>

#include "attnviz/analysis/why/attribution.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/request.h"
#include "attnviz/model/model.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz {

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
