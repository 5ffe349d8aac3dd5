// Colour maps in the colours of a terminal.
#pragma once

#include <cstddef>
#include <vector>

#include "attnviz/color/colormap.h"
#include "attnviz/terminal/page/page.h"

namespace attnviz {

/// One colour map on terminals of one colour depth.
///
///   true colour  the map itself.
///   256          about ten colours of the cube and the grey ramp, the nearest ones whose lightness
///                rises (or falls) strictly; for diverging maps from the middle to either end.
///   16           four or five that follow the map and keep that order on every usual palette.
class TerminalPalette {
 public:
  /// With ColorDepth::kNone all colours are the same.
  TerminalPalette(const Colormap& colormap, ColorDepth depth);

  /// The colour of `t` in [0, 1], clamped; NaN has its own.
  PaletteColor color(float t) const;

  /// The same as a foreground: its lightness gives contrasts of 3 : 1 or more with white and with
  /// black. With 16 colours only the halves of a diverging map differ.
  PaletteColor ink(float t) const;

  /// The ink of a share; in a diverging map, from the middle up.
  PaletteColor share_ink(float share) const {
    return ink(colormap_.diverging() ? 0.5f + share / 2.0f : share);
  }
  /// The ink of a share of negative values; in a diverging map, from the middle down.
  PaletteColor share_below_ink(float share) const {
    return ink(colormap_.diverging() ? 0.5f - share / 2.0f : share);
  }

 private:
  std::size_t level(float t) const noexcept;  // of ramp_
  void choose_16();
  void choose_256();

  Colormap colormap_;
  ColorDepth depth_;
  std::vector<PaletteColor> ramp_;
  std::vector<PaletteColor> inks_;  // for 256 colours: inks of the ramp's levels
  PaletteColor nan_;
};

}  // namespace attnviz
