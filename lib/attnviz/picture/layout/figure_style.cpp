#include "attnviz/picture/layout/figure_style.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/core/suggest.h"

namespace attnviz {

namespace {

// In the order of FigureTheme.
constexpr std::array<std::string_view, 2> kNames = {"light", "dark"};

}  // namespace

std::string_view theme_name(FigureTheme theme) noexcept {
  return kNames[static_cast<std::size_t>(theme)];
}

FigureTheme parse_theme(std::string_view name) {
  const auto* const found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) {
    const std::vector<std::string> known(kNames.begin(), kNames.end());
    throw Error(ErrorKind::kUsage,
                fmt::format("theme: expected {}, found \"{}\"{}", fmt::join(known, ", "), name,
                            did_you_mean(name, known)));
  }
  return static_cast<FigureTheme>(found - kNames.begin());
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
