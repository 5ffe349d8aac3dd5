#include "attnviz/document/part_documents.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/analysis/sinks.h"
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

AttentionDocument decay_document(const Model& model, const TokenizedText& text,
                                 const AttentionRequest& request, const std::vector<HeadId>& heads,
                                 const DecayStore& decays) {
  AttentionDocument document = attention_document(model, text, request, heads);
  document.kind = PatternKind::kDecay;
  document.run.mask = Mask{MaskKind::kCausal};
  const std::size_t n_tokens = text.size();
  const auto shares = std::make_shared<MatrixBuffer>(heads.size() * n_tokens, n_tokens);
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const Matrix own = shares->view().row_block(i * n_tokens, n_tokens);
    decays.fill(heads[i], own);
    document.patterns[i].weights = own;
  }
  document.notes.emplace_back(
      "how much of what a state took in at one token is there at another, before anything is "
      "written over it; no attention: nothing chooses where to look");
  document.storage = shares;
  return document;
}

AttentionDocument router_document(const Model& model, const TokenizedText& text,
                                  const AttentionRequest& request,
                                  const std::vector<RoutedLayer>& layers) {
  std::vector<HeadId> places;
  std::size_t n_experts = 0;
  for (const RoutedLayer& one : layers) {
    places.push_back({one.layer, 0});
    n_experts = std::max(n_experts, one.tokens.n_experts);
  }
  AttentionDocument document = attention_document(model, text, request, places);
  document.kind = PatternKind::kRouter;
  document.run.mask.reset();
  document.key_tokens.clear();
  for (std::size_t expert = 0; expert < n_experts; ++expert) {
    document.key_tokens.push_back(std::to_string(expert));
  }
  const std::size_t n_tokens = text.size();
  const auto factors = std::make_shared<MatrixBuffer>(layers.size() * n_tokens, n_experts);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const RoutedTokens& routed = layers[i].tokens;
    const Matrix own = factors->view().row_block(i * n_tokens, n_tokens);
    for (std::size_t token = 0; token < routed.n_tokens(); ++token) {
      const std::span<const std::uint32_t> experts = routed.experts_of(token);
      for (std::size_t k = 0; k < experts.size(); ++k) {
        own(token, experts[k]) = routed.factors_of(token)[k];
      }
    }
    document.patterns[i].weights = own;
  }
  const RoutedTokens& first = layers.front().tokens;
  document.notes.push_back(
      fmt::format("each token gets {} of {} experts in a layer; numbers are what their outputs are "
                  "multiplied by",
                  first.n_used, first.n_experts));
  document.storage = factors;
  return document;
}

}  // namespace attnviz
