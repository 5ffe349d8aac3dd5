// From tokens to attention weights, layer after layer, and from the residual stream to predictions.
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

/// Computes softmax((Q K^T / √d_head + bias) / T) V for every head, layer after layer, as far as
/// `observer` needs, and calls it at each step that it wants. The weights of heads that its sink
/// wants go there in blocks of rows. If only weights are wanted from the last layer, only the
/// wanted heads are computed there, without values. If nothing is wanted, nothing is computed.
///
/// Source  Vaswani et al. 2017, eq. 1. The bias is ALiBi's -slope · |query - key| (Press et al.
///         2022), or absent; the temperature T divides it as it does the score.
///
/// Masked weights are exactly 0; a query that sees no key gets a row of zeros. The result does not
/// depend on n_threads. Throws what embed() throws; Error{kUsage} for values out of range; and
/// Error{kMalformed}, naming the head, when a computed score, context or output is not finite
/// (weights overflow).
void run(const Model& model, const ModelInput& input, const AttentionRequest& request,
         RunObserver& observer);

/// The same for attention weights alone.
void run(const Model& model, const ModelInput& input, const AttentionRequest& request,
         PatternSink& patterns);

// From the residual stream to logits over the vocabulary, and the most probable tokens.

/// Returns the logits of each row of the last layer's output, [rows, n_vocab]: logits of the next
/// token, or, for bidirectional models, of the token itself.
///
/// Throws Error{kUnsupported} when the model has no unembedding, and Error{kMalformed} when a logit
/// is not finite.
MatrixBuffer run_output_head(const Model& model, ConstMatrix stream, std::size_t n_threads);

/// The same, written to `logits`, [rows, n_vocab].
void run_output_head(const Model& model, ConstMatrix stream, std::size_t n_threads, Matrix logits);

struct ProbableToken {
  std::uint32_t id = 0;
  double probability = 0.0;
  float logit = 0.0f;
};

/// Returns the `count` most probable tokens, or all when the vocabulary is smaller: the largest
/// logit first, ties by the smaller id. Probabilities are the softmax over all logits, in double
/// precision, each in [0, 1]. Precondition: logits are finite, and not empty.
std::vector<ProbableToken> most_probable(std::span<const float> logits, std::size_t count);

/// Returns ln p of one token, with p as above. Precondition: id < logits.size().
double log_probability(std::span<const float> logits, std::uint32_t id);

/// Returns how many tokens are more probable than `id`, counting equally probable ones with smaller
/// ids. Precondition: id < logits.size().
std::size_t rank_of(std::span<const float> logits, std::uint32_t id) noexcept;

}  // namespace attnviz
