// One number of each head as a picture: a row for each layer, a column for each head.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "attnviz/attention/pattern_sink.h"
#include "attnviz/document/heatmap.h"

namespace attnviz {

/// The layers and heads between the least and the largest of `heads`, at least one. Throws
/// Error{kUsage} when these are more than a million. Where there is no value is no cell. The scale
/// goes from 0 to the largest value, or to both sides of 0 as far as the largest goes where some
/// are negative; title and notes are empty.
Heatmap head_map(std::span<const HeadId> heads, std::span<const std::optional<double>> values,
                 std::string_view value_name);

/// A scale as far to both sides of 0 as `largest`, in colours that part there.
void set_scale_around_zero(Heatmap& map, double largest);

}  // namespace attnviz
