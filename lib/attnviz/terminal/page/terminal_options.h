// How text is drawn for a terminal.
#pragma once

#include <algorithm>
#include <cstddef>

namespace attnviz {

/// blocks   cells filled with colour, or without colour with shades.
/// ascii    a ramp of 7-bit characters.
/// dots     bigger dots for more; a scale around zero has rings below it.
/// numbers  the weights.
/// mask     only who may see whom: # and ., 7-bit. Panels with one mask are drawn once.
/// arcs     lines between two columns of tokens, in dots; what has no lines as with blocks without
///          colour.
/// arcs, 7-bit: a list of the strongest lines; what has no lines as with ascii.
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
  bool values = true;  // numbers over colours, in cells that have room for them
};

/// Views take at least 20 columns.
inline TerminalOptions wide_enough(TerminalOptions options) {
  options.columns = std::max<std::size_t>(options.columns, 20);
  return options;
}

}  // namespace attnviz
