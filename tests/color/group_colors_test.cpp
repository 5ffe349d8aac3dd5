#include "attnviz/color/group_colors.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>

namespace attnviz {
namespace {

using Linear = std::array<double, 3>;
using Matrix3 = std::array<std::array<double, 3>, 3>;

// Machado, Oliveira and Fernandes 2009, severity 1, of intensities.
constexpr Matrix3 kProtanopia = {{{0.152286, 1.052583, -0.204868},
                                  {0.114503, 0.786281, 0.099216},
                                  {-0.003882, -0.048116, 1.051998}}};
constexpr Matrix3 kDeuteranopia = {{{0.367322, 0.860646, -0.227968},
                                    {0.280085, 0.672501, 0.047413},
                                    {-0.011820, 0.042940, 0.968881}}};
constexpr Matrix3 kAllCones = {{{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}};

Rgb seen_with(const Matrix3& cones, Rgb color) {
  const Linear in = {linear_intensity(color.r), linear_intensity(color.g),
                     linear_intensity(color.b)};
  std::array<std::uint8_t, 3> out{};
  for (std::size_t i = 0; i < 3; ++i) {
    const double sum = cones[i][0] * in[0] + cones[i][1] * in[1] + cones[i][2] * in[2];
    out[i] = static_cast<std::uint8_t>(std::lround(encoded_intensity(std::clamp(sum, 0.0, 1.0))));
  }
  return {out[0], out[1], out[2]};
}

double oklab_distance(Rgb a, Rgb b) {
  const Oklab one = oklab_from(a);
  const Oklab other = oklab_from(b);
  return std::hypot(one[0] - other[0], one[1] - other[1], one[2] - other[2]);
}

// The least difference between two groups.
double least_distance(Rgb GroupColor::*where, const Matrix3& cones) {
  double least = 1.0;
  for (std::size_t i = 0; i < kMostGroups; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      least = std::min(least, oklab_distance(seen_with(cones, group_color(i).*where),
                                             seen_with(cones, group_color(j).*where)));
    }
  }
  return least;
}

double contrast(Rgb a, Rgb b) {
  const auto [low, high] = std::minmax({luminance(a), luminance(b)});
  return (high + 0.05) / (low + 0.05);
}

}  // namespace

// Two colours that can just be distinguished side by side are about 0.02 apart.
TEST_CASE("group_color: twelve groups are distinguishable, by colour-blind eyes too") {
  for (const Matrix3* cones : {&kProtanopia, &kDeuteranopia}) {
    CHECK(least_distance(&GroupColor::light, *cones) > 0.085);
    CHECK(least_distance(&GroupColor::dark, *cones) > 0.085);
    CHECK(least_distance(&GroupColor::terminal, *cones) > 0.075);
  }
  CHECK(least_distance(&GroupColor::light, kAllCones) > 0.16);
  CHECK(least_distance(&GroupColor::dark, kAllCones) > 0.16);
  CHECK(least_distance(&GroupColor::terminal, kAllCones) > 0.1);
}

TEST_CASE("group_color: values below and above zero are distinguishable") {
  for (Rgb GroupColor::*where : {&GroupColor::light, &GroupColor::dark, &GroupColor::terminal}) {
    for (const Matrix3* cones : {&kProtanopia, &kDeuteranopia, &kAllCones}) {
      CHECK(oklab_distance(seen_with(*cones, group_color(kBelowZero).*where),
                           seen_with(*cones, group_color(kAboveZero).*where)) > 0.15);
    }
  }
}

TEST_CASE("group_color: every colour is visible on its background") {
  constexpr Rgb kWhite{0xFF, 0xFF, 0xFF};
  constexpr Rgb kBlack{0, 0, 0};
  constexpr Rgb kDarkPage{0x17, 0x19, 0x1E};
  for (std::size_t i = 0; i <= kAboveZero; ++i) {
    CAPTURE(i);
    const GroupColor& color = group_color(i);
    CHECK(contrast(color.light, kWhite) >= 2.6);
    CHECK(contrast(color.dark, kDarkPage) >= 4.0);
    CHECK(contrast(color.terminal, kWhite) >= 2.7);
    CHECK(contrast(color.terminal, kBlack) >= 2.7);
  }
}

TEST_CASE("group_color: terminals with 256 colours show the exact colour, with 16 one per group") {
  std::set<int> codes;
  for (std::size_t i = 0; i <= kAboveZero; ++i) {
    CAPTURE(i);
    const GroupColor& color = group_color(i);
    // 16 + 36 r + 6 g + b; their steps are 0, 95, 135, 175, 215, 255.
    const auto step = [](int part) { return part == 0 ? 0 : 55 + 40 * part; };
    const int cube = color.terminal_256 - 16;
    CHECK(color.terminal.r == step(cube / 36));
    CHECK(color.terminal.g == step(cube / 6 % 6));
    CHECK(color.terminal.b == step(cube % 6));
    if (i < kMostGroups) {
      codes.insert(color.terminal_code);
    }
  }
  CHECK(codes.size() == kMostGroups);
}

}  // namespace attnviz
