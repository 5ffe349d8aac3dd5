// Conditions that the layout of every figure meets.
#pragma once

#include "attnviz/picture/layout/figure_layout.h"

namespace attnviz::test {

/// Fails the test where a text touches another, a panel or the legend, where these touch each
/// other, or where anything reaches into the margin.
void check_layout(const FigureLayout& layout);

}  // namespace attnviz::test
