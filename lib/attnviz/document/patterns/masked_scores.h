// What given scores hide beyond the mask that a document names: those that are minus infinity.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "attnviz/document/attention_document.h"
#include "attnviz/document/heatmap.h"

namespace attnviz {

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
