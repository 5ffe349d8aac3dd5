// Options for drawing text on a terminal.
#pragma once

#include <algorithm>
#include <cstddef>

namespace attnviz {

/// blocks   cells filled with colours, or with shades on terminals without colours.
/// ascii    a ramp of 7-bit characters.
/// dots     bigger dots for larger values; a scale around zero has rings for negative values.
/// numbers  the weights.
/// mask     only the mask: # for visible and . for hidden keys, 7-bit. Panels with the same mask
///          are drawn once.
/// arcs     lines between two columns of tokens, in dots; pictures without lines look like blocks
///          without colour.
/// arcs, 7-bit: a list of the strongest lines; pictures without lines look like ascii.
enum class TerminalStyle { kBlocks, kAscii, kDots, kNumbers, kMask, kArcs, kArcsAscii };

constexpr bool draws_arcs(TerminalStyle style) noexcept {
  return style == TerminalStyle::kArcs || style == TerminalStyle::kArcsAscii;
}

constexpr bool is_7_bit(TerminalStyle style) noexcept {
  return style == TerminalStyle::kAscii || style == TerminalStyle::kMask ||
         style == TerminalStyle::kArcsAscii;
}
enum class ColorDepth { kNone, k16, k256, kTrueColor };

/// The defaults write plain 7-bit text of 80 columns.
///
/// Example:
///     const attnviz::TerminalOptions options{.style = attnviz::TerminalStyle::kBlocks,
///                                            .color = attnviz::ColorDepth::k256,
///                                            .columns = 100};
///     if (options.columns < 20) return 1;
struct TerminalOptions {
  TerminalStyle style = TerminalStyle::kAscii;
  ColorDepth color = ColorDepth::kNone;
  std::size_t columns = 80;
  bool values = true;  // numbers on colours, in cells with room for them
};

/// Views need at least 20 columns.
inline TerminalOptions wide_enough(TerminalOptions options) {
  options.columns = std::max<std::size_t>(options.columns, 20);
  return options;
}

}  // namespace attnviz
