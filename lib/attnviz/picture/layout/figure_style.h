// How a figure looks, apart from its content.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>

#include "attnviz/color/colormap.h"
#include "attnviz/core/choices.h"
#include "attnviz/picture/fonts/font_face.h"
#include "attnviz/picture/scene/scene.h"

namespace attnviz {

enum class FigureTheme { kLight, kDark };

inline constexpr std::array kThemes = {Choice{"light", FigureTheme::kLight},
                                       Choice{"dark", FigureTheme::kDark}};

/// The colours of a figure besides the colour scale.
struct ThemeColors {
  Rgb background;
  Rgb text;
  Rgb note;     // notes, and the indices beside labels
  Rgb tick;     // ticks
  Rgb outline;  // around panels and legend
  Rgb cell;     // cells whose value is a disc or a number
  Rgb masked;   // cells that do not exist
  Rgb hatch;    // the lines on them
  Rgb frame;    // around the highlighted panel
};

inline constexpr ThemeColors kLightColors = {
    {0xFF, 0xFF, 0xFF}, {0x1A, 0x1A, 0x1A}, {0x5A, 0x5A, 0x5A},
    {0x55, 0x55, 0x55}, {0x9A, 0x9A, 0x9A}, {0xF7, 0xF7, 0xF5},
    {0xE4, 0xE4, 0xE4}, {0xC6, 0xC6, 0xC6}, {0xD6, 0x1F, 0x2C}};

inline constexpr ThemeColors kDarkColors = {
    {0x17, 0x19, 0x1E}, {0xEC, 0xEC, 0xEC}, {0xA6, 0xA9, 0xB0},
    {0x9A, 0x9D, 0xA4}, {0x70, 0x74, 0x7C}, {0x21, 0x24, 0x2A},
    {0x33, 0x36, 0x3D}, {0x55, 0x59, 0x62}, {0xFF, 0x5A, 0x4F}};

inline const ThemeColors& theme_colors(FigureTheme theme) noexcept {
  return theme == FigureTheme::kLight ? kLightColors : kDarkColors;
}

// Numbers stand on the colours of the scale in every theme. Black, in agreement with
// dark_text_on(): a softer ink has a contrast of less than 4.5 on some of them.
inline constexpr Rgb kDarkNumber{0x00, 0x00, 0x00};
inline constexpr Rgb kLightNumber{0xFF, 0xFF, 0xFF};

/// How cells show their values.
///
/// colors   filled with the scale's colours, with numbers over them where these fit.
/// dots     discs that grow with the value (as in 3Blue1Brown 2024, "Attention in transformers");
///          cells too small for them have shades.
/// numbers  only numbers; cells are as large as these need.
/// mask     only which cells exist; panels with the same mask are drawn once.
enum class CellStyle { kColors, kDots, kNumbers, kMask };

inline constexpr std::array kCellStyles = {
    Choice{"colors", CellStyle::kColors}, Choice{"dots", CellStyle::kDots},
    Choice{"numbers", CellStyle::kNumbers}, Choice{"mask", CellStyle::kMask}};

/// The resolution at which a figure's lengths are exact pixels.
constexpr int kUsualDpi = 96;
constexpr int kLeastDpi = 30;
constexpr int kMostDpi = 1200;
constexpr int kLargestCell = 1000;

inline int ceiled(double pixels) noexcept {
  return static_cast<int>(std::ceil(pixels));
}

struct FigureStyle {
  const FontSet* fonts = &FontSet::embedded();  // never null; outlives the drawing
  FigureTheme theme = FigureTheme::kLight;
  CellStyle cells = CellStyle::kColors;
  /// From one cell to the next, in pixels at 96 dpi; 0: as large as a figure of a usual size
  /// allows. A figure with a given cell size is never pooled.
  int cell = 0;
  /// Pixels per inch: text, gaps and cells all grow with it.
  int dpi = kUsualDpi;
  /// Width of the whole picture: cells and lines adapt, texts do not. Absent: as wide as needed.
  std::optional<Length> width;

  bool values = true;  // numbers in cells that have room for them
  bool footer = true;  // notes below the picture

  /// 0 without a width.
  int width_pixels() const noexcept { return width ? width->pixels(dpi) : 0; }
  /// A length at 96 dpi in pixels of this figure; a positive length stays positive.
  int pixels(double at_96_dpi) const noexcept;
};

/// "85mm", with as few decimals as possible.
std::string written(const Length& length);

/// Throws Error{kUsage} for a size, a resolution or a width out of range.
void check(const FigureStyle& style);

/// Throws Error{kUsage}, which states the smallest possible width, if `pixels` exceeds style.width.
void check_fits(int pixels, const FigureStyle& style);

}  // namespace attnviz
