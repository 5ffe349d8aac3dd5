// One token's attention in few heads as bars, and in many as maps of layers and heads.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "attnviz/attention/pattern_sink.h"
#include "attnviz/report/attention_document.h"
#include "attnviz/report/heatmap.h"

namespace attnviz {

/// What a picture made by focus_heatmap does not say itself.
struct BarsSubject {
  std::size_t token = 0;         // the one in focus, among the columns' tokens
  EntryNumbers first_index = 0;  // of the first column, and of those behind it
  bool as_key = false;           // columns are queries: their weights do not add up to a whole
  PatternKind kind = PatternKind::kWeights;
};

/// `focus`: the document's, as attention_heatmap() gives it, perhaps without the first columns.
/// Precondition: the document's drawing has a focus.
BarsSubject bars_subject(const AttentionDocument& document, const Heatmap& focus);

/// Which of the tokens of a picture made by focus_heatmap have bars: all of up to 40, of more the
/// 20 with the largest values. Bars go from 0 to the right, and to the left where some are below.
struct FocusBars {
  std::vector<std::size_t> shown;   // in order
  std::vector<std::size_t> others;  // seen by some head, not shown
  std::size_t n_left_out = 0;       // masked in every head, and not shown
  double low = 0.0;   // what a whole bar to the left stands for: 0 where there is none
  double high = 1.0;  // and to the right: the largest value, rounded up

  FocusBars(const Heatmap& focus, const BarsSubject& subject);

  /// What lies left of 0, of all that lies between low and high.
  double part_below() const noexcept { return -low / (high - low); }
  /// Shares as percentages with 0 or 1 decimals, scores as numbers.
  std::string number(float value, int decimals) const;
  /// Of one head: of a query the share of all others together, of a key, and of scores, the most of
  /// one of them. Empty where it sees none of them.
  std::string number_of_others(const HeatmapPanel& panel, std::size_t head, int decimals) const;
  /// "full bar = 100%", and what is said of others and of what is left out.
  std::vector<std::string> legend() const;

 private:
  bool are_scores() const noexcept { return is_before_softmax(subject_.kind); }

  BarsSubject subject_;
};

/// The same in many heads: a panel [layers, heads] for each of the tokens that get most in the mean
/// over the heads, at most six, in the order of the text; what the others get stands in the notes.
/// `heads` are those of the rows of `focus`, a picture made by focus_heatmap, by layer, then head.
/// Nothing where no head sees any.
std::optional<Heatmap> focus_maps(const Heatmap& focus, std::span<const HeadId> heads,
                                  const BarsSubject& subject);

}  // namespace attnviz
