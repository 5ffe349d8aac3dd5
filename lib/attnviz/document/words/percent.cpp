#include "attnviz/document/words/percent.h"

#include <fmt/core.h>

#include <limits>

namespace attnviz {

namespace {

enum class Side { kBelow, kWithin, kAbove };  // of what the decimals can write

// Where rounding would make nothing of something, or all of less.
Side side_of(float share, int decimals) noexcept {
  constexpr float kOneButForRounding = 1.0f - std::numeric_limits<float>::epsilon();
  const double percent = static_cast<double>(share) * 100.0;
  const double half = decimals == 0 ? 0.5 : 0.05;
  if (share > 0.0f && percent < half) {
    return Side::kBelow;
  }
  return share < kOneButForRounding && percent >= 100.0 - half ? Side::kAbove : Side::kWithin;
}

std::string written(float share, int decimals) {
  const double percent = static_cast<double>(share) * 100.0;
  return fmt::format("{:.{}f}", share == 0.0f ? 0.0 : percent, decimals);
}

}  // namespace

std::string percentage(float share, int decimals) {
  constexpr float kLeastWhole = 0.0995f;
  constexpr float kMostWhole = 0.9906f;
  constexpr float kLeast = 0.001f;
  if (share == 0.0f) {
    return "0 %";
  }
  if (share > 0.0f && share < kLeast) {
    return "less than 0.1 %";
  }
  const bool is_fine = decimals > 0 || share < kLeastWhole || (share >= kMostWhole && share < 1.0f);
  if (side_of(share, 1) == Side::kAbove) {
    return "more than 99.9 %";
  }
  const std::string number = written(share, is_fine ? 1 : 0);
  return (number == "100.0" ? "100" : number) + " %";
}

std::string percent_cell(float share, int decimals) {
  switch (side_of(share, decimals)) {
    case Side::kBelow:
      return decimals == 0 ? "<1%" : "<.1%";
    case Side::kAbove:
      return decimals == 0 ? ">99%" : ">99.9%";
    case Side::kWithin:
      break;
  }
  return written(share, decimals) + "%";
}

}  // namespace attnviz
