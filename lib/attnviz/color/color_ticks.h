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

struct ColorTick {
  double position = 0.0;  // 0 at the low end of the scale, 1 at the high one
  std::string label;
};

/// low, high and round numbers between them, in rising order: at most `most` (at least 2), none
/// crowding another or an end. Linear scales get the multiples of 1, 2 or 5 times a power of ten;
/// the others the roundest numbers that their distances leave room for. Precondition: check(scale).
std::vector<ColorTick> color_ticks(const ColorScale& scale, std::size_t most);

/// How a cell's value is written: as many decimals as tell values in [low, high] apart, two for
/// probabilities; what rounds to nothing is a short 0, which leaves the other numbers to be seen.
struct CellNumbers {
  int decimals = 2;
  std::size_t columns = 4;  // of the longest number in the range

  std::string format(float value) const;
};

CellNumbers cell_numbers(float low, float high);

}  // namespace attnviz
