// The picture of attention documents: panels, labels, and what a reader must know about them. What
// given scores hide beyond the mask that a document names: those that are minus infinity.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attnviz/analysis/pooled_patterns.h"
#include "attnviz/document/attention_document.h"
#include "attnviz/document/heatmap.h"

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

}  // namespace attnviz
