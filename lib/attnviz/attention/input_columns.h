// A text as a model takes it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "attnviz/model/model.h"
#include "attnviz/text/tokenized_text.h"

namespace attnviz {

/// Pieces, ids and segments of a text's tokens: what a ModelInput is a view of. The pieces are
/// views into the text.
struct InputColumns {
  explicit InputColumns(const TokenizedText& text);

  std::vector<std::string_view> pieces;
  std::vector<TokenId> ids;
  std::vector<std::uint8_t> segments;

  ModelInput view() const noexcept;
};

}  // namespace attnviz
