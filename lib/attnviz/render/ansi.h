// Lines for a terminal: text with colours that end where they should.
#pragma once

#include <string>
#include <string_view>

#include "attnviz/render/colormap.h"
#include "attnviz/render/terminal.h"

namespace attnviz {

/// A colour as a terminal of some depth shows it, as parameters of the escape code SGR.
struct TerminalColor {
  std::string foreground;  // "38;5;53"
  std::string background;  // "48;5;53"
  std::string text_on_it;  // black or white as foreground, whichever contrasts more
};

/// The colour of `t` in [0, 1] (clamped; NaN has its own): of the colour map, or with 256 colours
/// one of eight that follow it, or with 16 blue, bright blue, cyan, bright green and bright yellow,
/// which grow lighter on every usual palette. Precondition: depth is not kNone.
TerminalColor terminal_color(const Colormap& colormap, float t, ColorDepth depth);

/// Builds one line. Every coloured run ends in a reset, so that a cut line does not bleed.
class AnsiLine {
 public:
  /// Appends `text`, drawn as the SGR parameters `style` say; empty: plain.
  void put(std::string_view text, std::string_view style = {});

  /// The line without trailing plain spaces and without '\n'; empties the builder.
  std::string finish();

 private:
  std::string text_;
  std::string style_;
};

}  // namespace attnviz
