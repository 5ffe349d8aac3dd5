// Bars of text, and round numbers for the ends and steps of scales.
#pragma once

#include <cstddef>
#include <string>

namespace attnviz {

/// `share` (0 to 1) of a bar `columns` wide, in eighths of a column, or of # in ascii. Not padded;
/// whatever is more than 0 is seen, and NaN is no bar.
std::string bar(double share, std::size_t columns, bool ascii);

}  // namespace attnviz
