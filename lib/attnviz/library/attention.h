// The attention of each token of a text, head by head.
#pragma once

#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/request.h"
#include "attnviz/library/models.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz {

/// Computes the attention of `text` and passes the weights of the heads that `sink` requests to it,
/// in blocks of rows.
///
/// Masked weights are exactly 0; a query that may see no key gets a row of zeros. The result does
/// not depend on the number of threads. Throws Error{kUsage} for a text without tokens, one that is
/// longer than the model's context, or values out of range, and Error{kMalformed} when weights
/// overflow, naming the head.
void attend(const LanguageModel& model, const TokenizedText& text, const AttentionRequest& request,
            PatternSink& sink);

/// Returns the patterns of every head. They take PatternStore::bytes() of memory.
///
/// Example:
///     const attnviz::LanguageModel model = attnviz::random_language_model({.n_heads = 2}, 42);
///     const attnviz::TokenizedText text = model.tokenizer->tokenize("The cat sat");
///     const attnviz::PatternStore patterns = attnviz::attend(model, text);
///     const float weight = patterns.pattern({.layer = 0, .head = 1}).row(2)[0];
///     if (!(weight > 0.0f && weight < 1.0f)) return 1;
PatternStore attend(const LanguageModel& model, const TokenizedText& text,
                    const AttentionRequest& request = {});

}  // namespace attnviz
