// Weights as short numbers of one width.
#pragma once

#include <cstddef>
#include <string>

namespace attnviz {

/// How the values of one picture are written: the same number of decimals everywhere.
class NumberFormat {
 public:
  /// The most decimals (at most 3) with which every value from `low` to `high` takes at most
  /// `width` columns. Values in [0, 1] lose their leading zero where that gains a decimal:
  /// 0.463 in 5 columns, .463 in 4, .46 in 3.
  NumberFormat(float low, float high, std::size_t width);

  /// At most `width` characters, ASCII. A value outside of the range that does not fit: `#`s.
  std::string text(float value) const;

 private:
  std::size_t width_;
  int decimals_ = 0;
  bool leading_zero_ = true;
};

/// The columns that low and high take with `decimals` decimals; in [0, 1] without leading zero.
std::size_t number_width(float low, float high, int decimals);

}  // namespace attnviz
