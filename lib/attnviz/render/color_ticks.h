// Round numbers along a colour bar, and numbers short enough for a cell.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace attnviz {

struct ColorTick {
  double value = 0.0;
  std::string label;
};

/// low, high and the multiples of 1, 2 or 5 times a power of ten between them, in rising order: at
/// most `most` (at least 2), none closer to an end than two thirds of the distance between two.
/// Precondition: low < high, both finite.
std::vector<ColorTick> color_ticks(double low, double high, std::size_t most);

/// How a cell's value is written: as many decimals as tell values in [low, high] apart, two for
/// probabilities.
struct CellNumbers {
  int decimals = 2;
  std::size_t columns = 4;  // of the longest number in the range

  std::string format(float value) const;
};

CellNumbers cell_numbers(float low, float high);

}  // namespace attnviz
