// What the model would say if its layers ended early.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attnviz/analysis/most_probable.h"
#include "attnviz/attention/request.h"
#include "attnviz/attention/run_observer.h"
#include "attnviz/model/model.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz {

/// The prediction behind a token as the stream stands at one point of the run.
struct LensPoint {
  std::size_t layer = 0;
  LayerStep step =
      LayerStep::kBefore;  // kBefore, kMiddle (behind attention), or kAfter: the output
  std::vector<ProbableToken> top;
  double target_log_probability = 0.0;
  std::size_t target_rank = 0;  // 0: the most probable
  double log_sum = 0.0;         // a token's log-probability is its logit less this
};

/// Before each layer, behind the attention of each, and behind the last one: the last norm, anew,
/// and the unembedding, of the stream at token `at`.
///
/// Source  nostalgebraist 2020, "interpreting GPT: the logit lens".
///
/// Throws Error{kUsage} for a token outside of the text or an id outside of the vocabulary,
/// Error{kUnsupported} for models with several streams (AltUp), of which the output head reads a
/// mean, and what run() and run_output_head() throw.
std::vector<LensPoint> logit_lens(const Model& model, const TokenizedText& text,
                                  const AttentionRequest& request, std::size_t at,
                                  std::uint32_t target, std::size_t n_top);

}  // namespace attnviz
