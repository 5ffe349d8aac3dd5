// Whether rows of weights sum to 1, as those of a softmax do.
#pragma once

#include <string>

#include "attnviz/document/attention_document.h"

namespace attnviz {

/// "2 of 48 rows do not sum to 1: head 0.3, query 5 sums to 0.83", or nothing when all do within
/// 0.001, or are all 0, or when dropout explains it.
std::string row_sum_note(const AttentionDocument& document);

}  // namespace attnviz
