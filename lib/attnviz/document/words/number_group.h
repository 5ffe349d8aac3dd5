// Numbers that are written alike: one count of decimals for a whole group, whatever of it is shown.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "attnviz/core/tensor.h"

namespace attnviz {

/// Takes all values of a group, then writes any of them. Up to four decimals: as few as write every
/// value to the digits a float has (the numbers of a hand-made file look as they were written), and
/// fewer from a thousand on. Groups that are very large or very small throughout: 1.234e+05.
class NumberGroup {
 public:
  NumberGroup() = default;
  explicit NumberGroup(std::span<const float> values) { add(values); }
  explicit NumberGroup(ConstMatrix values) { add(values); }

  void add(std::span<const float> values);
  void add(ConstMatrix values);

  /// ASCII, not padded. What is not finite: nan, inf, -inf.
  std::string text(float value) const;

  /// The columns of the widest text of a value that was added, at least 1.
  std::size_t width() const;

 private:
  bool is_scientific() const noexcept;
  int decimals() const noexcept;

  float low_ = 0.0f;
  float high_ = 0.0f;
  float largest_ = 0.0f;  // without sign
  int needed_ = 0;        // decimals that write every value
  bool has_odd_ = false;  // NaN or infinities
};

/// A written number without the sign of what was rounded away: "-0.00" is "0.00".
std::string without_zero_sign(std::string number);

}  // namespace attnviz
