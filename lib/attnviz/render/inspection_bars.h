// Weights as bars of text.
#pragma once

#include <cstddef>
#include <string>

namespace attnviz {

/// The end of a scale from 0 for bars of weights up to `largest`: 1, 0.5, 0.2, 0.1 …, or for
/// weights that dropout grew 2, 5, 10 …: the least that holds it.
float bar_scale(float largest) noexcept;

/// `share` (0 to 1) of a bar `columns` wide, in eighths of a column, or of # in ascii. Not padded;
/// whatever is more than 0 is seen.
std::string bar(float share, std::size_t columns, bool ascii);

}  // namespace attnviz
