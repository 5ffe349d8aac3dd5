// The whole computation of one query, number by number.
#pragma once

#include <cstddef>
#include <string>

#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/request.h"
#include "attnviz/library/models.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz {

/// Follows one query through one head, from x to the vector that attention adds to it, and returns
/// one document attnviz.inspection/1. Throws as attend() does, and Error{kUsage} for a head or a
/// query that does not exist.
///
/// Example:
///     const attnviz::LanguageModel model = attnviz::demo_language_model();
///     const attnviz::TokenizedText text = model.tokenizer->tokenize("The cat sat");
///     const std::string steps = attnviz::inspection_json(model, text, {.layer = 0, .head = 0}, 1);
///     if (steps.find("\"for_query\"") == std::string::npos) return 1;
std::string inspection_json(const LanguageModel& model, const TokenizedText& text, HeadId head,
                            std::size_t query, const AttentionRequest& request = {});

}  // namespace attnviz
