// Numbers written short, for people: counts, sizes in memory, shares, weights of one width.
#pragma once

#include <cstddef>
#include <string>

namespace attnviz {

/// "1,572,864".
std::string grouped(std::size_t number);

/// Two or three digits and a unit: "512", "6.3 M", "604 M", "58.0 B". Thousands are K, then M, B,
/// T.
std::string rounded_count(std::size_t number);

/// The same with the prefixes of SI: "45.6 T", "3.3 P".
std::string rounded_amount(std::size_t number);

/// The same of bytes: "512 B", "65.5 kB", "4.3 GB"; 1 kB is 1,000 bytes.
std::string rounded_bytes(std::size_t bytes);

// Shares as percentages that say neither nothing nor all when it is not so.

/// In a sentence: 0.463 is "46 %", 0.031 "3.1 %", 0.0001 "less than 0.1 %", 0.99999 "more than
/// 99.9 %". With 1 decimal 0.463 is "46.3 %", as in a column of such cells.
std::string percentage(float share, int decimals = 0);

/// In a column, with 0 or 1 decimals: "46%" or "46.3%", "<1%" or "<.1%", ">99%" or ">99.9%".
std::string percent_cell(float share, int decimals);

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
