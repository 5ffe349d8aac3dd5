// What BART, mBART and Marian have in common: the encoder-decoder of Vaswani et al. 2017.
#pragma once

#include <string_view>

#include "attnviz/model/families/traits.h"

namespace attnviz {

struct BartTraits {
  Traits encoder, decoder;
};

/// Both stacks as in Vaswani et al. 2017: norms after the sums, biases everywhere, one table of
/// embeddings. Positions are left to the family. Sizes missing in the config are the defaults of
/// transformers.
BartTraits bart_traits(const HfConfig& config);

/// Reads both stacks from the same files, with or without the prefix "model.".
Model read_bart_stacks(const BartTraits& traits, TensorFiles files);

}  // namespace attnviz
