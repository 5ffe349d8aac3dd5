// Whether a picture of many weights would be nearly of one colour.
#pragma once

#include <string>

#include "attnviz/document/heatmap.h"
#include "attnviz/document/pooling.h"

namespace attnviz {

/// "nearly all weights are below 0.1: the scale log or row-max shows them" for a linear scale
/// over more than 32 keys where 99 of 100 weights lie below a tenth of the range; else nothing.
/// Weights of exactly 0 do not count: masked ones are 0, and so are those that nothing would show.
std::string flat_note(const Heatmap& heatmap);

/// The same of the cells of a picture, for weights that nobody kept.
std::string flat_note(const Heatmap& heatmap, const PoolGrid& grid);

}  // namespace attnviz
