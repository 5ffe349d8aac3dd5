// Pixels as the bytes of a PNG file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/picture/raster/canvas.h"

namespace attnviz {

/// What the file says beside its pixels.
struct PngFacts {
  int dpi = 0;  // 0: not said
  /// Keyword (1 to 79 printable ASCII characters) and text (valid UTF-8), in this order; a text
  /// that is empty is left out.
  std::vector<std::pair<std::string, std::string>> texts;
};

/// Encodes 8-bit sRGB pixels, `rgb` of shape [height, width, 3]. The same pixels give the same
/// bytes. Throws Error{kUsage} when a size is 0 or the picture has 2^30 bytes or more, and
/// Error{kIo} when memory runs out.
std::string encode_png(std::span<const std::uint8_t> rgb, std::size_t width, std::size_t height,
                       const PngFacts& facts = {});

/// The same for a picture, with its palette when it has one.
std::string encode_png(const Canvas& canvas, const PngFacts& facts = {});

}  // namespace attnviz
