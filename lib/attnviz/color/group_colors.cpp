#include "attnviz/color/group_colors.h"

#include <cmath>

namespace attnviz {

double linear_intensity(std::uint8_t channel) noexcept {
  const double c = channel / 255.0;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

double encoded_intensity(double intensity) noexcept {
  return 255.0 * (intensity <= 0.0031308 ? 12.92 * intensity
                                         : 1.055 * std::pow(intensity, 1.0 / 2.4) - 0.055);
}

Oklab oklab_from(Rgb color) noexcept {
  const double r = linear_intensity(color.r);
  const double g = linear_intensity(color.g);
  const double b = linear_intensity(color.b);
  const double l = std::cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const double m = std::cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const double s = std::cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return {0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
          1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
          0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

std::array<double, 3> linear_rgb_from(const Oklab& color) noexcept {
  const auto [lightness, a, b] = color;
  const auto cube = [](double x) { return x * x * x; };
  const double l = cube(lightness + 0.3963377774 * a + 0.2158037573 * b);
  const double m = cube(lightness - 0.1055613458 * a - 0.0638541728 * b);
  const double s = cube(lightness - 0.0894841775 * a - 1.2914855480 * b);
  return {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
          -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
          -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
}

}  // namespace attnviz
