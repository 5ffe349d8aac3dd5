#include "attnviz/terminal/page/bar.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace attnviz {

std::string bar(double share, std::size_t columns, bool ascii) {
  constexpr std::array<std::string_view, 8> kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const std::size_t steps = ascii ? 1 : kEighths.size();
  if (!(share > 0.0) || columns == 0) {
    return {};
  }
  const double exact = std::min(share, 1.0) * static_cast<double>(columns * steps);
  const auto filled = static_cast<std::size_t>(std::lround(exact));
  if (filled == 0) {
    return ascii ? "|" : "▏";
  }
  std::string out;
  for (std::size_t i = 0; i < filled / steps; ++i) {
    out += ascii ? "#" : "█";
  }
  out += ascii ? "" : kEighths[filled % steps];
  return out;
}

}  // namespace attnviz
