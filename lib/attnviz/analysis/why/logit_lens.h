// What the model would predict if its layers ended early. Checks that a requested token, id or
// stream exists. Where the last token of a text looks, averaged over all heads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "attnviz/attention/engine.h"
#include "attnviz/attention/request.h"
#include "attnviz/attention/run_observer.h"
#include "attnviz/model/model.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz {

/// Throws Error{kUsage} unless the text of `n_tokens` has token `at`.
void require_token(std::size_t at, std::size_t n_tokens);

/// Throws Error{kUsage} unless the vocabulary of `n_vocab` has token `id`.
void require_id(std::uint32_t id, std::size_t n_vocab);

/// Throws Error{kUnsupported}, with a message that ends in `consequence`, for a model with several
/// residual streams (AltUp): what a layer writes to one of them comes out through all.
void require_one_stream(const Model& model, std::string_view consequence);

/// The prediction after a token, read from the stream at one point of the run.
struct LensPoint {
  std::size_t layer = 0;
  LayerStep step = LayerStep::kBefore;  // kBefore, kMiddle (after attention), or kAfter: the output
  std::vector<ProbableToken> top;
  double target_log_probability = 0.0;
  std::size_t target_rank = 0;  // 0: the most probable
  double log_sum = 0.0;         // a token's log-probability is its logit minus this
};

/// Applies the last norm, computed anew, and the unembedding to the stream at token `at`: before
/// each layer, after the attention of each, and after the last layer.
///
/// Source  nostalgebraist 2020, "interpreting GPT: the logit lens".
///
/// Throws Error{kUsage} for a token outside the text or an id outside the vocabulary,
/// Error{kUnsupported} for models with several streams (AltUp), of which the output head reads an
/// average, and what run() and run_output_head() throw.
std::vector<LensPoint> logit_lens(const Model& model, const TokenizedText& text,
                                  const AttentionRequest& request, std::size_t at,
                                  std::uint32_t target, std::size_t n_top);

/// The weight that the last token puts on each token, averaged over all heads of all layers,
/// [n_tokens]. Throws what run() throws.
std::vector<double> mean_last_row(const Model& model, const TokenizedText& text,
                                  const AttentionRequest& request);

}  // namespace attnviz
