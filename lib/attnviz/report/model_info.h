// What is said of models: of one its sizes, parameters, memory and tokenizer, for people and for
// programs; of those on a machine a listing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/analysis/model_shape.h"
#include "attnviz/analysis/pooled_patterns.h"
#include "attnviz/formats/gguf.h"
#include "attnviz/model/model.h"
#include "attnviz/report/attention_document.h"
#include "attnviz/report/heatmap.h"
#include "attnviz/text/tokenizers/model_tokenizer.h"

namespace attnviz {

struct TokenizerInfo {
  struct Special {
    std::string role;   // "bos", "eos", "pad", "unk", "sep", "cls" or "mask"
    std::string piece;  // raw bytes
    std::uint32_t id = 0;
  };
  std::string kind;           // "byte-level BPE", …, "words"; empty: there is none
  std::string missing;        // a sentence on why there is none
  std::size_t n_entries = 0;  // 0: whatever a text has
  std::size_t n_special = 0;  // special tokens among them
  std::vector<Special> special;
  std::vector<std::string> before, after;  // what is added around a text, raw bytes
  std::string chat_template;               // its language, "jinja" or "go"; empty: there is none
  std::vector<IgnoredKey> ignored_keys;    // keys of its file
  std::vector<std::string> unknown_keys;   // of its file
};

struct ModelInfo {
  std::string name;
  const Model* model = nullptr;  // null: described in numbers
  ModelShape shape;
  ParameterCounts parameters;              // count_parameters(shape)
  std::optional<TokenizerInfo> tokenizer;  // nothing when described in numbers
  // What to do about sizes that a description in numbers lacks.
  std::string d_ff_hint = "give d_ff", n_vocab_hint = "give n_vocab";
  const Gguf* gguf = nullptr;  // the file, or the first of several; null: another form

  /// How the files hold the weights; nothing when described in numbers.
  StoredWeights stored() const { return model == nullptr ? StoredWeights() : model->stored; }
};

/// A norm that is there: of the first layer, else of the output. Null: there is none.
const Norm* any_norm(const Model& model) noexcept;
/// The MLP of the first layer, or one of its experts where it has nothing else; may be absent.
const Mlp& any_mlp(const Model& model) noexcept;

/// "gelu", "gelu (tanh)", "silu", "relu" or "tanh".
std::string_view activation_name(Activation activation) noexcept;

/// A fact in words.
struct InfoFact {
  std::string label;
  std::string text;
};

/// Sizes, positions, norms, order, activation, output.
std::vector<InfoFact> shape_facts(const ModelInfo& info);

/// None when described in numbers.
std::vector<InfoFact> tokenizer_facts(const ModelInfo& info);

/// Of the files' numbers, or of what they would take.
std::vector<InfoFact> weights_facts(const ModelInfo& info);

/// What a GGUF file says of itself, key by key; empty for other files.
std::vector<InfoFact> metadata_facts(const ModelInfo& info);

/// A model as a listing tells it; what is not known of it is empty or absent.
struct ListedModel {
  std::string name;   // by which it is found
  std::string store;  // the program that keeps it; "attnviz": the embedded model
  std::string path;   // its file or folder; empty for the embedded model
  std::string family;
  std::string quantisation;                 // "Q4_K_M", "BF16"
  std::optional<std::uint64_t> parameters;  // numbers of all tensors
  std::optional<std::uint64_t> bytes;       // of its files
  std::optional<std::uint64_t> n_layers;
  std::optional<std::uint64_t> n_heads;  // of a layer
  std::optional<bool> chat_template;     // whether it has one
  std::string problem;                   // why it cannot be read
};

/// The models on a machine.
struct ModelList {
  std::vector<ListedModel> models;
  struct Place {
    std::string store;
    std::string path;
    bool exists = false;
    bool barred = false;  // this user may not look there
  };
  std::vector<Place> places;  // where was looked
};

// What a reader should know about the weights of a picture: that it would be nearly of one colour,
// that rows do not sum to 1. What is said below a picture of attention.

/// "nearly all weights are below 0.1: the scale log or row-max shows them" for a linear scale
/// over more than 32 keys where 99 of 100 weights lie below a tenth of the range; else nothing.
/// Weights of exactly 0 do not count: masked ones are 0, and so are those that nothing would show.
/// With a grid the same of a picture's cells, for weights that nobody kept.
std::string flat_note(const Heatmap& heatmap, const PoolGrid* grid = nullptr);

/// "2 of 48 rows do not sum to 1: head 0.3, query 5 sums to 0.83", or nothing when all do within
/// 0.001, or are all 0, or when dropout explains it.
std::string row_sum_note(const AttentionDocument& document);

/// Whether what is said to be weights can be none: numbers below 0 or above 1, where neither
/// dropout nor a difference explains them.
bool look_like_scores(const AttentionDocument& document);

/// Whether learned sinks get a column. Of weights that nobody kept none is drawn.
bool draws_sinks(const AttentionDocument& document);

/// The lines that each of the documents says, and what they differ in.
std::vector<std::string> shared_notes(std::span<const AttentionDocument> documents);

}  // namespace attnviz
