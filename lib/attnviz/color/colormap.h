// The colours of values: named scales, perceptually even from one end to the other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/choices.h"

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

// How a value becomes a colour: the colour map, the range it spans, and how it runs between. Round
// numbers for the ends and steps of scales, and numbers short enough for a cell.

/// linear   even steps.
/// sqrt     square roots: small values spread out.
/// log      logarithms: every factor of ten takes the same room.
/// row-max  each value over the largest of its query's row, then linear: shows where each query
///          looks most, however evenly it looks.
enum class ScaleKind { kLinear, kSqrt, kLog, kRowMax };

inline constexpr std::array kScales = {
    Choice{"linear", ScaleKind::kLinear}, Choice{"sqrt", ScaleKind::kSqrt},
    Choice{"log", ScaleKind::kLog}, Choice{"row-max", ScaleKind::kRowMax}};

struct ColorScale {
  Colormap colormap;
  ScaleKind kind = ScaleKind::kLinear;
  float low = 0.0f;   // the values that the ends of the colour map stand for: low < high, both
  float high = 1.0f;  // finite, 0 < low for kLog; for kRowMax they are shares of the row's largest

  /// Where `value` (for kRowMax: its share) lies from low to high, not clamped: may lie outside
  /// [0, 1]. NaN stays NaN.
  float position(float value) const noexcept;
  Rgb color(float value) const noexcept { return colormap(position(value)); }
};

/// Throws Error{kUsage} when such a scale cannot be drawn.
void check(const ColorScale& scale);

/// The least of 1, 2 or 5 times a power of ten that is at least `number`, but for the rounding of
/// floats: where a scale of bars from 0 ends, or how far the ticks of an axis stand apart. 1 for
/// what is not more than 0, or not finite.
double round_step(double number) noexcept;

/// Which ends of a scale stand for all values beyond them, too: these get the colours of the ends.
struct OpenEnds {
  bool low = false;
  bool high = false;

  /// Opens the end that `value` (for ScaleKind::kRowMax: its share) lies beyond by more than what
  /// floats are rounded by. NaN lies beyond none. Precondition: check(scale).
  void take(const ColorScale& scale, float value) noexcept;
};

/// How the ends of a scale are labelled: "0.2", or where they are open "≤ 0.2" and "≥ 0.2", in 7
/// bits "<= 0.2" and ">= 0.2".
struct EndLabels {
  std::string low;
  std::string high;
};

EndLabels end_labels(const ColorScale& scale, OpenEnds open, bool is_ascii = false);

struct ColorTick {
  double position = 0.0;  // 0 at the low end of the scale, 1 at the high one
  std::string label;      // UTF-8, unless asked for in 7 bits
};

/// low, high and round numbers between them, in rising order: at most `most` (at least 2), none
/// crowding another or an end. Linear scales get the multiples of 1, 2 or 5 times a power of ten;
/// the others the roundest numbers that their distances leave room for. The ends have their
/// end_labels(). Precondition: check(scale).
std::vector<ColorTick> color_ticks(const ColorScale& scale, std::size_t most, OpenEnds open = {},
                                   bool is_ascii = false);

/// How a cell's value is written: as many decimals as tell values in [low, high] apart, two for
/// probabilities; what rounds to nothing is a short 0, which leaves the other numbers to be seen.
struct CellNumbers {
  int decimals = 2;
  std::size_t columns = 4;  // of the longest number in the range

  std::string format(float value) const;
};

CellNumbers cell_numbers(float low, float high);

}  // namespace attnviz
