#include "attnviz/render/colormap.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace attnviz {

namespace {

constexpr Rgb kAnchors[] = {{0x44, 0x01, 0x54}, {0x47, 0x2D, 0x7B}, {0x3B, 0x52, 0x8B},
                            {0x2C, 0x72, 0x8E}, {0x21, 0x91, 0x8C}, {0x28, 0xAE, 0x80},
                            {0x5E, 0xC9, 0x62}, {0xAD, 0xDC, 0x30}, {0xFD, 0xE7, 0x25}};
constexpr std::size_t kSteps = 256;

constexpr double kLuminance[] = {0.2126, 0.7152, 0.0722};  // of linear red, green, blue

using Triple = std::array<double, 3>;

double linear(std::uint8_t channel) noexcept {
  const double c = channel / 255.0;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

// Not rounded: in [0, 255].
double encoded(double intensity) noexcept {
  return 255.0 * (intensity <= 0.0031308 ? 12.92 * intensity
                                         : 1.055 * std::pow(intensity, 1.0 / 2.4) - 0.055);
}

Triple oklab_from(Rgb color) noexcept {
  const double r = linear(color.r);
  const double g = linear(color.g);
  const double b = linear(color.b);
  const double l = std::cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const double m = std::cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const double s = std::cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return {0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
          1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
          0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

Triple linear_rgb_from(const Triple& oklab) noexcept {
  const auto [lightness, a, b] = oklab;
  const auto cube = [](double x) { return x * x * x; };
  const double l = cube(lightness + 0.3963377774 * a + 0.2158037573 * b);
  const double m = cube(lightness - 0.1055613458 * a - 0.0638541728 * b);
  const double s = cube(lightness - 0.0894841775 * a - 1.2914855480 * b);
  return {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
          -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
          -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
}

// Rounding each channel by itself would make some steps darker than the one before. So of the
// eight colours around the exact one, this is the one of the nearest luminance.
Rgb nearest_rgb(const Triple& linear_rgb) noexcept {
  std::array<std::array<std::uint8_t, 2>, 3> rounded{};  // [channel]: down, up
  std::array<std::array<double, 2>, 3> shift{};          // of the luminance
  for (std::size_t channel = 0; channel < 3; ++channel) {
    const double intensity = std::clamp(linear_rgb[channel], 0.0, 1.0);
    const double exact = encoded(intensity);
    rounded[channel] = {static_cast<std::uint8_t>(std::floor(exact)),
                        static_cast<std::uint8_t>(std::ceil(exact))};
    for (std::size_t side = 0; side < 2; ++side) {
      shift[channel][side] = kLuminance[channel] * (linear(rounded[channel][side]) - intensity);
    }
  }
  std::size_t nearest = 0;
  double smallest = 1.0;
  for (std::size_t corner = 0; corner < 8; ++corner) {
    const double off =
        std::abs(shift[0][corner & 1] + shift[1][corner >> 1 & 1] + shift[2][corner >> 2]);
    if (off < smallest) {
      smallest = off;
      nearest = corner;
    }
  }
  return {rounded[0][nearest & 1], rounded[1][nearest >> 1 & 1], rounded[2][nearest >> 2]};
}

std::array<Rgb, kSteps> make_table() noexcept {
  std::array<Triple, std::size(kAnchors)> anchors;
  std::transform(std::begin(kAnchors), std::end(kAnchors), anchors.begin(), oklab_from);
  std::array<Rgb, kSteps> table;
  for (std::size_t step = 0; step < kSteps; ++step) {
    const double position =
        static_cast<double>(step * (anchors.size() - 1)) / static_cast<double>(kSteps - 1);
    const std::size_t left = std::min(static_cast<std::size_t>(position), anchors.size() - 2);
    Triple mixed;
    for (std::size_t axis = 0; axis < mixed.size(); ++axis) {
      mixed[axis] = std::lerp(anchors[left][axis], anchors[left + 1][axis],
                              position - static_cast<double>(left));
    }
    table[step] = nearest_rgb(linear_rgb_from(mixed));
  }
  return table;
}

}  // namespace

Rgb colormap(float t) noexcept {
  static const std::array<Rgb, kSteps> table = make_table();  // pictures ask millions of times
  if (std::isnan(t)) {
    return kNanColor;
  }
  return table[static_cast<std::size_t>(
      std::lround(std::clamp(t, 0.0f, 1.0f) * static_cast<float>(kSteps - 1)))];
}

bool dark_text_on(Rgb background) noexcept {
  const double luminance = kLuminance[0] * linear(background.r) +
                           kLuminance[1] * linear(background.g) +
                           kLuminance[2] * linear(background.b);
  // Black gives (luminance + 0.05) / 0.05, white 1.05 / (luminance + 0.05).
  return (luminance + 0.05) * (luminance + 0.05) > 1.05 * 0.05;
}

}  // namespace attnviz
