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

/// One colour map: a sequential one, whose lightness rises (or falls) from one end to the other, so
/// that it survives grey print and colour-blind eyes; or a diverging one, lightest in its middle
/// and darker towards either end, for signed values around zero.
///
/// Source  viridis, magma, inferno, plasma and cividis as they were published
///         (published_colormaps.h); the others are our own, a few colours interpolated in OKLab
///         (Ottosson 2020).
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

  /// How many colours a map has, each for an equal part of [0, 1].
  static constexpr std::size_t kColors = 256;
  /// The colour of `t`, clamped to [0, 1]; NaN gives kNanColor.
  Rgb operator()(float t) const noexcept;

  /// How many of them a picture takes: finer steps than eyes tell apart, and few enough that its
  /// text and lines find room beside them in a palette of 256.
  static constexpr std::size_t kSteps = 192;
  /// Which of these is that of `t`, clamped to [0, 1]; NaN gives kSteps.
  std::size_t step(float t) const noexcept;
  /// The colour of a step, at most one place off in the map.
  Rgb step_color(std::size_t step) const noexcept;
  /// All of them by their step, and kNanColor behind them.
  std::vector<Rgb> step_colors() const;

  bool operator==(const Colormap& other) const { return name_ == other.name_; }

 private:
  /// In which of `n_parts` equal parts of the map `t` lies, from the map's own low end.
  std::size_t part(float t, std::size_t n_parts) const noexcept;

  std::string name_;
  bool diverging_ = false;
  bool reversed_ = false;
  const std::array<Rgb, kColors>* table_;  // made once for each map, never destroyed before the end
};

/// Every map, sequential ones first.
std::vector<std::string_view> colormap_names();

/// `from` where `share` is 0, `to` where it is 1; between them channel by channel.
Rgb mixed(Rgb from, Rgb to, double share) noexcept;

/// Whether black text contrasts more with `background` than white text does.
///
/// Source  contrast ratio and relative luminance of WCAG 2.1.
bool dark_text_on(Rgb background) noexcept;

/// Relative luminance of WCAG 2.1, in [0, 1].
double luminance(Rgb color) noexcept;

}  // namespace attnviz
