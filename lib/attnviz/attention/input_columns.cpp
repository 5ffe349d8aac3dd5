#include "attnviz/attention/input_columns.h"

#include <algorithm>
#include <cstddef>

namespace attnviz {

InputColumns::InputColumns(const TokenizedText& text) : pieces(text.pieces()), ids(text.ids()) {
  segments.reserve(text.size());
  for (const Token& token : text.tokens) {
    segments.push_back(static_cast<std::uint8_t>(std::min<std::size_t>(token.segment, 255)));
  }
}

ModelInput InputColumns::view() const noexcept {
  ModelInput input(pieces);
  input.ids = ids;
  input.segments = segments;
  return input;
}

}  // namespace attnviz
