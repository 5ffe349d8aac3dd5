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

/// Replaces the weights of `document` by the numbers of `kind`, one pattern per head. The weights
/// are those of `model` for this input and request. Throws the errors of inspect_heads() and run().
void show_step(AttentionDocument& document, const Model& model, const ModelInput& input,
               const AttentionRequest& request, PatternKind kind);

/// An upper estimate of the bytes that this takes beside the document, for these heads.
double step_bytes(const Model& model, std::span<const HeadId> heads, std::size_t n_tokens,
                  PatternKind kind) noexcept;

/// Replaces the scores of `document` by softmax(scores / (divide_by · temperature)), over the keys
/// that its mask lets each query see and whose scores are not masked. Keeps the scores beside the
/// weights. Adds a note on queries that see nothing. Throws Error{kMalformed} for scores that are
/// not numbers, and Error{kUsage} if a score is too large after the division.
void take_softmax(AttentionDocument& document, const SoftmaxRequest& request);

/// Divides the scores of `document` without softmax. Throws Error{kUsage} if a quotient overflows a
/// float.
void divide_scores(AttentionDocument& document, const SoftmaxRequest& request);

// Head scores of the patterns in a document. One sentence on habits that do not depend on the
// words.

struct PatternScores {
  std::vector<ScoreValues> heads;  // one per pattern, in order
  ScoreValues uniform;             // of a head with uniform attention
  std::size_t n_hidden = 0;        // nonzero weights in masked cells
};

/// A pattern with an unknown mask counts as causal if no query attends to later tokens; masked
/// weights count as 0. `also`, if given, receives the weights that count. Precondition: queries and
/// keys are the same tokens, those of `tokens`. Throws Error{kMalformed}, with the head's name, for
/// weights below 0, above 2^24 or that are not numbers.
PatternScores pattern_scores(const AttentionDocument& document, const ScoredTokens& tokens,
                             PatternSink* also = nullptr);

/// "L0H0 looks at the token before (99 %); L0H1 at the first token (98 %)": heads that put on
/// average at least half of their weight on the token before, the token itself or the first one,
/// and at least twice as much as uniform attention would, and heads with nearly uniform attention.
/// If there are none, the clearest attention to another token: `In L0H0 "saw" (2) looks at "cat"
/// (1) with 100 %`. Empty if that is less than 0.25 above uniform attention, or if queries and keys
/// are not the same tokens.
std::string habits_sentence(const AttentionDocument& document);

}  // namespace attnviz
