// What strokes cover of a picture's pixels.
#pragma once

#include <cstdint>
#include <vector>

#include "attnviz/picture/scene/pixel_geometry.h"
#include "attnviz/picture/scene/scene.h"

namespace attnviz {

struct StrokeMask {
  PixelRect rect;                    // inside of the picture; may be empty
  std::vector<std::uint8_t> shares;  // [rect.height, rect.width]: opacity times coverage, of 255
};

/// The strokes' mask in a picture of this size. A pixel is covered by how far its centre lies
/// inside of the nearest stroke's edge: half on the edge itself.
StrokeMask stroke_mask(const Strokes& strokes, int width, int height);

}  // namespace attnviz
