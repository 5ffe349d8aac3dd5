// A picture of few colours as a palette and an index a pixel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "attnviz/core/large_memory.h"
#include "attnviz/render/colormap.h"

namespace attnviz {

struct IndexedPixels {
  std::vector<Rgb> palette;  // 1 to 256 colours, in order of first appearance
  std::vector<std::uint8_t, ZeroedAllocator<std::uint8_t>> indices;  // [height, width]
};

/// `rgb` of shape [height, width, 3], all sizes at least 1; nothing when there are more than 256
/// colours.
std::optional<IndexedPixels> index_pixels(std::span<const std::uint8_t> rgb, std::size_t width,
                                          std::size_t height);

}  // namespace attnviz
