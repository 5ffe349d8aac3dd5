#include "attnviz/color/colormap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <mutex>
#include <span>

#include "attnviz/color/oklab.h"
#include "attnviz/core/error.h"
#include "attnviz/core/suggest.h"

namespace attnviz {

namespace {

struct Palette {
  std::string_view name;
  bool diverging;
  std::span<const std::uint32_t> anchors;  // 0xRRGGBB, evenly spaced
};

constexpr std::uint32_t kViridis[] = {0x440154, 0x472D7B, 0x3B528B, 0x2C728E, 0x21918C,
                                      0x28AE80, 0x5EC962, 0xADDC30, 0xFDE725};
constexpr std::uint32_t kMagma[] = {0x000004, 0x1D1147, 0x51127C, 0x832681, 0xB73779,
                                    0xE55064, 0xFB8761, 0xFEC287, 0xFCFDBF};
constexpr std::uint32_t kInferno[] = {0x000004, 0x210C4A, 0x57106E, 0x8A226A, 0xBC3754,
                                      0xE35933, 0xF98C0A, 0xF9C932, 0xFCFFA4};
constexpr std::uint32_t kPlasma[] = {0x0D0887, 0x4C02A1, 0x7E03A8, 0xAA2395, 0xCC4778,
                                     0xE56B5D, 0xF89441, 0xFDC328, 0xF0F921};
constexpr std::uint32_t kCividis[] = {0x00224E, 0x1A386F, 0x434E6C, 0x61656F, 0x7D7C78,
                                      0x9A9376, 0xBBAD6D, 0xDDC858, 0xFEE838};
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

// Rounding each channel by itself would make some steps darker than the one before. So of the
// eight colours around the exact one, this is the one of the nearest luminance.
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

using Table = std::array<Rgb, Colormap::kSteps>;

Rgb unpacked(std::uint32_t color) noexcept {
  return {static_cast<std::uint8_t>(color >> 16), static_cast<std::uint8_t>(color >> 8 & 0xFF),
          static_cast<std::uint8_t>(color & 0xFF)};
}

Table make_table(std::span<const std::uint32_t> colors) {
  std::vector<Oklab> anchors;
  std::transform(colors.begin(), colors.end(), std::back_inserter(anchors),
                 [](std::uint32_t color) { return oklab_from(unpacked(color)); });
  Table table;
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

// Pictures ask millions of times, a program for one map or two.
const Table& table_of(std::size_t palette) {
  static std::array<std::once_flag, std::size(kPalettes)> made;
  static std::array<Table, std::size(kPalettes)> tables;
  std::call_once(made[palette],
                 [palette] { tables[palette] = make_table(kPalettes[palette].anchors); });
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
                            fmt::join(known, ", "), name, did_you_mean(plain, known)));
  }
  diverging_ = found->diverging;
  table_ = &table_of(static_cast<std::size_t>(found - std::begin(kPalettes)));
}

std::size_t Colormap::step(float t) const noexcept {
  if (std::isnan(t)) {
    return kSteps;
  }
  const float along = std::clamp(reversed_ ? 1.0f - t : t, 0.0f, 1.0f);
  // Rounds as std::lround() does, and faster: the sum is exact in a double.
  constexpr double kHalf = 0.5;
  const double place = static_cast<double>(along * static_cast<float>(kSteps - 1)) + kHalf;
  return static_cast<std::size_t>(place);
}

std::vector<Rgb> Colormap::colors() const {
  std::vector<Rgb> colors(table_->begin(), table_->end());
  colors.push_back(kNanColor);
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

bool dark_text_on(Rgb background) noexcept {
  // Black gives (y + 0.05) / 0.05, white 1.05 / (y + 0.05).
  const double y = luminance(background);
  return (y + 0.05) * (y + 0.05) > 1.05 * 0.05;
}

double luminance(Rgb color) noexcept {
  return kLuminance[0] * linear_intensity(color.r) + kLuminance[1] * linear_intensity(color.g) +
         kLuminance[2] * linear_intensity(color.b);
}

}  // namespace attnviz
