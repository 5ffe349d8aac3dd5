// Formats numbers for columns and sentences. Groups of numbers with the same number of decimals,
// whichever of them are shown. Short forms for people: counts, sizes in memory, shares, weights of
// one width.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "attnviz/core/tensor.h"

namespace attnviz {

/// "+0.25", "-3.00", "0.00": a change, or a share of a logit.
std::string signed_number(double value);

/// "12.5%", "<.1%": a share, as percent_cell() with one decimal.
std::string percent_number(double share);
/// The same for e to the power of a log probability.
std::string percent_of_log(double log_probability);

/// "1.50", without a sign if it is rounded to 0.
std::string two_decimals(double value);

/// "0.950", or the first digits of a small number: "4.8e-04"; "0" only for 0.
std::string small_decimals(double value);

/// "5,248". Precondition: whole, and not negative.
std::string grouped_number(double count);

/// The factor of the probability that belongs to a change of ln p, in two digits: "÷ 1,200",
/// "× 1.3", "same".
std::string factor_words(double log_probability_change);

/// The same in a sentence: "1,200 times less probable", "1.3 times as probable", "no less
/// probable".
std::string probability_words(double log_probability_change);

/// Takes all values of a group, then formats any of them. Uses up to four decimals: as few as give
/// every value with a float's precision (so that numbers of a hand-made file look as written), and
/// fewer from a thousand on. Groups with only very large or very small values: 1.234e+05.
class NumberGroup {
 public:
  NumberGroup() = default;
  explicit NumberGroup(std::span<const float> values) { add(values); }
  explicit NumberGroup(ConstMatrix values) { add(values); }

  void add(std::span<const float> values);
  void add(ConstMatrix values);

  /// ASCII, not padded. Values that are not finite: nan, inf, -inf.
  std::string text(float value) const;

  /// The width of the widest text of an added value, at least 1.
  std::size_t width() const;

 private:
  bool is_scientific() const noexcept;
  int decimals() const noexcept;

  float low_ = 0.0f;
  float high_ = 0.0f;
  float largest_ = 0.0f;  // without sign
  int needed_ = 0;        // decimals needed for every value
  bool has_odd_ = false;  // NaN or infinities
};

/// A formatted number without the sign of a value rounded to 0: "-0.00" is "0.00".
std::string without_zero_sign(std::string number);

/// "1,572,864".
std::string grouped(std::size_t number);

/// Two or three digits and a unit: "512", "6.3 M", "604 M", "58.0 B". Thousands are K, then M, B,
/// T.
std::string rounded_count(std::size_t number);

/// The same with SI prefixes: "45.6 T", "3.3 P".
std::string rounded_amount(std::size_t number);

/// The same for bytes: "512 B", "65.5 kB", "4.3 GB"; 1 kB is 1,000 bytes.
std::string rounded_bytes(std::size_t bytes);

// Shares as percentages that never round to nothing or everything.

/// In a sentence: 0.463 is "46 %", 0.031 "3.1 %", 0.0001 "less than 0.1 %", 0.99999 "more than
/// 99.9 %". With 1 decimal 0.463 is "46.3 %", as in a column of such cells.
std::string percentage(float share, int decimals = 0);

/// In a column, with 0 or 1 decimals: "46%" or "46.3%", "<1%" or "<.1%", ">99%" or ">99.9%".
std::string percent_cell(float share, int decimals);

/// The number format of one picture: the same number of decimals everywhere.
class NumberFormat {
 public:
  /// Chooses the most decimals (at most 3) with which every value from `low` to `high` takes at
  /// most `width` columns. Values in [0, 1] lose their leading zero if that gains a decimal: 0.463
  /// in 5 columns, .463 in 4, .46 in 3.
  NumberFormat(float low, float high, std::size_t width);

  /// At most `width` characters, ASCII. A value outside the range that does not fit: `#`s.
  std::string text(float value) const;

 private:
  std::size_t width_;
  int decimals_ = 0;
  bool leading_zero_ = true;
};

/// The width of low and high with `decimals` decimals; in [0, 1] without leading zero.
std::size_t number_width(float low, float high, int decimals);

}  // namespace attnviz
