// Which of an encoder-decoder's attentions a pattern is of.
#pragma once

#include <array>

#include "attnviz/core/choices.h"

namespace attnviz {

/// One row a query, one column a key.
enum class AttentionPart {
  kEncoder,  // the encoder's: source by source
  kDecoder,  // the decoder's: target by target
  kCross,    // what the decoder looks at of what the encoder gives: target by source
};

/// In the order of the enumerators.
inline constexpr std::array kPartChoices = {Choice{"encoder", AttentionPart::kEncoder},
                                            Choice{"decoder", AttentionPart::kDecoder},
                                            Choice{"cross", AttentionPart::kCross}};

}  // namespace attnviz
