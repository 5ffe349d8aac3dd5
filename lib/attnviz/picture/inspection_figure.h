// One query as a figure: every step with its formula, its shapes and its numbers as colours.
#pragma once

#include <string>

#include "attnviz/document/steps/inspection_document.h"
#include "attnviz/picture/figure_file.h"

namespace attnviz {

/// The page as the bytes of a picture's file, steps from top to bottom, heads below each other.
/// Vectors are rows of cells, from blue (negative) over white to red, with numbers where they fit;
/// weights are bars. Everything the terminal's page says is there, but not the matrices of
/// page.full. The same page with the same fonts gives the same bytes. Throws Error{kUsage} when so
/// many heads make a picture that is too high.
std::string render_inspection_figure(const InspectionPage& page, const FigureStyle& style = {},
                                     FigureFormat format = FigureFormat::kPng);

}  // namespace attnviz
