#include "attnviz/render/ansi.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace attnviz {

namespace {

// A colour of a palette, with what it looks like there.
struct PaletteColor {
  int index;
  Rgb rgb;
};

// Picked from the 6 × 6 × 6 cube to follow the colour map; the nearest colours of the cube would
// grow lighter and darker in turn.
constexpr PaletteColor kRamp256[] = {{53, {95, 0, 95}},    {55, {95, 0, 175}},  {24, {0, 95, 135}},
                                     {30, {0, 135, 135}},  {36, {0, 175, 135}}, {77, {95, 215, 95}},
                                     {148, {175, 215, 0}}, {220, {255, 215, 0}}};
constexpr PaletteColor kNan256 = {160, {215, 0, 0}};

// Backgrounds by their SGR code, with the colours of xterm. Foregrounds are 10 less.
constexpr PaletteColor kRamp16[] = {{44, {0, 0, 238}},
                                    {104, {92, 92, 255}},
                                    {46, {0, 205, 205}},
                                    {102, {0, 255, 0}},
                                    {103, {255, 255, 0}}};
constexpr PaletteColor kNan16 = {41, {205, 0, 0}};

PaletteColor pick(std::span<const PaletteColor> ramp, PaletteColor nan, float t) noexcept {
  if (std::isnan(t)) {
    return nan;
  }
  const auto n_levels = static_cast<float>(ramp.size());
  const float level = std::clamp(std::floor(t * n_levels), 0.0f, n_levels - 1.0f);
  return ramp[static_cast<std::size_t>(level)];
}

// The black and white of the cube: themes redefine the first 16 colours, not these.
const char* fixed_text_on(Rgb background) noexcept {
  return dark_text_on(background) ? "38;5;16" : "38;5;231";
}

}  // namespace

TerminalColor terminal_color(const Colormap& colormap, float t, ColorDepth depth) {
  if (depth == ColorDepth::k16) {
    const PaletteColor color = pick(kRamp16, kNan16, t);
    return {fmt::format("{}", color.index - 10), fmt::format("{}", color.index),
            dark_text_on(color.rgb) ? "30" : "97"};
  }
  if (depth == ColorDepth::k256) {
    const PaletteColor color = pick(kRamp256, kNan256, t);
    return {fmt::format("38;5;{}", color.index), fmt::format("48;5;{}", color.index),
            fixed_text_on(color.rgb)};
  }
  const Rgb color = colormap(t);
  const std::string code = fmt::format("2;{};{};{}", color.r, color.g, color.b);
  return {"38;" + code, "48;" + code, fixed_text_on(color)};
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
