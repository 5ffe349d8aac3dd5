#include "attnviz/render/ansi.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>

namespace attnviz {

namespace {

// SGR colour numbers for backgrounds, with the colours of xterm. Foregrounds are 10 less.
struct AnsiColor {
  int code;
  Rgb rgb;
};
constexpr AnsiColor kRamp16[] = {{44, {0, 0, 238}},
                                 {104, {92, 92, 255}},
                                 {46, {0, 205, 205}},
                                 {102, {0, 255, 0}},
                                 {103, {255, 255, 0}}};
constexpr AnsiColor kNan16 = {41, {205, 0, 0}};

constexpr int kCubeLevels[] = {0, 95, 135, 175, 215, 255};

int nearest_level(std::uint8_t channel) noexcept {
  const auto* nearest = std::min_element(
      std::begin(kCubeLevels), std::end(kCubeLevels),
      [channel](int a, int b) { return std::abs(a - channel) < std::abs(b - channel); });
  return static_cast<int>(nearest - std::begin(kCubeLevels));
}

TerminalColor color_16(float t) {
  const auto n_levels = static_cast<float>(std::size(kRamp16));
  const AnsiColor color = std::isnan(t) ? kNan16
                                        : kRamp16[static_cast<std::size_t>(std::clamp(
                                              std::floor(t * n_levels), 0.0f, n_levels - 1.0f))];
  return {fmt::format("{}", color.code - 10), fmt::format("{}", color.code),
          dark_text_on(color.rgb) ? "30" : "97"};
}

}  // namespace

TerminalColor terminal_color(float t, ColorDepth depth) {
  if (depth == ColorDepth::k16) {
    return color_16(t);
  }
  Rgb color = colormap(t);
  std::string code = fmt::format("2;{};{};{}", color.r, color.g, color.b);
  if (depth == ColorDepth::k256) {
    const int r = nearest_level(color.r);
    const int g = nearest_level(color.g);
    const int b = nearest_level(color.b);
    code = fmt::format("5;{}", 16 + 36 * r + 6 * g + b);
    color = {static_cast<std::uint8_t>(kCubeLevels[r]), static_cast<std::uint8_t>(kCubeLevels[g]),
             static_cast<std::uint8_t>(kCubeLevels[b])};
  }
  // The black and white of the cube: themes redefine the first 16 colours, not these.
  return {"38;" + code, "48;" + code, dark_text_on(color) ? "38;5;16" : "38;5;231"};
}

void AnsiLine::put(std::string_view text, std::string_view style) {
  if (text.empty()) {
    return;
  }
  if (style_ != style) {
    text_ += style.empty() ? "\x1b[0m" : style_.empty() ? "\x1b[" : "\x1b[0;";
    if (!style.empty()) {
      text_.append(style).append("m");
    }
    style_ = style;
  }
  text_ += text;
}

std::string AnsiLine::finish() {
  if (!style_.empty()) {
    text_ += "\x1b[0m";
    style_.clear();
  } else {
    text_.erase(text_.find_last_not_of(' ') + 1);
  }
  std::string line;
  line.swap(text_);
  return line;
}

}  // namespace attnviz
