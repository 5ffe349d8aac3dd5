// Heatmaps as text for a terminal: colour blocks, a 7-bit ramp, dots, numbers, or only the mask.
#pragma once

#include <cstddef>
#include <string>

#include "attnviz/render/heatmap.h"
#include "attnviz/render/pooling.h"

namespace attnviz {

/// blocks   cells filled with colour, or without colour with shades.
/// ascii    a ramp of 7-bit characters.
/// dots     bigger dots for more; a scale around zero has rings below it.
/// numbers  the weights.
/// mask     only who may see whom: # and ., 7-bit. Panels with one mask are drawn once.
enum class TerminalStyle { kBlocks, kAscii, kDots, kNumbers, kMask };
enum class ColorDepth { kNone, k16, k256, kTrueColor };

struct TerminalOptions {
  TerminalStyle style = TerminalStyle::kAscii;
  ColorDepth color = ColorDepth::kNone;
  std::size_t columns = 80;
};

/// The picture as lines ending in '\n', none wider than options.columns (at least 20 are assumed).
/// Several panels are small multiples, as many side by side as fit; one panel is drawn large. Row
/// and column labels always; then a legend. What does not fit is shortened, then shrunk, then
/// pooled (each cell the largest weight under it), and the legend says so. kAscii and kMask are
/// 7-bit. With ColorDepth::kNone there is no escape code.
std::string render_terminal(const Heatmap& heatmap, const TerminalOptions& options);

/// How render_terminal cuts the panels into cells; looks at no weight.
PoolGrid terminal_grid(const Heatmap& heatmap, const TerminalOptions& options);

}  // namespace attnviz
