// The colours of a PNG figure besides the colour scale.
#pragma once

#include "attnviz/render/colormap.h"

namespace attnviz {

inline constexpr Rgb kWhite{0xFF, 0xFF, 0xFF};
inline constexpr Rgb kTextColor{0x1A, 0x1A, 0x1A};
inline constexpr Rgb kNoteColor{0x55, 0x55, 0x55};
inline constexpr Rgb kTickColor{0x55, 0x55, 0x55};
inline constexpr Rgb kOutlineColor{0x9A, 0x9A, 0x9A};
inline constexpr Rgb kMaskedColor{0xE2, 0xE2, 0xE2};  // light and grey: no colour of the scale

}  // namespace attnviz
