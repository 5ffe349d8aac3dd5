// What every document and picture says of the model and of how it was run. What a model wrote
// behind a text, and what it holds probable at a place in it.
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
  std::string origin;  // what a reader should know about its origin; may be empty
  std::string family;  // "gpt2", …; empty: weights JSON, random, or not known
  std::vector<std::string> unknown_keys;       // of its files, ignored; valid UTF-8
  bool random = false;                         // the weights: the patterns mean nothing
  std::vector<std::string> random_embeddings;  // tokens, in order of first appearance, valid UTF-8
  std::optional<std::uint64_t> seed;           // of what is random
  std::size_t n_layers = 0;                    // 0: not known, here and below
  std::size_t n_heads = 0;
  std::size_t n_kv_heads = 0;  // of every layer; 0 too where layers or heads differ, here and below
  std::size_t d_model = 0;
  std::size_t d_head = 0;
  std::size_t d_value = 0;
  Positions positions = Positions::kNone;
  std::string tokenizer;                              // that cut the text; empty: not known
  std::optional<std::vector<NamedHead>> named_heads;  // on probes; absent: not measured
};

/// How one layer attends, where it does so in another way than others or than most models.
struct LayerFacts {
  std::size_t layer = 0;
  std::size_t window = 0;  // tokens that a query sees; 0: as RunFacts::mask says
  float soft_cap = 0.0f;   // c: scores become c · tanh(score / c); 0: none
  std::size_t around = 0;  // tokens that it sees to either side, where the mask looks ahead; 0: as
                           // with `window`

  bool learned_sink = false;  // of its heads: softmax has one more score than there are keys

  MixerKind mixer = MixerKind::kAttention;   // of a layer without heads: what it has instead
  MixerKind beside = MixerKind::kAttention;  // of states beside heads; kAttention: none

  /// Who sees whom, where this says so.
  std::optional<Mask> mask() const noexcept;
};

struct RunFacts {
  std::optional<Mask> mask;  // absent: not known, every key may be seen
  float temperature = 1.0f;
  bool scale = true;
  float dropout = 0.0f;
  std::uint64_t dropout_seed = 0;
  std::vector<LayerFacts> layers = {};  // in order; those that have something to tell
  Interventions interventions = {};     // what the run left out
  /// Of several texts, in place of edges between tokens of one: what named the edges that are
  /// hidden in each, "cat>the@1".
  std::vector<std::string> hidden_in_each = {};
};

/// Another mask than the layers' own holds: of these stays what else they have to tell.
void forget_layer_masks(RunFacts& facts);

ModelFacts model_facts(const Model& model, const TokenizedText& text);
RunFacts run_facts(const Model& model, const AttentionRequest& request);

/// "random weights (seed 42)", or the model's name.
std::string model_title(const ModelFacts& facts);

/// The names of one head, "previous-token, sink", or nothing.
std::string names_of(const ModelFacts& facts, HeadId head);

/// Of these heads, by name: "named on probes: current-token 0.1 0.3, induction 2.1", or nothing
/// where names were not measured.
std::string names_note(const ModelFacts& facts, std::span<const HeadId> heads);

/// "demo: embedded in attnviz, trained on generated text", or nothing.
std::string origin_note(const ModelFacts& facts);

/// "badwordsids, v_head.weight and 3 more", for keys and tensors of a model's files.
std::string few_keys(std::span<const std::string> keys);

/// "ignored as unknown: …", or nothing if there are none.
std::string unknown_keys_note(std::span<const std::string> keys);

/// "RANDOM EMBEDDINGS (seed 42): w.json has none for "cat"", or nothing.
std::string random_embeddings_note(const ModelFacts& facts);

/// What a reader of a picture must know, one line each: "RANDOM WEIGHTS: …", "temperature 0.5",
/// "without head 2.1". The mask is not among them.
std::vector<std::string> model_notes(const ModelFacts& facts);
std::vector<std::string> run_notes(const RunFacts& facts);
/// The last of these: what the run left out.
std::vector<std::string> left_out_notes(const RunFacts& facts);

/// The same of the layers that are drawn, in order: "layer 0: window 4096, soft cap 50"; those that
/// attend alike stand in one line.
std::vector<std::string> layer_notes(const RunFacts& facts, std::span<const std::size_t> layers);

/// The tokens that a model wrote behind a text.
struct Continuation {
  std::string text;  // that they decode to; valid UTF-8, as all strings here
  std::vector<TokenId> ids;
  std::size_t asked = 0;  // for so many
  ContinuationEnd end = ContinuationEnd::kLength;
  std::optional<TokenId> end_of_text;  // what ended it; not among the ids
  std::string end_token;               // its name
};

struct PredictedToken {
  std::string token;
  TokenId id = 0;
  double probability = 0.0;
  float logit = 0.0f;
};

/// The token that really stands where one is predicted.
struct ActualToken {
  std::string token;
  TokenId id = 0;
  double probability = 0.0;
  std::size_t rank = 0;  // so many are more probable; of equal ones those with smaller ids
};

/// The most probable tokens at a place in a text, the most probable one first.
struct Predictions {
  std::size_t at = 0;        // a token's index
  std::string token;         // the one that is there
  bool replaces_it = false;  // they stand in its place, else behind it
  std::vector<PredictedToken> top;
  std::optional<ActualToken> actual;  // known where every place was asked for, but behind the last
};

/// "the model ended the text (</s>) after 5 of 20 tokens"; empty when it is as long as asked for.
std::string continuation_note(const Continuation& continuation);

}  // namespace attnviz
