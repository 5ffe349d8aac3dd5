// What a person should hear of how something is drawn.
#pragma once

#include <cstddef>
#include <optional>

#include "attnviz/document/heatmap.h"
#include "attnviz/picture/layout/figure_style.h"
#include "options/options.h"
#include "outputs/outputs.h"

namespace attnviz::app {

/// Says which options of PNG pictures were given although no such picture is written, unless quiet.
/// That is no error: they may stand in an alias.
void tell_unused(const FigureStyle& figure, std::size_t n_fonts, const Outputs& outputs,
                 const TalkOptions& talk);

/// Says that a picture that is drawn is nearly of one colour, and what helps, unless quiet or when
/// its scale was asked for. Whether it was said. Weights that nobody kept are judged by the cells
/// of `grid`.
bool tell_flat(const Heatmap& picture, const ShowOptions& options, const Outputs& outputs,
               const std::optional<PoolGrid>& grid = std::nullopt);

}  // namespace attnviz::app
