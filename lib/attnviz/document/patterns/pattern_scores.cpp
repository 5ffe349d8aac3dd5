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
    const auto hide = [&](std::size_t begin, std::size_t end) {
      for (std::size_t key = begin; key < end; ++key) {
        if (weights(query, key) != 0.0f && !seen.visible(query, key)) {
          if (kept.rows() == 0) {
            kept = copy_of(weights);
          }
          kept.view()(query, key) = 0.0f;
          ++n_hidden;
        }
      }
    };
    std::size_t end_of_seen = 0;
    seen.each_range(query, weights.cols, [&](std::size_t begin, std::size_t end) {
      hide(end_of_seen, begin);
      if (seen.n_visible(query, begin, end) < end - begin) {
        hide(begin, end);
      }
      end_of_seen = end;
    });
    hide(end_of_seen, weights.cols);
  }
  return kept.rows() == 0 ? weights : std::as_const(kept).view();
}

}  // namespace

PatternScores pattern_scores(const AttentionDocument& document, const ScoredTokens& tokens,
                             PatternSink* also) {
  PatternScores scores;
  DocumentVisibilities visibilities(document);
  for (const DocumentPattern& pattern : document.patterns) {
    Visibility seen =
        visibility_in(document, visibilities, std::span(&pattern.head, 1), pattern.weights);
    HeadScores one({pattern.head}, tokens, [&seen](HeadId) { return seen; });
    MatrixBuffer kept;
    const ConstMatrix visible = visible_weights(pattern.weights, seen, kept, scores.n_hidden);
    try {
      one.rows(pattern.head, 0, 0, visible);
      one.sinks(pattern.head, 0, pattern.sink);
    } catch (const Error& error) {
      throw Error(error.kind(), fmt::format("head {}, {}", head_name(pattern.head), error.what()));
    }
    scores.heads.push_back(one.scores(pattern.head));
    if (also != nullptr) {
      also->rows(pattern.head, 0, 0, visible);
    }
  }
  const std::vector<HeadId> heads = heads_of(document);
  scores.uniform = uniform_scores(
      tokens, visibility_in(document, visibilities, heads, document.patterns.front().weights));
  return scores;
}

}  // namespace attnviz
