// Texts that are longer than a model's context.
#pragma once

#include <array>
#include <cstddef>

#include "attnviz/core/choices.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz {

/// Which end of a text is left out.
enum class TruncateSide { kLeft, kRight };

inline constexpr std::array kTruncateSides = {Choice{"left", TruncateSide::kLeft},
                                              Choice{"right", TruncateSide::kRight}};

/// Leaves out so many tokens that `most` are left. Those that the tokenizer added stay; of a pair
/// the longer text loses first, the second one when both are as long (as Hugging Face's
/// `longest_first`). The source stays whole, and what is left keeps its ranges. Throws
/// Error{kUsage} when the added tokens alone are more.
TokenizedText truncated(TokenizedText text, std::size_t most, TruncateSide side);

}  // namespace attnviz
