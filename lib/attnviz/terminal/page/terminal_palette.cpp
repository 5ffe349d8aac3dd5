#include "attnviz/terminal/page/terminal_palette.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include "attnviz/color/group_colors.h"

namespace attnviz {

namespace {

// Picked from the cube by eye, because the nearest colours are less even.
constexpr PaletteColor kViridis256[] = {
    {53, {95, 0, 95}},   {55, {95, 0, 175}},  {24, {0, 95, 135}},   {30, {0, 135, 135}},
    {36, {0, 175, 135}}, {77, {95, 215, 95}}, {148, {175, 215, 0}}, {220, {255, 215, 0}}};
constexpr PaletteColor kNan256 = {160, {215, 0, 0}};

// Backgrounds by SGR code, with the colours of xterm. Foreground codes are 10 less.
constexpr PaletteColor kBlack = {40, {0, 0, 0}};
constexpr PaletteColor kRed = {41, {205, 0, 0}};
constexpr PaletteColor kGreen = {42, {0, 205, 0}};
constexpr PaletteColor kBlue = {44, {0, 0, 238}};
constexpr PaletteColor kMagenta = {45, {205, 0, 205}};
constexpr PaletteColor kCyan = {46, {0, 205, 205}};
constexpr PaletteColor kWhite = {47, {229, 229, 229}};
constexpr PaletteColor kGray = {100, {127, 127, 127}};
constexpr PaletteColor kBrightRed = {101, {255, 0, 0}};
constexpr PaletteColor kBrightGreen = {102, {0, 255, 0}};
constexpr PaletteColor kBrightYellow = {103, {255, 255, 0}};
constexpr PaletteColor kBrightBlue = {104, {92, 92, 255}};
constexpr PaletteColor kBrightMagenta = {105, {255, 0, 255}};
constexpr PaletteColor kBrightCyan = {106, {0, 255, 255}};
constexpr PaletteColor kBrightWhite = {107, {255, 255, 255}};

constexpr PaletteColor kViridis16[] = {kBlue, kCyan, kBrightGreen, kBrightYellow};
constexpr PaletteColor kMagma16[] = {kBlack, kMagenta, kBrightRed, kBrightYellow, kBrightWhite};
constexpr PaletteColor kInferno16[] = {kBlack, kMagenta, kBrightRed, kBrightYellow};
constexpr PaletteColor kCividis16[] = {kBlack, kGray, kWhite, kBrightYellow};
constexpr PaletteColor kBlues16[] = {kBrightWhite, kBrightCyan, kBrightBlue, kBlue};
constexpr PaletteColor kGreens16[] = {kBrightWhite, kBrightGreen, kGreen, kBlack};
constexpr PaletteColor kGray16[] = {kBlack, kGray, kWhite, kBrightWhite};
constexpr PaletteColor kBlueRed16[] = {kBlue, kBrightBlue, kBrightWhite, kBrightRed, kRed};
constexpr PaletteColor kPurpleGreen16[] = {kMagenta, kBrightMagenta, kBrightWhite, kBrightGreen,
                                           kGreen};

struct Ramp16 {
  std::string_view colormap;
  std::span<const PaletteColor> colors;
  PaletteColor nan;
};

constexpr Ramp16 kRamps16[] = {
    {"viridis", kViridis16, kRed},      {"magma", kMagma16, kCyan},
    {"inferno", kInferno16, kCyan},     {"plasma", kInferno16, kCyan},
    {"cividis", kCividis16, kRed},      {"blues", kBlues16, kRed},
    {"greens", kGreens16, kRed},        {"gray", kGray16, kRed},
    {"blue-red", kBlueRed16, kMagenta}, {"purple-green", kPurpleGreen16, kBlue},
};

// An approximately uniform lightness: the cube root of the luminance.
double lightness(Rgb color) noexcept {
  return std::cbrt(luminance(color));
}

constexpr double kLeastRise = 0.02;

// A colour that looks the same on every terminal with 256 colours.
struct Candidate {
  PaletteColor color;
  double lightness;
  Oklab seen;
};

// Hue counts double, because lightness is constrained separately.
double distance(const Oklab& a, const Oklab& b) noexcept {
  return std::hypot(a[0] - b[0], 2.0 * (a[1] - b[1]), 2.0 * (a[2] - b[2]));
}

// The 6 × 6 × 6 cube and the 24 greys, from dark to light. Themes redefine the 16 colours before
// them.
std::vector<Candidate> fixed_colors() {
  std::vector<PaletteColor> colors;
  colors.reserve(240);
  const auto level = [](int step) {
    return static_cast<std::uint8_t>(step == 0 ? 0 : 55 + 40 * step);
  };
  for (int i = 0; i < 216; ++i) {
    colors.push_back({16 + i, {level(i / 36), level(i / 6 % 6), level(i % 6)}});
  }
  for (int i = 0; i < 24; ++i) {
    const auto gray = static_cast<std::uint8_t>(8 + 10 * i);
    colors.push_back({232 + i, {gray, gray, gray}});
  }
  std::vector<Candidate> candidates;
  std::transform(colors.begin(), colors.end(), std::back_inserter(candidates),
                 [](const PaletteColor& color) {
                   return Candidate{color, lightness(color.rgb), oklab_from(color.rgb)};
                 });
  std::stable_sort(
      candidates.begin(), candidates.end(),
      [](const Candidate& a, const Candidate& b) { return a.lightness < b.lightness; });
  return candidates;
}

// Chooses a candidate darker than `below` for each target, from dark to light, so that each is
// lighter than the one before and the total distance is least: the cheapest path.
std::vector<PaletteColor> rising_ramp(std::span<const Candidate> candidates,
                                      std::span<const Rgb> targets, double below) {
  constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  const std::size_t n = candidates.size();
  std::vector<double> cost(n, 0.0);
  std::vector<std::vector<std::size_t>> before(targets.size(), std::vector<std::size_t>(n, kNone));
  for (std::size_t step = 0; step < targets.size(); ++step) {
    const Oklab target = oklab_from(targets[step]);
    std::vector<double> next(n, std::numeric_limits<double>::infinity());
    std::size_t cheapest = kNone;
    std::size_t darker = 0;  // number of candidates allowed before this one
    for (std::size_t i = 0; i < n && candidates[i].lightness <= below; ++i) {
      while (step > 0 && candidates[darker].lightness + kLeastRise <= candidates[i].lightness) {
        cheapest = cheapest == kNone || cost[darker] < cost[cheapest] ? darker : cheapest;
        ++darker;
      }
      const double far = distance(candidates[i].seen, target);
      if (step == 0) {
        next[i] = far * far;
      } else if (cheapest != kNone) {
        next[i] = cost[cheapest] + far * far;
        before[step][i] = cheapest;
      }
    }
    cost = std::move(next);
  }
  std::vector<PaletteColor> ramp;
  auto at = static_cast<std::size_t>(std::min_element(cost.begin(), cost.end()) - cost.begin());
  for (std::size_t step = targets.size(); step-- > 0; at = before[step][at]) {
    ramp.push_back(candidates[at].color);
  }
  std::reverse(ramp.begin(), ramp.end());
  return ramp;
}

std::vector<Rgb> samples(const Colormap& colormap, float from, float to, std::size_t count,
                         std::size_t intervals) {
  std::vector<Rgb> colors;
  colors.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    colors.push_back(
        colormap(from + (to - from) * static_cast<float>(i) / static_cast<float>(intervals)));
  }
  return colors;
}

std::vector<PaletteColor> sequential_256(std::span<const Candidate> candidates,
                                         const Colormap& colormap) {
  constexpr std::size_t kLevels = 10;
  const bool rises = luminance(colormap(0.0f)) < luminance(colormap(1.0f));
  const std::vector<Rgb> targets =
      samples(colormap, rises ? 0.0f : 1.0f, rises ? 1.0f : 0.0f, kLevels, kLevels - 1);
  std::vector<PaletteColor> ramp = rising_ramp(candidates, targets, 1.0);
  if (!rises) {
    std::reverse(ramp.begin(), ramp.end());
  }
  return ramp;
}

std::vector<PaletteColor> diverging_256(std::span<const Candidate> candidates,
                                        const Colormap& colormap) {
  constexpr std::size_t kLevels = 5;  // on each side of the middle
  const Oklab middle = oklab_from(colormap(0.5f));
  const Candidate neutral = *std::min_element(
      candidates.begin(), candidates.end(), [&middle](const Candidate& a, const Candidate& b) {
        return distance(a.seen, middle) < distance(b.seen, middle);
      });
  const double below = neutral.lightness - kLeastRise;
  std::vector<PaletteColor> ramp =
      rising_ramp(candidates, samples(colormap, 0.0f, 0.5f, kLevels, kLevels), below);
  const std::vector<PaletteColor> right =
      rising_ramp(candidates, samples(colormap, 1.0f, 0.5f, kLevels, kLevels), below);
  ramp.push_back(neutral.color);
  ramp.insert(ramp.end(), right.rbegin(), right.rend());
  return ramp;
}

// Luminances with a contrast of 3 : 1 to black and to white.
constexpr double kDarkestInk = 0.10;
constexpr double kLightestInk = 0.30;

// Darkens the colour, or mixes it with white, as far as necessary.
Rgb legible(Rgb color) noexcept {
  const double y = luminance(color);
  if (y >= kDarkestInk && y <= kLightestInk) {
    return color;
  }
  // Slightly inside the range, to allow for rounding.
  const double factor = y > kLightestInk ? 0.98 * kLightestInk / y : 1.0;
  const double white = y < kDarkestInk ? (1.03 * kDarkestInk - y) / (1.0 - y) : 0.0;
  const auto channel = [factor, white](std::uint8_t c) {
    const double intensity = factor * linear_intensity(c);
    return static_cast<std::uint8_t>(
        std::lround(encoded_intensity(intensity + white * (1.0 - intensity))));
  };
  return {channel(color.r), channel(color.g), channel(color.b)};
}

PaletteColor nearest_ink(std::span<const Candidate> candidates, Rgb color) {
  const Oklab wanted = oklab_from(legible(color));
  PaletteColor nearest;
  double smallest = std::numeric_limits<double>::infinity();
  for (const Candidate& candidate : candidates) {
    const double y = std::pow(candidate.lightness, 3.0);
    const double off = distance(candidate.seen, wanted);
    if (y >= kDarkestInk && y <= kLightestInk && off < smallest) {
      smallest = off;
      nearest = candidate.color;
    }
  }
  return nearest;
}

}  // namespace

TerminalPalette::TerminalPalette(const Colormap& colormap, ColorDepth depth)
    : colormap_(colormap), depth_(depth) {
  if (depth == ColorDepth::k16) {
    choose_16();
  } else if (depth == ColorDepth::k256) {
    choose_256();
  }
}

void TerminalPalette::choose_16() {
  const std::string_view name = colormap_.name();
  const bool reversed = name.ends_with("_r");
  const std::string_view plain = name.substr(0, name.size() - (reversed ? 2 : 0));
  const auto* const found =
      std::find_if(std::begin(kRamps16), std::end(kRamps16),
                   [plain](const Ramp16& ramp) { return ramp.colormap == plain; });
  const Ramp16& chosen = found != std::end(kRamps16) ? *found : kRamps16[0];
  ramp_.assign(chosen.colors.begin(), chosen.colors.end());
  if (reversed) {
    std::reverse(ramp_.begin(), ramp_.end());
  }
  nan_ = chosen.nan;
}

void TerminalPalette::choose_256() {
  const std::vector<Candidate> candidates = fixed_colors();
  const bool reversed = colormap_.name() == "viridis_r";
  if (reversed || colormap_.name() == "viridis") {
    ramp_.assign(std::begin(kViridis256), std::end(kViridis256));
    if (reversed) {
      std::reverse(ramp_.begin(), ramp_.end());
    }
  } else {
    ramp_ = colormap_.diverging() ? diverging_256(candidates, colormap_)
                                  : sequential_256(candidates, colormap_);
  }
  nan_ = kNan256;
  for (const PaletteColor& color : ramp_) {
    inks_.push_back(nearest_ink(candidates, color.rgb));
  }
}

std::size_t TerminalPalette::level(float t) const noexcept {
  const auto n_levels = static_cast<float>(ramp_.size());
  return static_cast<std::size_t>(std::clamp(std::floor(t * n_levels), 0.0f, n_levels - 1.0f));
}

PaletteColor TerminalPalette::color(float t) const {
  switch (depth_) {
    case ColorDepth::kTrueColor:
      return {0, colormap_(t)};
    case ColorDepth::kNone:
      return {};
    default:
      return std::isnan(t) ? nan_ : ramp_[level(t)];
  }
}

PaletteColor TerminalPalette::ink(float t) const {
  switch (depth_) {
    case ColorDepth::kTrueColor:
      return {0, legible(colormap_(t))};
    case ColorDepth::k256:
      return std::isnan(t) ? nan_ : inks_[level(t)];
    case ColorDepth::k16:
      // Only bright blue and bright red are legible on both backgrounds.
      return std::isnan(t) || (colormap_.diverging() && t >= 0.5f) ? kBrightRed : kBrightBlue;
    case ColorDepth::kNone:
      break;
  }
  return {};
}

}  // namespace attnviz
