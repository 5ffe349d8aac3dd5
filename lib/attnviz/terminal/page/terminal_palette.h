// Colour maps in the colours that a terminal has.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "attnviz/color/colormap.h"
#include "attnviz/terminal/page/terminal_options.h"

namespace attnviz {

/// A colour as a terminal of some depth shows it, as parameters of the escape code SGR.
struct TerminalColor {
  std::string foreground;  // "38;5;53"
  std::string background;  // "48;5;53"
  std::string text_on_it;  // black or white as foreground, whichever contrasts more
};

/// A colour of a palette, with what it looks like there.
struct PaletteColor {
  int index = 0;  // of the 256, or as the SGR code of a background
  Rgb rgb;
};

/// One colour map on terminals of one depth.
///
///   true colour  the map itself.
///   256          about ten colours of the cube and the grey ramp, the nearest ones whose lightness
///                rises (or falls) strictly; for diverging maps from the middle to either end.
///   16           four or five that follow the map and keep that order on every usual palette.
class TerminalPalette {
 public:
  /// With ColorDepth::kNone there is nothing to ask for.
  TerminalPalette(const Colormap& colormap, ColorDepth depth);

  /// The colour of `t` in [0, 1], clamped; NaN has its own.
  TerminalColor color(float t) const;

  /// The same as the foreground of a sign: as light as contrasts by 3 : 1 or more with white and
  /// with black. With 16 colours only the halves of a diverging map differ.
  std::string ink(float t) const;

 private:
  std::size_t level(float t) const noexcept;  // of ramp_
  void choose_16();
  void choose_256();

  Colormap colormap_;
  ColorDepth depth_;
  std::vector<PaletteColor> ramp_;
  std::vector<int> inks_;  // for 256 colours: of the ramp's levels
  PaletteColor nan_;
};

}  // namespace attnviz
