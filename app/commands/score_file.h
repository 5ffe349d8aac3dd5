// Scores of heads whose attention, or whose sums, lie in a file.
#pragma once

#include "attnviz/analysis/heads/head_scores.h"
#include "attnviz/document/heads_document.h"
#include "options/options.h"

namespace attnviz::app {

/// What the options ask of a text's scores.
ScoredTokens::Options how_scored(const HeadsOptions& options, const TokenizedText& text);

/// Of options.patterns; without notes. Throws what read_attention() and read_corpus_scores() throw,
/// and Error{kUsage} for what the file cannot give.
HeadsDocument score_file(const HeadsOptions& options);

}  // namespace attnviz::app
