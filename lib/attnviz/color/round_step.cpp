#include "attnviz/color/round_step.h"

#include <cmath>
#include <initializer_list>

namespace attnviz {

double round_step(double number) noexcept {
  constexpr double kRounding = 1.0 - 1e-6;
  if (!(number > 0.0) || !std::isfinite(number)) {
    return 1.0;
  }
  const double power = std::pow(10.0, std::floor(std::log10(number)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= number * kRounding) {
      return factor * power;
    }
  }
  return 10.0 * power;
}

}  // namespace attnviz
