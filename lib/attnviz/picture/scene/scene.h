// The content of a picture, as a list in painting order. Layout builds it; a painter needs to know
// neither its subject nor its theme. Points and rectangles in pixels; x to the right, y down, the
// origin at the top left.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "attnviz/color/colormap.h"
#include "attnviz/core/choices.h"

namespace attnviz {

// A length as users give it: 85 mm, 7 in, 1200 pixels.

enum class LengthUnit { kMillimetres, kInches, kPixels };

/// Suffixes of numbers.
inline constexpr std::array kLengthUnits = {Choice{"mm", LengthUnit::kMillimetres},
                                            Choice{"in", LengthUnit::kInches},
                                            Choice{"px", LengthUnit::kPixels}};

/// Converts pixels to a unit; pixels stay unchanged.
inline double units_of(LengthUnit unit, double pixels, int dpi) noexcept {
  constexpr double kMillimetresAnInch = 25.4;
  switch (unit) {
    case LengthUnit::kMillimetres:
      return pixels / dpi * kMillimetresAnInch;
    case LengthUnit::kInches:
      return pixels / dpi;
    case LengthUnit::kPixels:
      break;
  }
  return pixels;
}

struct Length {
  double number = 0.0;
  LengthUnit unit = LengthUnit::kPixels;

  /// Rounded to whole pixels, at least 1.
  int pixels(int dpi) const noexcept {
    return std::max(1, static_cast<int>(std::lround(number / units_of(unit, 1.0, dpi))));
  }
  bool operator==(const Length&) const = default;
};

struct PixelPoint {
  double x = 0.0;
  double y = 0.0;
};

/// The pixels [x, x + width) by [y, y + height).
struct PixelRect {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;

  int right() const noexcept { return x + width; }
  int bottom() const noexcept { return y + height; }
  bool empty() const noexcept { return width <= 0 || height <= 0; }
};

/// The colours of a grid of cells, as indices into a palette: one byte per cell.
struct CellColors {
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::vector<std::uint8_t> numbers;  // [rows, cols]
  std::vector<Rgb> palette;

  std::uint8_t number(std::size_t row, std::size_t col) const { return numbers[row * cols + col]; }
  Rgb at(std::size_t row, std::size_t col) const { return palette[number(row, col)]; }
};

/// Cells of one size at even distances; earlier items show between them.
struct CellImage {
  PixelRect rect;   // of all cells
  int pitch_x = 1;  // from one cell to the next
  int pitch_y = 1;
  int gap_x = 0;  // pixels of the pitch that stay empty
  int gap_y = 0;
  std::shared_ptr<const CellColors> colors;  // never null

  PixelRect cell(std::size_t row, std::size_t col) const noexcept {
    return {rect.x + static_cast<int>(col) * pitch_x, rect.y + static_cast<int>(row) * pitch_y,
            pitch_x - gap_x, pitch_y - gap_y};
  }
};

/// Filled. Lines are rectangles, too: all are level or upright, and whole pixels wide.
struct Rectangle {
  PixelRect rect;
  Rgb color;
};

/// Lines from the lower left to the upper right, `thickness` wide and `spacing` apart, which
/// continue in other rectangles with the same hatching.
struct Hatch {
  PixelRect rect;
  Rgb color;
  int spacing = 1;
  int thickness = 1;
};

/// A curve from `from` to `to`, which is to its right. It begins and ends level: the control points
/// of a cubic lie `bend` pixels from its ends, at most as many as these are apart. 0: straight.
struct Curve {
  PixelPoint from;
  PixelPoint to;
  double bend = 0.0;

  /// The point at `t` in [0, 1].
  PixelPoint at(double t) const noexcept {
    const double s = 1.0 - t;
    const double first = s * s * s + 3.0 * s * s * t;  // weights of the two ends of the cubic
    const double last = 1.0 - first;
    const double inwards = 3.0 * s * t * (s - t) * bend;
    return bend == 0.0
               ? PixelPoint{from.x + t * (to.x - from.x), from.y + t * (to.y - from.y)}
               : PixelPoint{first * from.x + last * to.x + inwards, first * from.y + last * to.y};
  }
};

/// Curves with round ends, of one width and colour, painted as one: where they cross, they are not
/// more opaque than elsewhere.
struct Strokes {
  std::vector<Curve> curves;
  double width = 1.0;
  Rgb color;
  double opacity = 1.0;  // in [0, 1]
};

/// The direction in which a text reads: to the right, up and to the right at 45°, or up.
enum class TextAngle { kLevel, kRising, kUp };

/// The purpose of a text. kIndex: the index after a label, where only some tokens have labels.
enum class TextRole {
  kPlain,
  kTitle,
  kPanelTitle,
  kAxisName,
  kQueryLabel,
  kKeyLabel,
  kIndex,
  kLegend,
  kNote,
  kCellNumber
};

/// A line of text: text_corners with its top left corner at (x, y).
struct TextRun {
  TextRole role = TextRole::kPlain;
  std::string text;         // valid UTF-8, safe to display
  std::size_t columns = 0;  // its width in the fonts it was measured in
  int column_width = 0;     // pixels: the size of the font
  TextAngle angle = TextAngle::kLevel;
  int x = 0;
  int y = 0;
  Rgb color;
};

using SceneItem = std::variant<CellImage, Rectangle, Hatch, Strokes, TextRun>;

/// A picture in its own pixels.
struct Scene {
  int width = 0;
  int height = 0;
  int dpi = 96;  // pixels per inch
  Rgb background{0xFF, 0xFF, 0xFF};
  std::vector<SceneItem> items;       // later ones over earlier ones
  std::optional<Length> length = {};  // its width, as requested
};

}  // namespace attnviz
