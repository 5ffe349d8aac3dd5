// The picture of attention documents: panels, labels, and what a reader must know about them. What
// given scores hide beyond the mask that a document names: those that are minus infinity.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attnviz/analysis/pooled_patterns.h"
#include "attnviz/report/attention_document.h"
#include "attnviz/report/heatmap.h"
#include "attnviz/report/report_requests.h"

namespace attnviz {

/// The panels are views into the document's weights, or into the heatmap's own storage where the
/// document asks for changed ones. Throws Error{kUsage} when its first key is to be dropped and
/// there is no other.
Heatmap attention_heatmap(const AttentionDocument& document);

/// Gives the panels of a document without weights their cells. `pictures` has those of every grid
/// that is drawn: pooling into another one throws std::logic_error.
void set_cells(Heatmap& heatmap, const AttentionDocument& document,
               const std::vector<std::shared_ptr<const PooledPatterns>>& pictures);

/// The same of documents of one text and the same heads, each head's panels side by side, named as
/// the first document's drawing.side_by_side says. What they share stands in the notes. With
/// drawing.focus the one panel has a row for each head and a column for each token.
/// Precondition: at least one document, as many names as documents when there are several.
Heatmap attention_heatmap(std::span<const AttentionDocument> documents);

/// The same, but of drawing.focus only the title speaks: every token's panels.
Heatmap attention_panels(std::span<const AttentionDocument> documents);

/// The row that the token in focus has in `whole`, of queries or of keys, as below. Throws
/// Error{kUsage} when the token is not in it.
std::size_t focus_row(const Heatmap& whole, const Focus& focus, std::size_t n_queries,
                      std::size_t n_keys);

/// One token's attention in every head: one panel [panels of `whole`, tokens] that owns its values.
/// `whole` is a picture of n_queries queries and n_keys keys, perhaps without the first ones.
/// Throws Error{kUsage} when the token is not in it.
Heatmap focus_heatmap(const Heatmap& whole, const Focus& focus, std::size_t n_queries,
                      std::size_t n_keys);

/// Puts it into panels, one after the other: patterns whose scores hide the same cells share a name
/// for it in HeatmapPanel::mask.
class MaskedScores {
 public:
  /// `panel` is that of `pattern`, a pattern of a document of this kind, and sees what `seen` says.
  void hide_in(HeatmapPanel& panel, PatternKind kind, const DocumentPattern& pattern,
               const Visibility& seen);

 private:
  std::map<std::uint64_t, std::string> names_;  // by a hash of the cells
};

// How a document is drawn when somebody asked for some of it only: the rest follows from the data.

/// The least and the largest finite weight that a query sees and that `request` draws: without the
/// tokens that the tokenizer added (no_special), or with rows scaled to 1 without their sink
/// (drop_sink). {0, 0} when there is none.
ValueRange value_range(const AttentionDocument& document, const DrawingRequest& request = {});

/// Range: as given; else for an automatic one from 0 to the largest value, or with negative values
/// the same to both sides of 0; else what attention weights can take, 0 to 1, or to 1 / (1 -
/// dropout); without the sink 0 to 1. Logarithmic ranges begin at a thousandth of their end.
/// Scores have a range to both sides of 0. Colour map: as given; else blue-red for an automatic
/// range with negative values, and viridis. Throws Error{kUsage} for a map that does not exist, a
/// scale that cannot be drawn, and drop_sink beside no_special.
Drawing choose_drawing(const DrawingRequest& request, const AttentionDocument& document);

/// Whether the range follows from the data.
bool needs_values(const DrawingRequest& request) noexcept;

/// The same for a run with `dropout` whose weights nobody keeps; `values` is their range, where
/// needs_values() is true.
Drawing choose_drawing(const DrawingRequest& request, float dropout, const ValueRange& values);

/// The document's own drawing with what was asked for changed in it. The range stays where the new
/// scale can take it. Throws as choose_drawing does.
Drawing changed_drawing(const DrawingRequest& request, const AttentionDocument& document);

}  // namespace attnviz
