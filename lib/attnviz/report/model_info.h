// Descriptions of models: the sizes, parameters, memory and tokenizer of one model, for people and
// for programs, and a list of the models on a machine.
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
  std::string kind;           // "byte-level BPE", …, "words"; empty: none
  std::string missing;        // one sentence on why it is missing
  std::size_t n_entries = 0;  // 0: open vocabulary
  std::size_t n_special = 0;  // special tokens among these
  std::vector<Special> special;
  std::vector<std::string> before, after;  // tokens added around a text, raw bytes
  std::string chat_template;               // its language, "jinja" or "go"; empty: none
  std::vector<IgnoredKey> ignored_keys;    // keys of its file
  std::vector<std::string> unknown_keys;   // of its file
};

struct ModelInfo {
  std::string name;
  const Model* model = nullptr;  // null: described by numbers alone
  ModelShape shape;
  ParameterCounts parameters;              // count_parameters(shape)
  std::optional<TokenizerInfo> tokenizer;  // absent for a description in numbers
  // Hints about sizes that a description in numbers lacks.
  std::string d_ff_hint = "give d_ff", n_vocab_hint = "give n_vocab";
  const Gguf* gguf = nullptr;  // the file, or the first of several; null: another format

  /// The types and sizes of the weights in the files; empty for a description in numbers.
  StoredWeights stored() const { return model == nullptr ? StoredWeights() : model->stored; }
};

/// The first norm of layer 0 (before attention, else before the MLP), else that of the output; null
/// if the model has none of these.
const Norm* any_norm(const Model& model) noexcept;
/// The MLP of the first layer that has one, or one of its experts if it has nothing else; may be
/// absent.
const Mlp& any_mlp(const Model& model) noexcept;

/// "gelu", "gelu (tanh)", "silu", "relu" or "tanh".
std::string_view activation_name(Activation activation) noexcept;

/// A labelled fact in words.
struct InfoFact {
  std::string label;
  std::string text;
};

/// Sizes, positions, norms, order, activation, output.
std::vector<InfoFact> shape_facts(const ModelInfo& info);

/// Empty for a description in numbers.
std::vector<InfoFact> tokenizer_facts(const ModelInfo& info);

/// The types and sizes of the weights in the files, or the memory that they would take.
std::vector<InfoFact> weights_facts(const ModelInfo& info);

/// The metadata of a GGUF file, key by key; empty for other files.
std::vector<InfoFact> metadata_facts(const ModelInfo& info);

/// A model in a list; unknown fields are empty or absent.
struct ListedModel {
  std::string name;   // the name to load it by
  std::string store;  // the program that stores it; "attnviz": the embedded model
  std::string path;   // its file or folder; empty for the embedded model
  std::string family;
  std::string quantisation;                 // "Q4_K_M", "BF16"
  std::optional<std::uint64_t> parameters;  // number of values in all tensors
  std::optional<std::uint64_t> bytes;       // of its files
  std::optional<std::uint64_t> n_layers;
  std::optional<std::uint64_t> n_heads;  // per layer
  std::optional<bool> chat_template;     // whether it has one
  std::string problem;                   // why it cannot be loaded
};

/// The models on a machine.
struct ModelList {
  std::vector<ListedModel> models;
  struct Place {
    std::string store;
    std::string path;
    bool exists = false;
    bool barred = false;  // this user has no permission to read it
  };
  std::vector<Place> places;  // searched places
};

// Warnings about the weights of a picture: it would be nearly of one colour, or rows do not sum to
// 1. Notes below a picture of attention.

/// "nearly all weights are below 0.1: the scale log or row-max shows them" for a linear scale over
/// more than 32 keys if 99 of 100 weights lie below a tenth of the range; else empty. Weights of
/// exactly 0 do not count: masked weights are 0, and no scale would show any of them. `grid`:
/// counts the picture's cells instead, for weights that were not kept.
std::string flat_note(const Heatmap& heatmap, const PoolGrid* grid = nullptr);

/// "2 of 48 rows do not sum to 1: head 0.3, query 5 sums to 0.83"; empty if all sums are within
/// 0.001 of 1, or are 0, or if dropout explains the rest.
std::string row_sum_note(const AttentionDocument& document);

/// Whether declared weights cannot be weights: some lie below 0 or above 1, and neither dropout nor
/// a difference explains them.
bool look_like_scores(const AttentionDocument& document);

/// Whether learned sinks get a column; never for weights that were not kept.
bool draws_sinks(const AttentionDocument& document);

/// The notes that all documents share, and one on their differences.
std::vector<std::string> shared_notes(std::span<const AttentionDocument> documents);

}  // namespace attnviz
