// Round numbers for the ends and steps of scales, and numbers short enough for a cell.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "attnviz/color/color_scale.h"

namespace attnviz {

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
