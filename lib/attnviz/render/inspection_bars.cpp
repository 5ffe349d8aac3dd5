#include "attnviz/render/inspection_bars.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace attnviz {

float bar_scale(float largest) noexcept {
  constexpr float kSmallest = 1e-6f;
  constexpr float kRounding = 1.0f + 1e-6f;
  float decade = 1.0f;
  while (decade * 0.1f * kRounding >= largest && decade > kSmallest) {
    decade *= 0.1f;
  }
  while (decade * kRounding < largest) {
    decade *= 10.0f;
  }
  for (const float part : {0.2f, 0.5f}) {
    if (decade * part * kRounding >= largest) {
      return decade * part;
    }
  }
  return decade;
}

std::string bar(float share, std::size_t columns, bool ascii) {
  constexpr std::array<std::string_view, 8> kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const std::size_t steps = ascii ? 1 : kEighths.size();
  if (!(share > 0.0f)) {
    return {};
  }
  const float exact = std::min(share, 1.0f) * static_cast<float>(columns * steps);
  const auto filled = static_cast<std::size_t>(std::lround(exact));
  if (filled == 0) {
    return ascii ? "." : "▏";
  }
  std::string out;
  for (std::size_t i = 0; i < filled / steps; ++i) {
    out += ascii ? "#" : "█";
  }
  out += ascii ? "" : kEighths[filled % steps];
  return out;
}

}  // namespace attnviz
