// How a value becomes a colour: the colour map, the range it spans, and how it runs between.
#pragma once

#include <array>

#include "attnviz/color/colormap.h"
#include "attnviz/core/choices.h"

namespace attnviz {

/// linear   even steps.
/// sqrt     square roots: small values spread out.
/// log      logarithms: every factor of ten takes the same room.
/// row-max  each value over the largest of its query's row, then linear: shows where each query
///          looks most, however evenly it looks.
enum class ScaleKind { kLinear, kSqrt, kLog, kRowMax };

inline constexpr std::array kScales = {
    Choice{"linear", ScaleKind::kLinear}, Choice{"sqrt", ScaleKind::kSqrt},
    Choice{"log", ScaleKind::kLog}, Choice{"row-max", ScaleKind::kRowMax}};

struct ColorScale {
  Colormap colormap;
  ScaleKind kind = ScaleKind::kLinear;
  float low = 0.0f;   // the values that the ends of the colour map stand for: low < high, both
  float high = 1.0f;  // finite, 0 < low for kLog; for kRowMax they are shares of the row's largest

  /// Where `value` (for kRowMax: its share) lies from low to high, not clamped: may lie outside
  /// [0, 1]. NaN stays NaN.
  float position(float value) const noexcept;
  Rgb color(float value) const noexcept { return colormap(position(value)); }
};

/// Throws Error{kUsage} when such a scale cannot be drawn.
void check(const ColorScale& scale);

}  // namespace attnviz
