#include "attnviz/document/encoder_decoder_document.h"

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/analysis/merge_sink.h"
#include "attnviz/core/utf8.h"

namespace attnviz {

namespace {

void name_keys(const TokenizedText& text, AttentionDocument& document) {
  document.key_tokens.clear();
  for (const Token& token : text.tokens) {
    document.key_tokens.push_back(valid_utf8(token.text));
  }
  document.key_marks = token_marks(text);
}

// The sizes of a stack, under the name of the model that it is of.
ModelFacts facts_of_stack(const Model& model, const Model& stack, const TokenizedText& text) {
  ModelFacts facts = model_facts(stack, text);
  const ModelFacts whole = model_facts(model, text);
  facts.name = whole.name;
  facts.origin = whole.origin;
  facts.family = whole.family;
  facts.unknown_keys = whole.unknown_keys;
  facts.tokenizer = whole.tokenizer;
  return facts;
}

void fold_patterns(const FoldedText& queries, const FoldedText& keys, float largest_sum,
                   AttentionDocument& document) {
  const auto words =
      std::make_shared<PatternStore>(heads_of(document), queries.text.size(), keys.text.size());
  MergeSink merged(*words, queries.numbers, keys.numbers, largest_sum);
  for (DocumentPattern& pattern : document.patterns) {
    merged.rows(pattern.head, 0, 0, pattern.weights);
    pattern.weights = words->pattern(pattern.head);
  }
  document.storage = words;
}

}  // namespace

AttentionDocument part_document(const Model& model, AttentionPart part, const PartText& source,
                                const PartText& target, const AttentionRequest& request,
                                const std::shared_ptr<const PatternStore>& patterns) {
  const Model& stack = part == AttentionPart::kEncoder ? *model.encoder : model;
  const PartText& queries = part == AttentionPart::kEncoder ? source : target;
  const PartText& keys = part == AttentionPart::kDecoder ? target : source;
  AttentionDocument document = attention_document(stack, queries.text, request, *patterns);
  document.part = part;
  document.storage = patterns;
  document.model = facts_of_stack(model, stack, queries.text);
  if (queries.folded != nullptr && keys.folded != nullptr) {
    fold_patterns(*queries.folded, *keys.folded, request.largest_sum(), document);
    name_words(document, queries.text, *queries.folded);
  }
  if (part == AttentionPart::kCross) {
    document.run.mask.reset();
    document.run.layers.clear();
    name_keys(keys.folded != nullptr ? keys.folded->text : keys.text, document);
    document.notes.insert(document.notes.begin(), source.text.notes.begin(),
                          source.text.notes.end());
  }
  return document;
}

AttentionDocument shown_part(std::vector<AttentionDocument> all, AttentionPart part) {
  AttentionDocument shown = all[static_cast<std::size_t>(part)];
  shown.parts = std::make_shared<const std::vector<AttentionDocument>>(std::move(all));
  return shown;
}

}  // namespace attnviz
