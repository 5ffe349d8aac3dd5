// The heatmap of an attention run: panels, labels, and what a reader must know about it.
#pragma once

#include "attnviz/attention/engine.h"
#include "attnviz/attention/pattern_store.h"
#include "attnviz/model/model.h"
#include "attnviz/render/heatmap.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz::app {

/// The panels are views into `patterns`.
Heatmap attention_picture(const Model& model, const TokenizedText& text,
                          const AttentionRequest& request, const PatternStore& patterns);

}  // namespace attnviz::app
