// Heatmaps as text for a terminal: colour blocks, a 7-bit ramp, or numbers.
#pragma once

#include <cstddef>
#include <string>

#include "attnviz/render/heatmap.h"

namespace attnviz {

enum class TerminalStyle { kBlocks, kAscii, kNumbers };
enum class ColorDepth { kNone, k16, k256, kTrueColor };

struct TerminalOptions {
  TerminalStyle style = TerminalStyle::kAscii;
  ColorDepth color = ColorDepth::kNone;
  std::size_t columns = 80;
};

/// The picture as lines ending in '\n', none wider than options.columns (at least 20 are assumed).
/// Several panels are small multiples, as many side by side as fit; one panel is drawn large. Row
/// and column labels always; then a legend. What does not fit is shortened, then shrunk, then
/// pooled (each cell the largest weight under it), and the legend says so. kAscii output is 7-bit.
/// With ColorDepth::kNone there is no escape code.
std::string render_terminal(const Heatmap& heatmap, const TerminalOptions& options);

}  // namespace attnviz
