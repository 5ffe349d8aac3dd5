// What a model predicts: from the residual stream to logits over the vocabulary. The tokens that a
// model holds most probable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "attnviz/core/tensor.h"
#include "attnviz/model/model.h"

namespace attnviz {

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
