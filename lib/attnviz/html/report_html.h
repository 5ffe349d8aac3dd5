// Any report as a page for a browser.
#pragma once

#include "attnviz/core/byte_sink.h"
#include "attnviz/document/report/report.h"
#include "attnviz/picture/layout/figure_style.h"

namespace attnviz {

/// Writes one HTML document, as write_explorer() does: prose that wraps, tables whose columns sort
/// them, shaded text and figures.
/// Figures are SVG documents in `style`, one for light pages and one for dark ones, shown as
/// images, which run nothing.
void write_report_html(const Report& report, const FigureStyle& style, const ByteSink& sink);

}  // namespace attnviz
