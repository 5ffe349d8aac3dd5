#include "attnviz/color/color_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attnviz/core/error.h"

namespace attnviz {

float ColorScale::position(float value) const noexcept {
  switch (kind) {
    case ScaleKind::kSqrt:
      return std::isnan(value) ? value : std::sqrt(std::max(value - low, 0.0f) / (high - low));
    case ScaleKind::kLog:
      // The whole range may be wider than a float's own.
      return std::isnan(value)
                 ? value
                 : static_cast<float>(std::log(std::max<double>(value, low) / double{low}) /
                                      std::log(double{high} / double{low}));
    case ScaleKind::kLinear:
    case ScaleKind::kRowMax:
      break;
  }
  return (value - low) / (high - low);
}

void check(const ColorScale& scale) {
  if (!(scale.low < scale.high) || !std::isfinite(scale.high - scale.low)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("picture: a colour scale from {} to {} cannot be drawn", scale.low,
                            scale.high));
  }
  if (scale.kind == ScaleKind::kLog && scale.low <= 0.0f) {
    throw Error(ErrorKind::kUsage,
                fmt::format("picture: a logarithmic colour scale begins above 0, found {}; choose "
                            "a range such as 0.001:1",
                            scale.low));
  }
}

}  // namespace attnviz
