// A model as attention needs it: shapes, weight views and what owns them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/tensor.h"
#include "attnviz/model/mask.h"

namespace attnviz {

/// Position information, added to the embeddings (sinusoidal), to queries and keys (rope), to
/// scores (alibi), or absent.
enum class Positions { kNone, kSinusoidal, kRope, kAlibi };

std::string_view positions_name(Positions positions) noexcept;
/// Throws Error{kUsage} naming the valid ones, with did-you-mean.
Positions parse_positions(std::string_view name);

/// y = x · weight + bias. weight [d_in, d_out], row-vector convention; bias empty or d_out long.
struct Projection {
  ConstMatrix weight;
  std::span<const float> bias;

  std::size_t d_in() const noexcept { return weight.rows; }
  std::size_t d_out() const noexcept { return weight.cols; }
};

/// One attention head. Heads of one layer may differ in d_head and d_value.
struct HeadWeights {
  Projection query;    // [d_model, d_head]
  Projection key;      // [d_model, d_head]
  Projection value;    // [d_model, d_value]
  ConstMatrix output;  // [d_value, d_model] ("value-up"), or empty

  std::size_t d_head() const noexcept { return query.d_out(); }
  std::size_t d_value() const noexcept { return value.d_out(); }
};

/// One attention layer. Its output is, in this order of preference:
///   concat(contexts) · output.weight + output.bias     when `output` is there;
///   sum over heads of context · head.output + output.bias   when the heads have one;
///   concat(contexts)                                    otherwise (last layer only).
struct LayerWeights {
  std::vector<HeadWeights> heads;
  Projection output;  // [sum of d_value, d_model], or empty; the bias may stand alone

  bool has_output() const noexcept {
    return !output.weight.empty() || !heads.front().output.empty();
  }
};

/// What a model says of itself.
struct ModelConfig {
  std::string name;  // "random", or the file's name
  std::size_t d_model = 0;
  std::string tokenizer = "words";  // "words", "chars" or "bytes"
  Mask mask;
  Positions positions = Positions::kNone;
  bool residual = true;         // add each layer's output to its input
  bool random_weights = false;  // the pictures mean nothing
  std::uint64_t seed = 0;       // of random weights and of random embeddings
};

/// Weights are views into `storage`; copies share it. Every layer has at least one head.
struct Model {
  ModelConfig config;
  std::vector<LayerWeights> layers;

  std::vector<std::string> vocabulary;  // pieces with an embedding, [n_vocab]; may be empty
  ConstMatrix embeddings;               // [n_vocab, d_model]
  ConstMatrix inputs;  // [n_tokens, d_model]: the residual stream itself, by position; or empty
  bool random_unknown =
      true;  // a piece outside the vocabulary: seeded random embedding, or an error

  std::shared_ptr<const void> storage;

  std::size_t n_layers() const noexcept { return layers.size(); }
  /// The most heads any layer has.
  std::size_t n_heads() const noexcept;
};

/// The residual stream that enters layer 0, [n_tokens, d_model]: inputs by position, or the
/// embedding of each piece (random and seeded when the model has none: the same piece, the same
/// vector), plus sinusoidal positions (Vaswani et al. 2017, section 3.5) when the model has them.
///
/// Throws Error{kUsage} when the model has `inputs` for another number of tokens, or when a piece
/// has no embedding and the model forbids random ones.
MatrixBuffer embed(const Model& model, std::span<const std::string_view> pieces);

/// The pieces without an embedding, whose vectors embed() draws from the seed: each once, in order
/// of first appearance. None when the model has `inputs`, or forbids random ones. Views into
/// `pieces`.
std::vector<std::string_view> random_pieces(const Model& model,
                                            std::span<const std::string_view> pieces);

}  // namespace attnviz
