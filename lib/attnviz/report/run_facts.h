// Facts about the model and the run, shared by every document and picture. The text that a model
// wrote after a prompt, and its predictions at a position.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attnviz/attention/decoding.h"
#include "attnviz/attention/interventions.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/attention/request.h"
#include "attnviz/model/mask.h"
#include "attnviz/model/model.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz {

struct ModelFacts {
  std::string name;
  std::string origin;                     // notes on its origin; may be empty
  std::string family;                     // "gpt2", …; empty: weights JSON, random, or unknown
  std::vector<std::string> unknown_keys;  // of its files, ignored; valid UTF-8
  bool random = false;                    // random weights: the patterns mean nothing
  std::vector<std::string> random_embeddings;  // tokens, in order of first appearance, valid UTF-8
  std::optional<std::uint64_t> seed;           // of random weights or embeddings
  std::size_t n_layers = 0;                    // 0: unknown, here and below
  std::size_t n_heads = 0;
  std::size_t n_kv_heads = 0;  // of every layer; also 0 if layers or heads differ, here and below
  std::size_t d_model = 0;
  std::size_t d_head = 0;
  std::size_t d_value = 0;
  Positions positions = Positions::kNone;
  std::string tokenizer;                              // that split the text; empty: unknown
  std::optional<std::vector<NamedHead>> named_heads;  // found on probes; absent: not measured
};

/// How one layer attends, if it differs from other layers or from most models.
struct LayerFacts {
  std::size_t layer = 0;
  std::size_t window = 0;  // tokens that a query sees; 0: see RunFacts::mask
  float soft_cap = 0.0f;   // c: scores become c · tanh(score / c); 0: none
  std::size_t around = 0;  // tokens seen on either side, if the mask looks ahead; 0: see `window`

  bool learned_sink = false;  // of its heads: softmax has one score more than keys

  MixerKind mixer = MixerKind::kAttention;   // what a layer without heads has instead
  MixerKind beside = MixerKind::kAttention;  // of states beside heads; kAttention: none

  /// The layer's own mask, if it has one.
  std::optional<Mask> mask() const noexcept;
};

struct RunFacts {
  std::optional<Mask> mask;  // absent: unknown, every key may be visible
  float temperature = 1.0f;
  bool scale = true;
  float dropout = 0.0f;
  std::uint64_t dropout_seed = 0;
  std::vector<LayerFacts> layers = {};  // in order; only layers with something to report
  Interventions interventions = {};     // ablations and hidden edges
  /// For several texts, instead of edges between tokens of one: the descriptions of the edges
  /// hidden in each text, "cat>the@1".
  std::vector<std::string> hidden_in_each = {};
  bool changes_mask = false;  // not the model's own; not part of documents
};

/// Drops the layers' own masks, which another mask has replaced, and keeps their other facts.
void forget_layer_masks(RunFacts& facts);

ModelFacts model_facts(const Model& model, const TokenizedText& text);
RunFacts run_facts(const Model& model, const AttentionRequest& request);

/// "random weights (seed 42)", or the model's name.
std::string model_title(const ModelFacts& facts);

/// The names of one head, "previous-token, sink"; may be empty.
std::string names_of(const ModelFacts& facts, HeadId head);

/// The names that these heads have: "named on probes: current-token L0H1 L0H3, induction L2H1", or
/// a line that none has one. Empty if names were not measured.
std::string names_note(const ModelFacts& facts, std::span<const HeadId> heads);

/// "demo: built into attnviz, trained on generated text"; may be empty.
std::string origin_note(const ModelFacts& facts);

/// "badwordsids, v_head.weight and 3 more", for keys and tensors of a model's files.
std::string few_keys(std::span<const std::string> keys);

/// "ignored as unknown: …"; may be empty.
std::string unknown_keys_note(std::span<const std::string> keys);

/// "RANDOM EMBEDDINGS (seed 42): w.json has none for "cat""; may be empty.
std::string random_embeddings_note(const ModelFacts& facts);

/// Notes on a picture, one line each: "RANDOM WEIGHTS: …", "temperature 0.5", "without head 2.1".
/// The mask is not included.
std::vector<std::string> model_notes(const ModelFacts& facts);
std::vector<std::string> run_notes(const RunFacts& facts);
/// The last run notes: ablations and hidden edges.
std::vector<std::string> left_out_notes(const RunFacts& facts);

/// Notes on the drawn layers and on layers without attention, in order: "layer 0: window 4096, soft
/// cap 50"; layers that attend alike share a line.
std::vector<std::string> layer_notes(const RunFacts& facts, std::span<const std::size_t> layers);

/// The tokens that a model wrote after a text.
struct Continuation {
  std::string text;  // decoded; valid UTF-8, like all strings here
  std::vector<TokenId> ids;
  std::size_t asked = 0;  // number requested
  ContinuationEnd end = ContinuationEnd::kLength;
  std::optional<TokenId> end_of_text;  // the token that ended it; not among the ids
  std::string end_token;               // its name
};

struct PredictedToken {
  std::string token;
  TokenId id = 0;
  double probability = 0.0;
  float logit = 0.0f;
};

/// The token actually found at a predicted position.
struct ActualToken {
  std::string token;
  TokenId id = 0;
  double probability = 0.0;
  std::size_t rank = 0;  // number of tokens more probable, or as probable with a smaller id
};

/// The most probable tokens at a position in a text, in falling order.
struct Predictions {
  std::size_t at = 0;        // a token's index
  std::string token;         // the token at this index
  bool replaces_it = false;  // they predict this token, else the one after it
  std::vector<PredictedToken> top;
  std::optional<ActualToken> actual;  // if all positions were requested, except after the last
};

/// "the model ended the text (</s>) after 5 of 20 tokens"; empty for the requested length.
std::string continuation_note(const Continuation& continuation);

}  // namespace attnviz
