// The signs that a page is written with: the one place that knows whether it is 7-bit.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "attnviz/terminal/page/terminal_options.h"

namespace attnviz {

/// Unicode, or 7 bits where is_7_bit(style). A sign and its 7-bit form differ in
/// width ("…" and "..", "猫" and "\u{732B}"), so a page cannot be turned into 7 bits when it has
/// been laid out: views ask here for what they lay out.
class Charset {
 public:
  explicit Charset(TerminalStyle style) noexcept : is_ascii_(is_7_bit(style)) {}

  /// For words that are written elsewhere.
  bool is_ascii() const noexcept { return is_ascii_; }

  const char* ellipsis() const noexcept { return is_ascii_ ? ".." : "…"; }
  const char* dash() const noexcept { return is_ascii_ ? "-" : "–"; }
  const char* times() const noexcept { return is_ascii_ ? "x" : "×"; }
  const char* masked() const noexcept { return is_ascii_ ? "." : "·"; }
  const char* space() const noexcept { return is_ascii_ ? "\\s" : "␠"; }

  /// Foreign text as a label: safe to print, with blanks that are seen.
  std::string label(std::string_view text) const;
  /// A sentence on one line: safe to print whoever wrote it; in 7 bits with signs of formulas
  /// spelled.
  std::string sentence(std::string_view text) const;
  /// Own text with signs of formulas: · √ ÷ − …
  std::string formula(std::string_view text) const;
  /// Text of this charset in at most `columns`, ending in the ellipsis when cut.
  std::string fitted(std::string_view text, std::size_t columns) const;

  /// `share` (0 to 1) of a bar `columns` wide, in eighths of a column, or of #. Not padded;
  /// whatever is more than 0 is seen, and NaN is no bar.
  std::string bar(double share, std::size_t columns) const;
  /// The same, growing to the left from the end of its columns, in halves of one: padded.
  std::string bar_to_left(double share, std::size_t columns) const;
  /// The line that bars to both sides begin at.
  const char* zero_line() const noexcept { return is_ascii_ ? "|" : "│"; }

 private:
  bool is_ascii_;
};

}  // namespace attnviz
