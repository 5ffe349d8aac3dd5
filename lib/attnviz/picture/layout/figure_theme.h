// The colours of a figure besides the colour scale.
#pragma once

#include "attnviz/color/colormap.h"
#include "attnviz/picture/layout/figure_style.h"

namespace attnviz {

struct ThemeColors {
  Rgb background;
  Rgb text;
  Rgb note;     // notes, and the indices beside labels
  Rgb tick;     // ticks
  Rgb outline;  // around panels and legend
  Rgb masked;   // cells that do not exist
  Rgb hatch;    // the lines on them
  Rgb frame;    // around the panel that is meant
};

inline constexpr ThemeColors kLightColors = {
    {0xFF, 0xFF, 0xFF}, {0x1A, 0x1A, 0x1A}, {0x5A, 0x5A, 0x5A}, {0x55, 0x55, 0x55},
    {0x9A, 0x9A, 0x9A}, {0xE4, 0xE4, 0xE4}, {0xC6, 0xC6, 0xC6}, {0xD6, 0x1F, 0x2C}};

inline constexpr ThemeColors kDarkColors = {
    {0x17, 0x19, 0x1E}, {0xEC, 0xEC, 0xEC}, {0xA6, 0xA9, 0xB0}, {0x9A, 0x9D, 0xA4},
    {0x70, 0x74, 0x7C}, {0x33, 0x36, 0x3D}, {0x55, 0x59, 0x62}, {0xFF, 0x5A, 0x4F}};

inline const ThemeColors& theme_colors(FigureTheme theme) noexcept {
  return theme == FigureTheme::kLight ? kLightColors : kDarkColors;
}

// Numbers stand on the colours of the scale, whatever the theme.
inline constexpr Rgb kDarkNumber{0x1A, 0x1A, 0x1A};
inline constexpr Rgb kLightNumber{0xFF, 0xFF, 0xFF};

}  // namespace attnviz
