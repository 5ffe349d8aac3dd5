#include "attnviz/picture/layout/figure_style.h"

#include <fmt/format.h>

#include "attnviz/core/error.h"

namespace attnviz {

int FigureStyle::pixels(double at_96_dpi) const noexcept {
  const double scaled = at_96_dpi * dpi / kUsualDpi;
  return at_96_dpi > 0.0 ? std::max(1, static_cast<int>(std::lround(scaled))) : 0;
}

void check(const FigureStyle& style) {
  if (style.cell < 0 || style.cell > kLargestCell) {
    throw Error(ErrorKind::kUsage,
                fmt::format("picture: expected cells of 1 to {} pixels, found {}", kLargestCell,
                            style.cell));
  }
  if (style.dpi < kLeastDpi || style.dpi > kMostDpi) {
    throw Error(ErrorKind::kUsage,
                fmt::format("picture: expected a resolution of {} to {} dpi, found {}", kLeastDpi,
                            kMostDpi, style.dpi));
  }
}

}  // namespace attnviz
