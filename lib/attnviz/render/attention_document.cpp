#include "attnviz/render/attention_document.h"

#include <algorithm>

#include "attnviz/core/utf8.h"

namespace attnviz {

AttentionDocument attention_document(const Model& model, const TokenizedText& text,
                                     const AttentionRequest& request,
                                     const PatternStore& patterns) {
  AttentionDocument document;
  document.text = valid_utf8(text.source);
  for (const Token& token : text.tokens) {
    document.query_tokens.push_back(valid_utf8(token.text));
    document.token_ids.push_back(token.id);
  }
  document.key_tokens = document.query_tokens;
  document.model = model_facts(model, text);
  document.run = run_facts(model, request);
  std::vector<HeadId> heads(patterns.heads().begin(), patterns.heads().end());
  std::sort(heads.begin(), heads.end());
  for (const HeadId head : heads) {
    document.patterns.push_back({head, patterns.pattern(head)});
  }
  return document;
}

}  // namespace attnviz
