#include "attnviz/document/patterns/pattern_scores.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>

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

}  // namespace

PatternScores pattern_scores(const AttentionDocument& document, const ScoredTokens& tokens) {
  PatternScores scores;
  DocumentVisibilities visibilities(document);
  for (const DocumentPattern& pattern : document.patterns) {
    HeadScores one({pattern.head}, tokens, [&](HeadId head) {
      return visibility_in(document, visibilities, std::span(&head, 1), pattern.weights);
    });
    try {
      one.rows(pattern.head, 0, 0, pattern.weights);
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
