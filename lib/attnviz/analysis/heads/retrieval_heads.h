// The heads that find a needle in a text and copy it.
#pragma once

#include <vector>

#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/request.h"
#include "attnviz/model/model.h"
#include "attnviz/text/tokenizers/model_tokenizer.h"

namespace attnviz {

/// From this Score::kRetrieval on, a head is one.
inline constexpr double kLeastRetrieval = 0.1;

/// Those that, when random tokens are said again, look most at the place of the token that is to
/// come: Score::kRetrieval, the mean over probes of two copies, of kLeastRetrieval or more. By
/// layer, then head.
///
/// Source  the score and its threshold: Wu et al. 2024, "Retrieval Head Mechanistically Explains
///         Long-Context Factuality"; with a given answer in place of a generated one.
///
/// `tokenizer` may be null. request.report is told the share of the probes. Throws what
/// make_probes() and run() throw.
std::vector<HeadId> retrieval_heads(const Model& model, const ModelTokenizer* tokenizer,
                                    const AttentionRequest& request);

}  // namespace attnviz
