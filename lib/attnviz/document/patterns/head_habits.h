// What heads do whatever the words are, in a sentence.
#pragma once

#include <string>

#include "attnviz/document/attention_document.h"

namespace attnviz {

/// "L0H0 looks at the token before (99 %); L0H1 at the first token (98 %)": heads that put half of
/// their weight, in the mean, on the token before, the token itself or the first one, and twice as
/// much as a head that looks at all alike, and heads that do look at all alike. Where there are
/// none, the clearest look at another token: `In L0H0 "saw" (2) looks at "cat" (1) with 100 %`.
/// Empty when it is less than 0.25 above looking at all alike, and where queries and keys are not
/// the same tokens.
std::string habits_sentence(const AttentionDocument& document);

}  // namespace attnviz
