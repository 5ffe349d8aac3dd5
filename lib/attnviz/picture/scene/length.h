// A length as people give it: 85 mm, 7 in, 1200 pixels.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "attnviz/core/choices.h"

namespace attnviz {

enum class LengthUnit { kMillimetres, kInches, kPixels };

/// As behind a number.
inline constexpr std::array kLengthUnits = {Choice{"mm", LengthUnit::kMillimetres},
                                            Choice{"in", LengthUnit::kInches},
                                            Choice{"px", LengthUnit::kPixels}};

/// How many there are of a unit in as many pixels; 1 of pixels themselves.
inline double units_of(LengthUnit unit, double pixels, int dpi) noexcept {
  constexpr double kMillimetresAnInch = 25.4;
  switch (unit) {
    case LengthUnit::kMillimetres:
      return pixels / dpi * kMillimetresAnInch;
    case LengthUnit::kInches:
      return pixels / dpi;
    case LengthUnit::kPixels:
      break;
  }
  return pixels;
}

struct Length {
  double number = 0.0;
  LengthUnit unit = LengthUnit::kPixels;

  /// Rounded to whole pixels, at least 1.
  int pixels(int dpi) const noexcept {
    return std::max(1, static_cast<int>(std::lround(number / units_of(unit, 1.0, dpi))));
  }
  bool operator==(const Length&) const = default;
};

}  // namespace attnviz
