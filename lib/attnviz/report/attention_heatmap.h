// The picture of attention documents: panels, labels, and notes for the reader. Cells that given
// scores hide (minus infinity) beyond the mask that a document names.
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
/// drawing changes the weights. Throws Error{kUsage} if the first key is to be dropped and is the
/// only one.
Heatmap attention_heatmap(const AttentionDocument& document);

/// Sets the cells of a document without weights. `pictures` holds those of every grid that is
/// drawn: pooling into another grid throws std::logic_error.
void set_cells(Heatmap& heatmap, const AttentionDocument& document,
               const std::vector<std::shared_ptr<const PooledPatterns>>& pictures);

/// The same for several documents of one text and the same heads: each head's panels stand side by
/// side, named by the first document's drawing.side_by_side. The notes hold what they share. With
/// drawing.focus the only panel has a row for each head and a column for each token. Precondition:
/// at least one document, and as many names as documents if there are several.
Heatmap attention_heatmap(std::span<const AttentionDocument> documents);

/// The same with the panels of every token: drawing.focus affects only the title.
Heatmap attention_panels(std::span<const AttentionDocument> documents);

/// The row of the token in focus in `whole`, among queries or keys, as below. Throws Error{kUsage}
/// if the token is not in it.
std::size_t focus_row(const Heatmap& whole, const Focus& focus, std::size_t n_queries,
                      std::size_t n_keys);

/// One token's attention in every head: one panel [panels of `whole`, tokens] that owns its values.
/// `whole` is a picture of n_queries queries and n_keys keys, possibly without the first ones.
/// Throws Error{kUsage} if the token is not in it.
Heatmap focus_heatmap(const Heatmap& whole, const Focus& focus, std::size_t n_queries,
                      std::size_t n_keys);

/// Hides masked scores in panels, one after another. Patterns whose scores hide the same cells
/// share a name for them in HeatmapPanel::mask.
class MaskedScores {
 public:
  /// `panel` shows `pattern`, which belongs to a document of this kind; `seen` is its visibility.
  void hide_in(HeatmapPanel& panel, PatternKind kind, const DocumentPattern& pattern,
               const Visibility& seen);

 private:
  std::map<std::uint64_t, std::string> names_;  // by a hash of the cells
};

// Choices for a drawing that a request leaves open, derived from the data.

/// The smallest and largest finite weight that a query sees and that `request` draws: without
/// tokens added by the tokenizer (no_special), or with rows scaled to 1 without their sink
/// (drop_sink). {0, 0} if none exists.
ValueRange value_range(const AttentionDocument& document, const DrawingRequest& request = {});

/// Range: as given. An automatic range goes from 0 to the largest value or, with negative values,
/// equally far to both sides of 0. Otherwise it covers all possible attention weights, 0 to 1, or 0
/// to 1 / (1 - dropout); without the sink 0 to 1. Logarithmic ranges begin at a thousandth of their
/// end. Ranges of scores extend to both sides of 0. Colour map: as given; else blue-red for an
/// automatic range with negative values, and viridis otherwise. Throws Error{kUsage} for an unknown
/// map, a scale that cannot be drawn, and drop_sink for scores, for experts, or together with
/// no_special.
Drawing choose_drawing(const DrawingRequest& request, const AttentionDocument& document);

/// Whether the range depends on the data.
bool needs_values(const DrawingRequest& request) noexcept;

/// The same for a run with `dropout` whose weights are not kept; `values` is their range, used if
/// needs_values() is true.
Drawing choose_drawing(const DrawingRequest& request, float dropout, const ValueRange& values);

/// The document's own drawing with the requested changes. The range is kept if the new scale can
/// use it. Throws like choose_drawing().
Drawing changed_drawing(const DrawingRequest& request, const AttentionDocument& document);

}  // namespace attnviz
