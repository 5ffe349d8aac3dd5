#include "attnviz/picture/layout/figure_style.h"

#include <fmt/format.h>

#include "attnviz/core/error.h"

namespace attnviz {

namespace {

constexpr int kWidest = 65536;  // pixels

}  // namespace

std::string written(const Length& length) {
  return fmt::format("{:.6g}{}", length.number, word_for(kLengthUnits, length.unit));
}

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
  if (style.width &&
      (!(style.width->number > 0.0) ||
       style.width->number / units_of(style.width->unit, 1.0, style.dpi) > kWidest)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("width: expected at most {} pixels, found {} at {} dpi", kWidest,
                            written(*style.width), style.dpi),
                "width");
  }
}

void check_fits(int pixels, const FigureStyle& style) {
  if (!style.width || pixels <= style.width_pixels()) {
    return;
  }
  Length least = {0.0, style.width->unit};
  const double exact = units_of(least.unit, pixels, style.dpi);
  const double step = least.unit == LengthUnit::kPixels        ? 1.0
                      : least.unit == LengthUnit::kMillimetres ? 0.1
                                                               : 0.01;
  least.number = std::ceil(exact / step - 1e-9) * step;
  throw Error(ErrorKind::kUsage,
              fmt::format("width: {} is too narrow for this picture, which needs at least {}",
                          written(*style.width), written(least)),
              "width");
}

}  // namespace attnviz
