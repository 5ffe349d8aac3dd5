// What a PNG file says beside its pixels: resolution and texts.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/render/colormap.h"

namespace attnviz {

struct PngFacts {
  int dpi = 0;  // 0: not said
  /// Keyword (1 to 79 printable ASCII characters) and text (valid UTF-8), in this order; a text
  /// that is empty is left out.
  std::vector<std::pair<std::string, std::string>> texts;
};

/// The 8-bit greyscale PNG file `png` with its greys taken as numbers of colours in `palette` (1 to
/// 256): colour type 3 of PNG's specification (ISO 15948, 11.2.2 and 11.2.3).
std::string with_palette(std::string png, std::span<const Rgb> palette);

/// `png`, the bytes of a PNG file, with a pHYs and iTXt chunks (PNG's specification, ISO 15948,
/// 11.3) behind its IHDR.
std::string with_facts(std::string png, const PngFacts& facts);

}  // namespace attnviz
