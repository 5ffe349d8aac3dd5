#include "attnviz/document/words/token_names.h"

#include <fmt/core.h>

#include <map>

#include "attnviz/core/utf8.h"

namespace attnviz {

TokenNames::TokenNames(const std::vector<std::string_view>& pieces, bool ascii) : ascii_(ascii) {
  std::map<std::string_view, std::size_t> counts;
  for (const std::string_view piece : pieces) {
    ++counts[piece];
  }
  for (const std::string_view piece : pieces) {
    labels_.push_back(ascii ? printable_ascii(piece) : printable(piece));
    is_repeated_.push_back(counts[piece] > 1);
  }
  index_width_ = std::to_string(pieces.size() - 1).size();
}

std::string TokenNames::indexed(std::size_t token) const {
  return fmt::format("{:>{}} {}", token, index_width_, labels_[token]);
}

std::string TokenNames::quoted(std::size_t token) const {
  constexpr std::size_t kColumns = 24;
  const std::string name =
      fmt::format("\"{}\"", fit_width(labels_[token], kColumns, ascii_ ? ".." : "…"));
  return is_repeated_[token] ? fmt::format("{} (token {})", name, token) : name;
}

}  // namespace attnviz
