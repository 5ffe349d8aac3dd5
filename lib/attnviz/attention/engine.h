// Text pieces in, attention rows out to sinks, layer after layer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/request.h"
#include "attnviz/attention/run_observer.h"
#include "attnviz/core/tensor.h"
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

// What a model predicts: from the residual stream to logits over the vocabulary. The tokens that a
// model holds most probable.

/// Logits of each row of the last layer's output, [rows, n_vocab]: of the next token, or, of models
/// that see both ways, of the token itself.
///
/// Throws Error{kUnsupported} when the model has no unembedding, and Error{kMalformed} when a logit
/// is not finite.
MatrixBuffer run_output_head(const Model& model, ConstMatrix stream, std::size_t n_threads);

/// The same into `logits`, [rows, n_vocab].
void run_output_head(const Model& model, ConstMatrix stream, std::size_t n_threads, Matrix logits);

struct ProbableToken {
  std::uint32_t id = 0;
  double probability = 0.0;
  float logit = 0.0f;
};

/// The `count` most probable tokens, or all of them where there are fewer: the largest logit first,
/// of equal ones the smaller id. Probabilities are the softmax over all logits, in double
/// precision, each at least 0 and at most 1. Precondition: logits are finite, and not empty.
std::vector<ProbableToken> most_probable(std::span<const float> logits, std::size_t count);

/// ln p of one token, likewise. Precondition: there is such a logit.
double log_probability(std::span<const float> logits, std::uint32_t id);

/// How many tokens are more probable, of equal ones those with smaller ids. Precondition: there is
/// such a logit.
std::size_t rank_of(std::span<const float> logits, std::uint32_t id) noexcept;

}  // namespace attnviz
