// The shapes of attention's steps as libraries compute them: all heads and tokens of a batch at
// once.
#pragma once

#include <string>

#include "attnviz/analysis/inspection.h"
#include "attnviz/document/steps/inspection_steps.h"

namespace attnviz {

/// "[1, 4, 128] · [128, 4 · 32] → [1, 4, 4, 32]": batch, then heads, tokens, dimensions. The batch
/// is the one text that is followed.
std::string batch_shape(const Inspection& head, InspectionStep step);

/// Where this head's numbers are among those of all heads; empty for most steps.
std::string batch_sentence(const Inspection& head, InspectionStep step);

}  // namespace attnviz
