// Encoders after BERT: every token sees every other one, norms stand behind the sums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "attnviz/model/families/parts.h"

namespace attnviz {

/// What tensors are called; those of a layer behind its name, in which {} stands for its number.
struct EncoderNames {
  std::string_view embeddings, positions, segments, embedding_norm;
  std::string_view layer, query, key, value, output, attention_norm, up, down, mlp_norm;
  std::string_view transform, transform_norm, unembedding, unembedding_bias;
};

/// What a config says, and the family itself. The defaults are BERT's.
struct EncoderTraits {
  std::string where;  // in front of messages
  EncoderNames names;
  std::size_t d_model = 0;
  std::size_t n_heads = 0;
  std::size_t d_ff = 0;
  std::size_t n_layers = 0;
  std::size_t n_vocab = 0;
  std::size_t n_positions = 0;
  std::size_t first_position = 0;
  std::optional<std::uint32_t> no_position;  // as the Model's
  std::size_t n_segments = 0;
  double epsilon = 1e-12;
  Activation activation = Activation::kGelu;
  Activation head_activation = Activation::kGelu;  // of what guesses masked tokens
  bool tied = true;
};

/// Throws Error{kMalformed} when the numbers contradict each other.
Model read_encoder(const EncoderTraits& traits, WeightReader weights);

}  // namespace attnviz
