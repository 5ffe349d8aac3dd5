// The colours of values: named colour maps, perceptually even from one end to the other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/core/choices.h"

namespace attnviz {

/// One sRGB colour with 8 bits per channel.
struct Rgb {
  std::uint8_t r = 0;
  std::uint8_t g = 0;
  std::uint8_t b = 0;

  bool operator==(const Rgb&) const = default;
};

/// The colour of NaN in every colour map: a red that the default map does not contain.
inline constexpr Rgb kNanColor{0xE0, 0x20, 0x20};

/// One colour map. A sequential map gets steadily lighter (or darker) from one end to the other, so
/// that it survives greyscale printing and colour blindness. A diverging map, for signed values
/// around zero, is lightest in the middle and gets darker towards both ends.
///
/// Source  viridis, magma, inferno, plasma and cividis as published (published_colormaps.h); the
///         others are our own: a few colours interpolated in OKLab (Ottosson 2020).
class Colormap {
 public:
  /// viridis.
  Colormap() : Colormap("viridis") {}

  /// One of colormap_names(), or one of them followed by `_r`, which reverses it. Throws
  /// Error{kUsage} with a did-you-mean.
  explicit Colormap(std::string_view name);

  /// The name as requested: "viridis", "blues_r".
  const std::string& name() const noexcept { return name_; }
  bool diverging() const noexcept { return diverging_; }

  /// The number of colours in a map, each for an equal part of [0, 1].
  static constexpr std::size_t kColors = 256;
  /// The colour of `t`, clamped to [0, 1]; NaN gives kNanColor.
  Rgb operator()(float t) const noexcept;

  /// The number of colours that a picture uses: the steps are too fine to see, and few enough to
  /// leave room for text and lines in a palette of 256.
  static constexpr std::size_t kSteps = 192;
  /// The step of `t`, clamped to [0, 1]; NaN gives kSteps.
  std::size_t step(float t) const noexcept;
  /// The colour of a step, at most one entry of the map away from the exact colour.
  Rgb step_color(std::size_t step) const noexcept;
  /// The colours of all steps in order, then kNanColor.
  std::vector<Rgb> step_colors() const;

  bool operator==(const Colormap& other) const { return name_ == other.name_; }

 private:
  /// Which of `n_parts` equal parts of the map contains `t`, counted from the map's own low end.
  std::size_t part(float t, std::size_t n_parts) const noexcept;

  std::string name_;
  bool diverging_ = false;
  bool reversed_ = false;
  const std::array<Rgb, kColors>* table_;  // made once for each map, never destroyed before the end
};

/// Every map, sequential ones first.
std::vector<std::string_view> colormap_names();

/// `from` if `share` is 0, `to` if it is 1; in between, each channel is interpolated.
Rgb mixed(Rgb from, Rgb to, double share) noexcept;

/// Whether black text contrasts more with `background` than white text does.
///
/// Source  contrast ratio and relative luminance of WCAG 2.1.
bool dark_text_on(Rgb background) noexcept;

/// Relative luminance of WCAG 2.1, in [0, 1].
double luminance(Rgb color) noexcept;

// How a value becomes a colour: the colour map, the range it spans, and the scale between its ends.
// Round numbers for the ends and steps of scales, and numbers short enough for a cell.

/// linear   even steps.
/// sqrt     square roots: small values are spread out.
/// log      logarithms: every factor of ten takes the same space.
/// row-max  each value divided by the largest in its query's row, then linear: shows where each
///          query looks most, even if its attention is spread evenly.
enum class ScaleKind { kLinear, kSqrt, kLog, kRowMax };

inline constexpr std::array kScales = {
    Choice{"linear", ScaleKind::kLinear}, Choice{"sqrt", ScaleKind::kSqrt},
    Choice{"log", ScaleKind::kLog}, Choice{"row-max", ScaleKind::kRowMax}};

struct ColorScale {
  Colormap colormap;
  ScaleKind kind = ScaleKind::kLinear;
  float low = 0.0f;   // the values that the ends of the colour map stand for: low < high, both
  float high = 1.0f;  // finite, 0 < low for kLog; for kRowMax they are shares of the row's largest

  /// The position of `value` (for kRowMax: of its share) between low and high. Not clamped: it may
  /// lie outside [0, 1]. NaN stays NaN.
  float position(float value) const noexcept;
  Rgb color(float value) const noexcept { return colormap(position(value)); }
};

/// Throws Error{kUsage} if the scale cannot be drawn.
void check(const ColorScale& scale);

/// The smallest of 1, 2 or 5 times a power of ten that is at least `number`, allowing for
/// floating-point rounding: the upper end of a scale of bars from 0, or the distance between the
/// ticks of an axis. 1 if `number` is not positive or not finite.
double round_step(double number) noexcept;

/// Which ends of a scale also stand for all values beyond them: these values get the colour of that
/// end.
struct OpenEnds {
  bool low = false;
  bool high = false;

  /// Opens the end that `value` (for ScaleKind::kRowMax: its share) lies beyond by more than
  /// rounding errors. NaN opens neither end. Precondition: check(scale).
  void take(const ColorScale& scale, float value) noexcept;
};

/// The labels of a scale's ends: "0.2", or "≤ 0.2" and "≥ 0.2" for open ends ("<= 0.2" and ">= 0.2"
/// in ASCII).
struct EndLabels {
  std::string low;
  std::string high;
};

EndLabels end_labels(const ColorScale& scale, OpenEnds open, bool is_ascii = false);

struct ColorTick {
  double position = 0.0;  // 0 at the low end of the scale, 1 at the high one
  std::string label;      // UTF-8, or ASCII on request
};

/// low, high and round numbers between them, in ascending order: at most `most` (at least 2), none
/// crowding another one or an end. Linear scales get the multiples of 1, 2 or 5 times a power of
/// ten; other scales get the roundest numbers that fit. The ends have their end_labels().
/// Precondition: check(scale).
std::vector<ColorTick> color_ticks(const ColorScale& scale, std::size_t most, OpenEnds open = {},
                                   bool is_ascii = false);

/// How the value of a cell is written: with as many decimals as needed to distinguish values in
/// [low, high], two for probabilities. A value that rounds to zero is a bare 0, so that the other
/// numbers stand out.
struct CellNumbers {
  int decimals = 2;
  std::size_t columns = 4;  // of the longest number in the range

  std::string format(float value) const;
};

CellNumbers cell_numbers(float low, float high);

}  // namespace attnviz
