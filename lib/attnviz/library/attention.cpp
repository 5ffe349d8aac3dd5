#include "attnviz/library/attention.h"

#include "attnviz/attention/blocked_product.h"
#include "attnviz/attention/engine.h"
#include "attnviz/attention/interventions.h"

namespace attnviz {

void attend(const LanguageModel& model, const TokenizedText& text, const AttentionRequest& request,
            PatternSink& sink) {
  run(*model.model, InputColumns(text).view(), request, sink);
}

PatternStore attend(const LanguageModel& model, const TokenizedText& text,
                    const AttentionRequest& request) {
  PatternStore patterns(select_heads(*model.model, "", ""), text.size());
  attend(model, text, request, patterns);
  return patterns;
}

}  // namespace attnviz
