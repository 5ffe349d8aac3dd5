// The steps of attention as patterns of a document.
#pragma once

#include <string>
#include <vector>

#include "attnviz/analysis/heads/head_scores.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/request.h"
#include "attnviz/model/model.h"
#include "attnviz/report/attention_document.h"
#include "attnviz/report/report_requests.h"

namespace attnviz {

/// Puts the numbers of `kind` in place of the weights of `document`, which are those of `model` for
/// this input and request, a pattern a head. Throws what inspect_heads() and run() throw.
void show_step(AttentionDocument& document, const Model& model, const ModelInput& input,
               const AttentionRequest& request, PatternKind kind);

/// Bytes that this takes at most beside the document, for so many heads; an estimate.
double step_bytes(const Model& model, std::span<const HeadId> heads, std::size_t n_tokens,
                  PatternKind kind) noexcept;

/// Puts softmax(scores / (divide_by · temperature)) in place of the scores of `document`, over the
/// keys that its mask lets each query see and whose scores are not masked. The scores stay beside
/// the weights. A note says which queries see nothing. Throws Error{kMalformed} for scores that are
/// no numbers, and Error{kUsage} where one is too large once it is divided.
void take_softmax(AttentionDocument& document, const SoftmaxRequest& request);

/// Divides the scores of `document` alone. Throws Error{kUsage} where that is too much for a float.
void divide_scores(AttentionDocument& document, const SoftmaxRequest& request);

// Scores of patterns that are kept in a document. What heads do whatever the words are, in a
// sentence.

struct PatternScores {
  std::vector<ScoreValues> heads;  // of each pattern, in their order
  ScoreValues uniform;             // of a head that looks at all it sees alike
  std::size_t n_hidden = 0;        // weights that are there where the mask hides them
};

/// Where the mask of a pattern is not known it is taken for causal if no query looks at what comes
/// behind it; what a mask hides counts as 0. `also`, where it is given, gets the weights that
/// count. Precondition: queries and keys are the same tokens, those of `tokens`. Throws
/// Error{kMalformed}, with the head's name, for weights below 0, above 2^24 or that are no numbers.
PatternScores pattern_scores(const AttentionDocument& document, const ScoredTokens& tokens,
                             PatternSink* also = nullptr);

/// "L0H0 looks at the token before (99 %); L0H1 at the first token (98 %)": heads that put half of
/// their weight, in the mean, on the token before, the token itself or the first one, and twice as
/// much as a head that looks at all alike, and heads that do look at all alike. Where there are
/// none, the clearest look at another token: `In L0H0 "saw" (2) looks at "cat" (1) with 100 %`.
/// Empty when it is less than 0.25 above looking at all alike, and where queries and keys are not
/// the same tokens.
std::string habits_sentence(const AttentionDocument& document);

}  // namespace attnviz
