// One token's attention in few heads as bars, and in many as maps of layers and heads.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "attnviz/attention/pattern_sink.h"
#include "attnviz/document/attention_document.h"
#include "attnviz/document/heatmap.h"

namespace attnviz {

/// What a picture made by focus_heatmap does not say itself.
struct BarsSubject {
  std::size_t token = 0;         // the one in focus, among the columns' tokens
  EntryNumbers first_index = 0;  // of the first column, and of those behind it
  bool as_key = false;           // columns are queries: their weights do not add up to a whole
};

/// `focus`: the document's, as attention_heatmap() gives it, perhaps without the first columns.
/// Precondition: the document's drawing has a focus.
BarsSubject bars_subject(const AttentionDocument& document, const Heatmap& focus);

/// Which of the tokens of a picture made by focus_heatmap have bars: all of up to 40, of more the
/// 20 with the largest weights.
struct FocusBars {
  std::vector<std::size_t> shown;   // in order
  std::vector<std::size_t> others;  // seen by some head, not shown
  std::size_t n_left_out = 0;       // masked in every head, and not shown
  double full = 1.0;                // what a whole bar stands for: the largest weight, rounded up

  explicit FocusBars(const Heatmap& focus);

  /// Of one head: of a query its share in all others together, of a key the most of one of them.
  float weight_of_others(const HeatmapPanel& panel, std::size_t head, bool as_key) const;
  /// "full bar = 100%", and what is said of others and of what is left out.
  std::vector<std::string> legend(const BarsSubject& subject) const;
};

/// The same in many heads: a panel [layers, heads] for each of the tokens that get most in the mean
/// over the heads, at most six, in the order of the text; what the others get stands in the notes.
/// `heads` are those of the rows of `focus`, a picture made by focus_heatmap, by layer, then head.
/// Nothing where no head sees any.
std::optional<Heatmap> focus_maps(const Heatmap& focus, std::span<const HeadId> heads,
                                  const BarsSubject& subject);

}  // namespace attnviz
