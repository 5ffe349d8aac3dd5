// How a figure looks, apart from what it shows.
#pragma once

#include "attnviz/render/font_set.h"

namespace attnviz {

struct FigureStyle {
  const FontSet* fonts = &FontSet::embedded();  // never null; outlives the drawing
};

}  // namespace attnviz
