// How a figure looks, apart from what it shows.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "attnviz/core/choices.h"
#include "attnviz/picture/fonts/font_set.h"

namespace attnviz {

enum class FigureTheme { kLight, kDark };

inline constexpr std::array kThemes = {Choice{"light", FigureTheme::kLight},
                                       Choice{"dark", FigureTheme::kDark}};

std::string_view theme_name(FigureTheme theme) noexcept;
/// Throws Error{kUsage} naming the valid ones, with did-you-mean.
FigureTheme parse_theme(std::string_view name);

/// The resolution at which a figure's lengths are whole pixels of their own.
constexpr int kUsualDpi = 96;
constexpr int kLeastDpi = 30;
constexpr int kMostDpi = 1200;
constexpr int kLargestCell = 1000;

struct FigureStyle {
  const FontSet* fonts = &FontSet::embedded();  // never null; outlives the drawing
  FigureTheme theme = FigureTheme::kLight;
  /// From one cell to the next, in pixels at 96 dpi; 0: as large as a figure of a usual size
  /// allows. A figure whose cells' size is given is never pooled.
  int cell = 0;
  /// Pixels an inch: text, gaps and cells all grow with it.
  int dpi = kUsualDpi;

  /// A length at 96 dpi in the pixels of this figure; one above 0 stays above 0.
  int pixels(double at_96_dpi) const noexcept {
    const double scaled = at_96_dpi * dpi / kUsualDpi;
    return at_96_dpi > 0.0 ? std::max(1, static_cast<int>(std::lround(scaled))) : 0;
  }
};

/// Throws Error{kUsage} for a size or a resolution outside of its range.
void check(const FigureStyle& style);

}  // namespace attnviz
