// Which tokens of two texts correspond.
#pragma once

#include <cstddef>
#include <vector>

#include "attnviz/text/tokenized_text.h"

namespace attnviz {

/// Token first[i] of one text corresponds to second[i] of the other; both rise.
struct TokenAlignment {
  std::vector<std::size_t> first;
  std::vector<std::size_t> second;
  std::vector<bool> is_same;  // whether that is the same token
  bool by_position = true;    // texts of equal length: every token to the one at its place

  std::size_t size() const noexcept { return first.size(); }
};

/// Texts of one length token by token, whatever these are; others by a longest common subsequence,
/// of several the same one each time. Tokens are the same when their texts are. Throws
/// Error{kUsage} when fewer than two tokens correspond, and for texts that are too long to be
/// aligned.
TokenAlignment align_tokens(const TokenizedText& first, const TokenizedText& second);

}  // namespace attnviz
