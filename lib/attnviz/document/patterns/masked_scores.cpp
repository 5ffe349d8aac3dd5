#include "attnviz/document/patterns/masked_scores.h"

#include <optional>

namespace attnviz {

namespace {

// Of the places of cells that are hidden though `seen` sees them; nothing where there are none.
// FNV-1a over the places, a word at a time.
std::optional<std::uint64_t> hash_of_hidden(PatternKind kind, const DocumentPattern& pattern,
                                            const Visibility& seen) {
  constexpr std::uint64_t kBasis = 0xCBF29CE484222325;
  constexpr std::uint64_t kPrime = 0x100000001B3;
  const ConstMatrix& cells = is_before_softmax(kind) ? pattern.weights : pattern.scores;
  std::optional<std::uint64_t> hash;
  for (std::size_t query = 0; query < cells.rows; ++query) {
    for (std::size_t key = 0; key < cells.cols; ++key) {
      if (pattern.is_masked_score(kind, query, key) && seen.visible(query, key)) {
        hash = (hash.value_or(kBasis) ^ (query * cells.cols + key)) * kPrime;
      }
    }
  }
  return hash;
}

}  // namespace

void MaskedScores::hide_in(HeatmapPanel& panel, PatternKind kind, const DocumentPattern& pattern,
                           const Visibility& seen) {
  const auto hash = hash_of_hidden(kind, pattern, seen);
  if (!hash) {
    return;
  }
  const std::string own = names_.empty() ? "masked scores" : "masked scores of " + panel.title;
  panel.mask += (panel.mask.empty() ? "" : "; ") + names_.try_emplace(*hash, own).first->second;
  panel.visible = [seen, pattern, kind](std::size_t query, std::size_t key) {
    return seen.visible(query, key) && !pattern.is_masked_score(kind, query, key);
  };
}

}  // namespace attnviz
