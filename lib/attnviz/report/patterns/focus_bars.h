// One token's attention as bars for few heads, and as maps of layers and heads for many.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "attnviz/attention/pattern_sink.h"
#include "attnviz/report/attention_document.h"
#include "attnviz/report/heatmap.h"

namespace attnviz {

/// The properties of a focus_heatmap() picture that the picture itself lacks.
struct BarsSubject {
  std::size_t token = 0;         // the token in focus, as an index of the columns' tokens
  EntryNumbers first_index = 0;  // numbers of the columns' tokens
  bool as_key = false;           // columns are queries, whose weights have no fixed sum
  PatternKind kind = PatternKind::kWeights;
};

/// `focus` is the document's picture from attention_heatmap(), possibly without the first columns.
/// Precondition: the document's drawing has a focus.
BarsSubject bars_subject(const AttentionDocument& document, const Heatmap& focus);

/// Chooses the tokens of a focus_heatmap() picture that get bars: all of up to 40 tokens, else the
/// 20 with the largest values. Bars extend from 0 to the right, and to the left for negative
/// values.
struct FocusBars {
  std::vector<std::size_t> shown;   // in order
  std::vector<std::size_t> others;  // visible to some head, not shown
  std::size_t n_left_out = 0;       // masked in every head, not shown
  double low = 0.0;                 // the value of a full bar to the left: 0 if there is none
  double high = 1.0;                // of a full bar to the right: the largest value, rounded up

  FocusBars(const Heatmap& focus, const BarsSubject& subject);

  /// The share of the range from low to high that lies below 0.
  double part_below() const noexcept { return -low / (high - low); }
  /// Shares as percentages with 0 or 1 decimals, scores as numbers.
  std::string number(float value, int decimals) const;
  /// The number for the tokens in `others` in one head: the sum of their shares for a query; the
  /// largest single value for a key, or for scores. Empty for scores of which the head sees none.
  std::string number_of_others(const HeatmapPanel& panel, std::size_t head, int decimals) const;
  /// "full bar = 100%", and lines about other and omitted tokens.
  std::vector<std::string> legend() const;

 private:
  bool are_scores() const noexcept { return is_before_softmax(subject_.kind); }

  BarsSubject subject_;
};

/// The same for many heads: a panel [layers, heads] for each of the tokens with the most attention
/// on average over the heads, at most six, in text order; a note gives the limit for the others.
/// `heads` are those of the rows of `focus`, a focus_heatmap() picture, by layer, then head. Absent
/// if no head sees any token.
std::optional<Heatmap> focus_maps(const Heatmap& focus, std::span<const HeadId> heads,
                                  const BarsSubject& subject);

}  // namespace attnviz
