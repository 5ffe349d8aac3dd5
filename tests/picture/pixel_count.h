// How much of a canvas is of one colour.
#pragma once

#include "attnviz/picture/raster/canvas.h"

namespace attnviz::test {

/// Pixels of exactly this colour.
inline int count(const Canvas& canvas, Rgb color) {
  int n = 0;
  for (int y = 0; y < canvas.height(); ++y) {
    for (int x = 0; x < canvas.width(); ++x) {
      n += canvas.at(x, y) == color ? 1 : 0;
    }
  }
  return n;
}

}  // namespace attnviz::test
