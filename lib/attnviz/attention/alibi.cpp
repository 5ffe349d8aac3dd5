#include "attnviz/attention/alibi.h"

#include <bit>
#include <cmath>

namespace attnviz {

double alibi_slope(std::size_t head, std::size_t n_heads) noexcept {
  const std::size_t power = std::bit_floor(n_heads);
  const double step = -8.0 / static_cast<double>(power);
  if (head < power) {
    return std::exp2(step * static_cast<double>(head + 1));
  }
  return std::exp2(step / 2.0 * static_cast<double>(2 * (head - power) + 1));
}

}  // namespace attnviz
