// A page for a terminal: lines of styled spans. Views build pages; only to_ansi() knows the escape
// codes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/color/colormap.h"
#include "attnviz/color/group_colors.h"
#include "attnviz/terminal/page/terminal_options.h"

namespace attnviz {

/// A colour on terminals of one colour depth.
struct PaletteColor {
  int index = 0;  // of 256 colours; with 16 a background code, 40 to 47 or 100 to 107
  Rgb rgb;        // its appearance

  bool operator==(const PaletteColor&) const = default;
};

/// The style of signs. On a fill without an ink they are black or white, whichever contrasts more.
struct Style {
  std::optional<PaletteColor> ink{};
  std::optional<PaletteColor> fill{};
  bool bold = false;
  bool dim = false;

  bool operator==(const Style&) const = default;
};

inline constexpr Style kBold{.bold = true};
inline constexpr Style kDim{.dim = true};

/// Printable text without line ends, in one style.
struct Span {
  std::string text;
  Style style{};
};

/// Spans beside each other.
struct Line {
  std::vector<Span> spans;

  Line() = default;
  explicit Line(std::string_view text, const Style& style = {}) { put(text, style); }

  void put(std::string_view text, const Style& style = {});
  void put(Line line);
  /// Blank columns.
  void space(std::size_t columns) { put(std::string(columns, ' ')); }
  /// Adds `text`, padded on the right with blank columns to a width of `columns`.
  void put_padded(std::string_view text, std::size_t columns, const Style& style = {});

  /// The width in columns of a terminal.
  std::size_t width() const;
};

struct Page {
  std::vector<Line> lines;

  void add(Line line) { lines.push_back(std::move(line)); }
  void add(std::string_view text, const Style& style = {}) { lines.emplace_back(text, style); }
  void add(Page page);
  void blank() { lines.emplace_back(); }
};

/// Lines ending in '\n', without trailing blanks that have no fill. Every styled run ends in a
/// reset, so that a cut line does not bleed. `depth` is the one that the page's colours were chosen
/// for; with ColorDepth::kNone the result is that of to_plain().
std::string to_ansi(const Page& page, ColorDepth depth);

/// The same without styles.
std::string to_plain(const Page& page);

// The signs on a page: the one place that knows whether it is 7-bit.

/// Unicode, or 7 bits if is_7_bit(style). A sign and its 7-bit form differ in width ("…" and "..",
/// "猫" and "\u{732B}"), so a page cannot be converted after its layout: views get their signs here
/// before they lay out.
class Charset {
 public:
  explicit Charset(TerminalStyle style) noexcept : is_ascii_(is_7_bit(style)) {}

  /// For text from elsewhere.
  bool is_ascii() const noexcept { return is_ascii_; }

  const char* ellipsis() const noexcept { return is_ascii_ ? ".." : "…"; }
  const char* dash() const noexcept { return is_ascii_ ? "-" : "–"; }
  const char* times() const noexcept { return is_ascii_ ? "x" : "×"; }
  const char* masked() const noexcept { return is_ascii_ ? "." : "·"; }
  const char* space() const noexcept { return is_ascii_ ? "\\s" : "␠"; }

  /// Foreign text as a label: safe to print, with visible blanks.
  std::string label(std::string_view text) const;
  /// A sentence on one line: safe to print even if foreign; in 7 bits with spelled signs of
  /// formulas.
  std::string sentence(std::string_view text) const;
  /// Own text with signs of formulas: · √ ÷ − …
  std::string formula(std::string_view text) const;
  /// Text of this charset in at most `columns`, ending in the ellipsis if cut.
  std::string fitted(std::string_view text, std::size_t columns) const;

  /// `share` (0 to 1) of a bar `columns` wide, in eighths of a column, or in #. Not padded; any
  /// share above 0 is visible, and NaN has no bar.
  std::string bar(double share, std::size_t columns) const;
  /// The same, growing to the left from the end of its columns, in half columns: padded.
  std::string bar_to_left(double share, std::size_t columns) const;
  /// The line from which bars extend to both sides.
  const char* zero_line() const noexcept { return is_ascii_ ? "|" : "│"; }

 private:
  bool is_ascii_;
};

// Lines on a terminal, in dots: a cell has 2 by 4 dots. The colours of groups on a terminal.

/// The position of a dot: x to the right, y down.
struct DotPoint {
  std::size_t x = 0;
  std::size_t y = 0;
};

/// Dots of U+2800 to U+28FF. A cell has the style of the last line through it.
class BrailleCanvas {
 public:
  BrailleCanvas(std::size_t columns, std::size_t rows);

  std::size_t dots_across() const noexcept { return 2 * columns_; }

  /// Draws a straight line with every `period`-th dot, at least 1; `thick`: two dots across. Parts
  /// outside the canvas are clipped.
  void line(DotPoint from, DotPoint to, std::size_t period, bool thick, const Style& style);

  /// One row of cells; those without dots are blank.
  Line row(std::size_t row) const;

 private:
  void dot(std::size_t x, std::size_t y, const Style& style);

  struct Cell {
    std::uint8_t dots = 0;
    Style style;
  };

  std::size_t columns_;
  std::size_t rows_;
  std::vector<Cell> cells_;  // [rows, columns]
};

/// The ink of group_color(number); none without colours.
inline Style group_ink(std::size_t number, ColorDepth depth) noexcept {
  if (depth == ColorDepth::kNone) {
    return {};
  }
  constexpr int kFillOfInk = 10;  // the 16 colours are codes of fills
  const GroupColor& color = group_color(number);
  return {.ink = PaletteColor{
              depth == ColorDepth::k16 ? color.terminal_code + kFillOfInk : color.terminal_256,
              color.terminal}};
}

}  // namespace attnviz
