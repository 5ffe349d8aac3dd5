// Scores of patterns that are kept in a document.
#pragma once

#include <vector>

#include "attnviz/analysis/heads/head_scores.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/document/attention_document.h"

namespace attnviz {

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

}  // namespace attnviz
