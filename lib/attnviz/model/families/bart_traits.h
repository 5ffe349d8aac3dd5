// What BART, mBART and Marian have in common: the encoder-decoder of Vaswani et al. 2017.
#pragma once

#include <string_view>

#include "attnviz/model/families/traits.h"

namespace attnviz {

struct BartTraits {
  Traits encoder, decoder;
};

/// Both stacks as Vaswani et al. 2017 have them: norms after the sums, biases everywhere, one table
/// of embeddings. Positions are left to the family. Sizes that a config leaves out are those of the
/// families' library.
BartTraits bart_traits(const HfConfig& config);

/// Throws Error{kUnsupported} when a config says otherwise. A config without `key` agrees.
void require_flag(const HfConfig& config, std::string_view key, bool expected);

/// Both out of the same files, behind "model." or nothing.
Model read_bart_stacks(const BartTraits& traits, TensorFiles files);

}  // namespace attnviz
