// What is in a model, for people and for programs: sizes, parameters, memory, tokenizer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/analysis/model_shape.h"
#include "attnviz/formats/gguf.h"
#include "attnviz/model/model.h"

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
};

/// A layer's attention as the model uses it.
struct AttentionVariant {
  Mask mask;
  std::size_t d_head = 0;    // of the first head
  double score_scale = 0.0;  // what q·k is multiplied with; 0: 1 / √d_head of each, which differ
  float soft_cap = 0.0f;     // 0: none
  bool query_norm = false, key_norm = false;

  bool has_rope = false;  // the others are of it
  double rope_base = 0.0;
  std::size_t n_rotated = 0;  // dimensions of a head that turn
  std::string_view rope_scaling = "none";
  double rope_factor = 1.0;
  std::size_t original_n_ctx = 0;  // of the scaling; 0: not said
};

/// Precondition: the model has that layer.
AttentionVariant attention_variant(const Model& model, std::size_t layer);

/// A norm that is there: of the first layer, else of the output. Null: there is none.
const Norm* any_norm(const Model& model) noexcept;

/// "gelu", "gelu (tanh)", "silu", "relu" or "tanh".
std::string_view activation_name(Activation activation) noexcept;
/// "attention-only", "pre-norm", "parallel" or "post-norm".
std::string_view order_name(LayerOrder order) noexcept;

}  // namespace attnviz
