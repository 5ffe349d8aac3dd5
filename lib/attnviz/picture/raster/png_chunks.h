// A PNG file around its packed pixels, and what it says beside them: resolution and texts.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/color/colormap.h"

namespace attnviz {

struct PngFacts {
  int dpi = 0;  // 0: not said
  /// Keyword (1 to 79 printable ASCII characters) and text (valid UTF-8), in this order; a text
  /// that is empty is left out.
  std::vector<std::pair<std::string, std::string>> texts;
};

/// The PNG file of a picture whose filtered rows, as a zlib stream, are `zlib`. A pixel is the
/// number of its colour in `palette` (1 to 256 colours), or three channels when that is empty:
/// 8-bit pixels of colour type 3 or 2 (PNG's specification, ISO 15948, 11.2). The facts stand
/// behind its header as a pHYs and iTXt chunks (11.3). Sizes below 2^31.
std::string png_file(std::size_t width, std::size_t height, std::span<const Rgb> palette,
                     const PngFacts& facts, std::string_view zlib);

}  // namespace attnviz
