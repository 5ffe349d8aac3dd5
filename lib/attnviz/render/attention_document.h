// Everything a picture or a document says of some attention: tokens, model, run, patterns, and how
// they are drawn.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/pattern_store.h"
#include "attnviz/core/tensor.h"
#include "attnviz/render/color_scale.h"
#include "attnviz/render/heatmap.h"
#include "attnviz/render/run_facts.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz {

/// How weights become colours. Part of the document, so that its picture can be made again.
struct Drawing {
  ColorScale scale;
  PoolKind pool = PoolKind::kMax;
  bool drop_sink = false;            // leave the first key out; its rows' rest sums to 1 again
  std::optional<std::string> title;  // in place of the usual one
};

/// One head's weights.
struct DocumentPattern {
  HeadId head;
  ConstMatrix weights;  // [n_queries, n_keys]
};

/// Views into `storage`, or into the patterns that it was made from.
struct AttentionDocument {
  std::optional<std::string> text;        // what was read; valid UTF-8, as all strings here
  std::vector<std::string> query_tokens;  // [n_queries]
  std::vector<std::string> key_tokens;  // [n_keys]; the same tokens unless this is cross-attention
  std::vector<TokenId> token_ids;       // of the queries; may be empty
  std::optional<ModelFacts> model;
  RunFacts run;
  std::vector<std::string> notes;         // whatever else a reader must know, one line each
  std::vector<DocumentPattern> patterns;  // at least one, all of one shape, by layer, then head
  Drawing drawing;
  std::shared_ptr<const void> storage;
};

/// The document of a run whose wanted heads `patterns` has kept, drawn as usual.
AttentionDocument attention_document(const Model& model, const TokenizedText& text,
                                     const AttentionRequest& request, const PatternStore& patterns);

}  // namespace attnviz
