// The picture of attention documents: panels, labels, and what a reader must know about them.
#pragma once

#include <span>

#include "attnviz/render/attention_document.h"
#include "attnviz/render/heatmap.h"

namespace attnviz {

/// The panels are views into the document's weights, or into the heatmap's own storage where the
/// document asks for changed ones. Throws Error{kUsage} when its first key is to be dropped and
/// there is no other.
Heatmap attention_heatmap(const AttentionDocument& document);

}  // namespace attnviz
