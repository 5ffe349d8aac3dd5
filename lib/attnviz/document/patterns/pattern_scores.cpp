#include "attnviz/document/patterns/pattern_scores.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <utility>

#include "attnviz/attention/head_selection.h"
#include "attnviz/core/error.h"

namespace attnviz {

namespace {

// Of all of `heads`, the first of which has these weights.
Visibility visibility_in(const AttentionDocument& document, DocumentVisibilities& visibilities,
                         std::span<const HeadId> heads, ConstMatrix weights) {
  Visibility known = visibilities.of(heads);
  if (document.mask_of(heads.front())) {
    return known;
  }
  for (std::size_t query = 0; query < weights.rows; ++query) {
    const auto row = weights.row(query).subspan(query + 1);
    if (std::ranges::any_of(row, [](float weight) { return weight != 0.0f; })) {
      return known;
    }
  }
  return known.under(Mask{});
}

// The weights without those that a file has where its mask hides them, as they are drawn: `kept`
// gets a copy where there are such, `n_hidden` their number.
ConstMatrix visible_weights(ConstMatrix weights, const Visibility& seen, MatrixBuffer& kept,
                            std::size_t& n_hidden) {
  for (std::size_t query = 0; query < weights.rows; ++query) {
    const std::size_t first = seen.first_key(query);
    const std::size_t end = seen.end_key(query, weights.cols);
    const bool has_gaps = seen.n_visible(query, first, end) < end - first;
    for (std::size_t key = 0; key < weights.cols; ++key) {
      if (key == first && key < end && !has_gaps) {
        key = end - 1;
      } else if (weights(query, key) != 0.0f && !seen.visible(query, key)) {
        if (kept.rows() == 0) {
          kept = copy_of(weights);
        }
        kept.view()(query, key) = 0.0f;
        ++n_hidden;
      }
    }
  }
  return kept.rows() == 0 ? weights : std::as_const(kept).view();
}

}  // namespace

PatternScores pattern_scores(const AttentionDocument& document, const ScoredTokens& tokens) {
  PatternScores scores;
  DocumentVisibilities visibilities(document);
  for (const DocumentPattern& pattern : document.patterns) {
    Visibility seen =
        visibility_in(document, visibilities, std::span(&pattern.head, 1), pattern.weights);
    HeadScores one({pattern.head}, tokens, [&seen](HeadId) { return seen; });
    MatrixBuffer kept;
    try {
      one.rows(pattern.head, 0, 0, visible_weights(pattern.weights, seen, kept, scores.n_hidden));
      one.sinks(pattern.head, 0, pattern.sink);
    } catch (const Error& error) {
      throw Error(error.kind(), fmt::format("head {}, {}", head_name(pattern.head), error.what()));
    }
    scores.heads.push_back(one.scores(pattern.head));
  }
  const std::vector<HeadId> heads = heads_of(document);
  scores.uniform = uniform_scores(
      tokens, visibility_in(document, visibilities, heads, document.patterns.front().weights));
  return scores;
}

}  // namespace attnviz
