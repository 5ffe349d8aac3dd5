#include "attnviz/color/colormap.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <mutex>
#include <span>
#include <utility>

#include "attnviz/color/group_colors.h"
#include "attnviz/color/published_colormaps.h"
#include "attnviz/core/choices.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"

namespace attnviz {

namespace {

struct Palette {
  std::string_view name;
  bool diverging;
  std::span<const std::uint32_t> anchors;  // 0xRRGGBB, evenly spaced; or the whole table
};

constexpr std::uint32_t kBlues[] = {0xF6F9FE, 0xC6DCF3, 0x86B6E0, 0x4288C6, 0x1B5B9E, 0x0B2C5E};
constexpr std::uint32_t kGreens[] = {0xF5FBF4, 0xC5E6C3, 0x82C68B, 0x3A9D5E, 0x15703C, 0x073D20};
constexpr std::uint32_t kGray[] = {0x121212, 0xFFFFFF};
constexpr std::uint32_t kBlueRed[] = {0x123E8C, 0x5B8FD0, 0xF4F4F4, 0xDF7C66, 0x8E1420};
constexpr std::uint32_t kPurpleGreen[] = {0x512379, 0xA580C0, 0xF4F4F4, 0x76B478, 0x0E4522};

constexpr Palette kPalettes[] = {
    {"viridis", false, kViridis},        {"magma", false, kMagma},     {"inferno", false, kInferno},
    {"plasma", false, kPlasma},          {"cividis", false, kCividis}, {"blues", false, kBlues},
    {"greens", false, kGreens},          {"gray", false, kGray},       {"blue-red", true, kBlueRed},
    {"purple-green", true, kPurpleGreen}};

constexpr std::string_view kReversed = "_r";

constexpr double kLuminance[] = {0.2126, 0.7152, 0.0722};  // of linear red, green, blue

// Rounding each channel separately would make some steps darker than the previous one. So this
// chooses, from the eight colours around the exact one, the one of the nearest luminance.
Rgb nearest_rgb(const std::array<double, 3>& linear_rgb) noexcept {
  std::array<std::array<std::uint8_t, 2>, 3> rounded{};  // [channel]: down, up
  std::array<std::array<double, 2>, 3> shift{};          // of the luminance
  for (std::size_t channel = 0; channel < 3; ++channel) {
    const double intensity = std::clamp(linear_rgb[channel], 0.0, 1.0);
    const double exact = encoded_intensity(intensity);
    rounded[channel] = {static_cast<std::uint8_t>(std::floor(exact)),
                        static_cast<std::uint8_t>(std::ceil(exact))};
    for (std::size_t side = 0; side < 2; ++side) {
      shift[channel][side] =
          kLuminance[channel] * (linear_intensity(rounded[channel][side]) - intensity);
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

using Table = std::array<Rgb, Colormap::kColors>;

Rgb unpacked(std::uint32_t color) noexcept {
  return {static_cast<std::uint8_t>(color >> 16), static_cast<std::uint8_t>(color >> 8 & 0xFF),
          static_cast<std::uint8_t>(color & 0xFF)};
}

Table make_table(std::span<const std::uint32_t> colors) {
  Table table;
  if (colors.size() == table.size()) {
    std::transform(colors.begin(), colors.end(), table.begin(), unpacked);
    return table;
  }
  std::vector<Oklab> anchors;
  std::transform(colors.begin(), colors.end(), std::back_inserter(anchors),
                 [](std::uint32_t color) { return oklab_from(unpacked(color)); });
  for (std::size_t step = 0; step < table.size(); ++step) {
    const double position =
        static_cast<double>(step * (anchors.size() - 1)) / static_cast<double>(table.size() - 1);
    const std::size_t left = std::min(static_cast<std::size_t>(position), anchors.size() - 2);
    Oklab mixed;
    for (std::size_t axis = 0; axis < mixed.size(); ++axis) {
      mixed[axis] = std::lerp(anchors[left][axis], anchors[left + 1][axis],
                              position - static_cast<double>(left));
    }
    table[step] = nearest_rgb(linear_rgb_from(mixed));
  }
  return table;
}

// Pictures call this millions of times, but a program uses only one or two maps. Not
// std::call_once: on some systems, exceptions of make_table() do not get through it.
const Table& table_of(std::size_t palette) {
  static std::mutex mutex;
  static std::array<bool, std::size(kPalettes)> made{};
  static std::array<Table, std::size(kPalettes)> tables;
  const std::scoped_lock lock(mutex);
  if (!made[palette]) {
    tables[palette] = make_table(kPalettes[palette].anchors);
    made[palette] = true;
  }
  return tables[palette];
}

}  // namespace

Colormap::Colormap(std::string_view name) : name_(name), reversed_(name.ends_with(kReversed)) {
  const std::string_view plain = name.substr(0, name.size() - (reversed_ ? kReversed.size() : 0));
  const auto* const found =
      std::find_if(std::begin(kPalettes), std::end(kPalettes),
                   [plain](const Palette& palette) { return palette.name == plain; });
  if (found == std::end(kPalettes)) {
    const auto names = colormap_names();
    const std::vector<std::string> known(names.begin(), names.end());
    throw Error(ErrorKind::kUsage,
                fmt::format("colormap: expected {}, or one of them with _r (reversed), found "
                            "\"{}\"{}",
                            joined_by(known, ", "), name, did_you_mean(plain, known)));
  }
  diverging_ = found->diverging;
  table_ = &table_of(static_cast<std::size_t>(found - std::begin(kPalettes)));
}

std::size_t Colormap::part(float t, std::size_t n_parts) const noexcept {
  const float along = std::clamp(t, 0.0f, 1.0f) * static_cast<float>(n_parts);
  const std::size_t part = std::min(static_cast<std::size_t>(along), n_parts - 1);
  return reversed_ ? n_parts - 1 - part : part;
}

Rgb Colormap::operator()(float t) const noexcept {
  return std::isnan(t) ? kNanColor : (*table_)[part(t, kColors)];
}

std::size_t Colormap::step(float t) const noexcept {
  return std::isnan(t) ? kSteps : part(t, kSteps);
}

Rgb Colormap::step_color(std::size_t step) const noexcept {
  const std::size_t middle = (2 * step + 1) * kColors / (2 * kSteps);
  return step < kSteps ? (*table_)[middle] : kNanColor;
}

std::vector<Rgb> Colormap::step_colors() const {
  std::vector<Rgb> colors;
  for (std::size_t step = 0; step <= kSteps; ++step) {
    colors.push_back(step_color(step));
  }
  return colors;
}

std::vector<std::string_view> colormap_names() {
  std::vector<std::string_view> names;
  names.reserve(std::size(kPalettes));
  for (const Palette& palette : kPalettes) {
    names.push_back(palette.name);
  }
  return names;
}

Rgb mixed(Rgb from, Rgb to, double share) noexcept {
  const auto channel = [share](std::uint8_t a, std::uint8_t b) {
    return static_cast<std::uint8_t>(std::lround(a + share * (b - a)));
  };
  return {channel(from.r, to.r), channel(from.g, to.g), channel(from.b, to.b)};
}

bool dark_text_on(Rgb background) noexcept {
  // Black gives (y + 0.05) / 0.05, white 1.05 / (y + 0.05).
  const double y = luminance(background);
  return (y + 0.05) * (y + 0.05) > 1.05 * 0.05;
}

double luminance(Rgb color) noexcept {
  return kLuminance[0] * linear_intensity(color.r) + kLuminance[1] * linear_intensity(color.g) +
         kLuminance[2] * linear_intensity(color.b);
}

float ColorScale::position(float value) const noexcept {
  switch (kind) {
    case ScaleKind::kSqrt:
      return std::isnan(value) ? value : std::sqrt(std::max(value - low, 0.0f) / (high - low));
    case ScaleKind::kLog:
      // The whole range may be wider than that of a float.
      return std::isnan(value)
                 ? value
                 : static_cast<float>(std::log(std::max<double>(value, low) / double{low}) /
                                      std::log(double{high} / double{low}));
    case ScaleKind::kLinear:
    case ScaleKind::kRowMax:
      break;
  }
  return (value - low) / (high - low);
}

void check(const ColorScale& scale) {
  if (!(scale.low < scale.high) || !std::isfinite(scale.high - scale.low)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("picture: a colour scale from {} to {} cannot be drawn", scale.low,
                            scale.high));
  }
  if (scale.kind == ScaleKind::kLog && scale.low <= 0.0f) {
    throw Error(ErrorKind::kUsage, fmt::format("picture: a logarithmic colour scale begins above "
                                               "0, found {}; choose a range, for example 0.001:1",
                                               scale.low));
  }
}

namespace {

std::string written(double value, double step) {
  // Multiples have rounding errors; a hundredth of a step is far larger than those.
  const double exact = std::round(value / (step / 100.0)) * (step / 100.0);
  return fmt::format("{:.4g}", exact == 0.0 ? 0.0 : exact);
}

std::vector<ColorTick> linear_ticks(double low, double high, std::size_t most) {
  const double step = round_step((high - low) / (static_cast<double>(most) - 1.0));
  const double margin = 2.0 / 3.0 * step;
  std::vector<ColorTick> ticks;
  for (double i = std::ceil((low + margin) / step); i * step <= high - margin; ++i) {
    ticks.push_back({(i * step - low) / (high - low), written(i * step, step)});
  }
  return ticks;
}

// Powers of ten first, then five times and two times those, each only where the earlier ones leave
// room. If there would be too many fives or twos, all of them are left out: a few alone would look
// like a gap.
std::vector<ColorTick> uneven_ticks(const ColorScale& scale, std::size_t most) {
  constexpr int kLeastPower = -38;
  constexpr int kMostPower = 38;
  const double distance = 0.8 / (static_cast<double>(most) - 1.0);
  std::vector<ColorTick> ticks;
  for (const double factor : {1.0, 5.0, 2.0}) {
    std::vector<ColorTick> more = ticks;
    for (int power = kMostPower; power >= kLeastPower; --power) {
      const double value = factor * std::pow(10.0, power);
      if (value <= scale.low || value >= scale.high) {
        continue;
      }
      const double position = scale.position(static_cast<float>(value));
      const auto crowds = [position, distance](const ColorTick& tick) {
        return std::abs(tick.position - position) < distance;
      };
      const bool wanted = factor > 1.0 || more.size() + 2 < most;
      if (wanted && position >= distance && position <= 1.0 - distance &&
          std::none_of(more.begin(), more.end(), crowds)) {
        more.push_back({position, fmt::format("{:.4g}", value)});
      }
    }
    if (more.size() + 2 > most) {
      break;
    }
    ticks = std::move(more);
  }
  std::sort(ticks.begin(), ticks.end(),
            [](const ColorTick& a, const ColorTick& b) { return a.position < b.position; });
  return ticks;
}

}  // namespace

double round_step(double number) noexcept {
  constexpr double kRounding = 1.0 - 1e-6;
  if (!(number > 0.0) || !std::isfinite(number)) {
    return 1.0;
  }
  const double power = std::pow(10.0, std::floor(std::log10(number)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= number * kRounding) {
      return factor * power;
    }
  }
  return 10.0 * power;
}

void OpenEnds::take(const ColorScale& scale, float value) noexcept {
  constexpr double kRounding = 1e-4;
  const bool is_log = scale.kind == ScaleKind::kLog;
  const double range = double{scale.high} - double{scale.low};
  low = low || value < scale.low - kRounding * (is_log ? scale.low : range);
  high = high || value > scale.high + kRounding * (is_log ? scale.high : range);
}

EndLabels end_labels(const ColorScale& scale, OpenEnds open, bool is_ascii) {
  return {fmt::format("{}{:.4g}",
                      !open.low  ? ""
                      : is_ascii ? "<= "
                                 : "≤ ",
                      scale.low),
          fmt::format("{}{:.4g}",
                      !open.high ? ""
                      : is_ascii ? ">= "
                                 : "≥ ",
                      scale.high)};
}

std::vector<ColorTick> color_ticks(const ColorScale& scale, std::size_t most, OpenEnds open,
                                   bool is_ascii) {
  std::vector<ColorTick> ticks;
  if (most > 2) {
    const bool even = scale.kind == ScaleKind::kLinear || scale.kind == ScaleKind::kRowMax;
    ticks = even ? linear_ticks(scale.low, scale.high, most) : uneven_ticks(scale, most);
  }
  EndLabels ends = end_labels(scale, open, is_ascii);
  ticks.insert(ticks.begin(), {0.0, std::move(ends.low)});
  ticks.push_back({1.0, std::move(ends.high)});
  return ticks;
}

std::string CellNumbers::format(float value) const {
  std::string text = fmt::format("{:.{}f}", value, decimals);
  return text.find_first_not_of("-0.") == std::string::npos ? "0" : text;
}

CellNumbers cell_numbers(float low, float high) {
  const float largest = std::max(std::abs(low), std::abs(high));
  CellNumbers numbers;
  numbers.decimals = largest < 10.0f ? 2 : (largest < 100.0f ? 1 : 0);
  constexpr float kNarrow = 0.1f;
  constexpr int kMostDecimals = 6;
  if (const float range = high - low; range > 0.0f && range < kNarrow) {
    numbers.decimals = std::min(kMostDecimals, 1 + static_cast<int>(std::ceil(-std::log10(range))));
  }
  numbers.columns = std::max(numbers.format(low).size(), numbers.format(high).size());
  return numbers;
}

}  // namespace attnviz
