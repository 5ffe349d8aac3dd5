#include "attnviz/render/attention_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"

namespace attnviz {

namespace {

// Everything but the patterns.
AttentionDocument facts_of_run(const Model& model, const TokenizedText& text,
                               const AttentionRequest& request) {
  AttentionDocument document;
  document.text = valid_utf8(text.source);
  for (const Token& token : text.tokens) {
    document.query_tokens.push_back(valid_utf8(token.text));
    document.token_ids.push_back(token.id);
  }
  document.key_tokens = document.query_tokens;
  document.model = model_facts(model, text);
  document.run = run_facts(model, request);
  return document;
}

}  // namespace

AttentionDocument attention_document(const Model& model, const TokenizedText& text,
                                     const AttentionRequest& request,
                                     const PatternStore& patterns) {
  AttentionDocument document = facts_of_run(model, text, request);
  std::vector<HeadId> heads(patterns.heads().begin(), patterns.heads().end());
  std::sort(heads.begin(), heads.end());
  for (const HeadId head : heads) {
    document.patterns.push_back({head, patterns.pattern(head)});
  }
  return document;
}

AttentionDocument attention_document(const Model& model, const TokenizedText& text,
                                     const AttentionRequest& request, AverageSink& means,
                                     AverageOver over) {
  AttentionDocument document = facts_of_run(model, text, request);
  const auto owned = std::make_shared<std::vector<MatrixBuffer>>();
  document.average = DocumentAverage{over, {}};
  for (std::size_t group = 0; group < means.groups().size(); ++group) {
    const std::vector<HeadId>& heads = means.groups()[group];
    document.average->heads.insert(document.average->heads.end(), heads.begin(), heads.end());
    owned->push_back(means.take_mean(group));
    const HeadId head{over == AverageOver::kHeads ? heads.front().layer : 0,
                      over == AverageOver::kLayers ? heads.front().head : 0};
    document.patterns.push_back({head, owned->back().view()});
  }
  std::sort(document.average->heads.begin(), document.average->heads.end());
  document.storage = owned;
  name_means(document);
  return document;
}

void name_means(AttentionDocument& document) {
  if (!document.average) {
    return;
  }
  std::set<std::size_t> layers;
  std::set<std::size_t> heads;
  for (const HeadId head : document.average->heads) {
    layers.insert(head.layer);
    heads.insert(head.head);
  }
  for (DocumentPattern& pattern : document.patterns) {
    switch (document.average->over) {
      case AverageOver::kHeads:
        pattern.title =
            fmt::format("L{} mean of {}", pattern.head.layer, counted(heads.size(), "head"));
        break;
      case AverageOver::kLayers:
        pattern.title =
            fmt::format("H{} mean of {}", pattern.head.head, counted(layers.size(), "layer"));
        break;
      case AverageOver::kAll:
        pattern.title = "mean of " + counted(document.average->heads.size(), "head");
        break;
    }
  }
}

}  // namespace attnviz
