// The colours of values: named scales, perceptually even from one end to the other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attnviz {

/// One sRGB colour, 8 bits a channel.
struct Rgb {
  std::uint8_t r = 0;
  std::uint8_t g = 0;
  std::uint8_t b = 0;

  bool operator==(const Rgb&) const = default;
};

/// What every colour map gives for NaN: a red that is no colour of the default one.
inline constexpr Rgb kNanColor{0xE0, 0x20, 0x20};

/// One colour map: a sequential one, whose lightness rises (or falls) strictly over 192 even steps,
/// so that it survives grey print and colour-blind eyes; or a diverging one, lightest in its middle
/// and strictly darker towards either end, for signed values around zero.
///
/// Source  viridis, magma, inferno and plasma (van der Walt and Smith 2015, CC0) and cividis (Nuñez
///         et al. 2018, CC0) by nine of their colours; the others are our own. Interpolated in
///         OKLab (Ottosson 2020).
class Colormap {
 public:
  /// viridis.
  Colormap() : Colormap("viridis") {}

  /// One of colormap_names(), or one with `_r` behind it: the same reversed. Throws Error{kUsage}
  /// with did-you-mean.
  explicit Colormap(std::string_view name);

  /// As it was asked for: "viridis", "blues_r".
  const std::string& name() const noexcept { return name_; }
  bool diverging() const noexcept { return diverging_; }

  /// The colour of `t`, clamped to [0, 1]; NaN gives kNanColor.
  Rgb operator()(float t) const noexcept { return color(step(t)); }

  /// How many colours a map has. Finer steps than eyes tell apart, and few enough that a picture's
  /// text and lines find room beside them in a palette of 256.
  static constexpr std::size_t kSteps = 192;
  /// Which of its colours is that of `t`, clamped to [0, 1]; NaN gives kSteps.
  std::size_t step(float t) const noexcept;
  /// All of them by their step, and kNanColor behind them.
  std::vector<Rgb> colors() const;

  bool operator==(const Colormap& other) const { return name_ == other.name_; }

 private:
  Rgb color(std::size_t step) const noexcept { return step < kSteps ? (*table_)[step] : kNanColor; }

  std::string name_;
  bool diverging_ = false;
  bool reversed_ = false;
  const std::array<Rgb, kSteps>* table_;  // made once for each map, never destroyed before the end
};

/// Every map, sequential ones first.
std::vector<std::string_view> colormap_names();

/// Whether black text contrasts more with `background` than white text does.
///
/// Source  contrast ratio and relative luminance of WCAG 2.1.
bool dark_text_on(Rgb background) noexcept;

/// Relative luminance of WCAG 2.1, in [0, 1].
double luminance(Rgb color) noexcept;

}  // namespace attnviz
