// The texts of a figure: measured in its fonts, in the colours of its theme.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnviz/picture/layout/figure_style.h"
#include "attnviz/picture/scene/scene.h"

namespace attnviz {

/// Column widths of text, and the space between the parts of a figure, in pixels at 96 dpi.
inline constexpr int kTitleColumn = 9;
inline constexpr int kTextColumn = 7;
inline constexpr int kSpace = 10;

/// Where lines of text stand below each other.
struct TextArea {
  int x = 0;
  int y = 0;
  int room = 0;  // to the right of x
};

/// A number of ASCII digits in the middle of a cell, still without a colour.
TextRun cell_number(TextRole role, std::string text, int column_width, const PixelRect& cell);

/// The ink of numbers on a colour: dark or light.
inline Rgb ink_on(Rgb color) noexcept {
  return dark_text_on(color) ? kDarkNumber : kLightNumber;
}

class FigureTexts {
 public:
  /// The style must outlive it.
  explicit FigureTexts(const FigureStyle& style) : style_(style) {}

  int width(std::string_view text, int column_width) const;

  void add(TextRole role, std::string text, int column_width, int x, int y,
           TextAngle angle = TextAngle::kLevel);
  /// Level, in the middle of `room` pixels from `x` on.
  void add_centred(TextRole role, std::string text, int column_width, int x, int room, int y);

  /// Made safe to show and broken into lines that fit the area, at most `most_lines` of them.
  /// Centred, with space below. Returns where the figure goes on.
  int add_title(std::string_view text, std::size_t most_lines, const TextArea& area);
  /// The same for notes, with space above; `pooled`, if not empty, is the last one.
  int add_notes(std::vector<std::string> notes, std::string pooled, const TextArea& area);

  std::vector<TextRun> take() noexcept { return std::move(texts_); }

 private:
  int add_lines(TextRole role, std::string_view text, int column_width, std::size_t most_lines,
                const TextArea& area);

  const FigureStyle& style_;
  std::vector<TextRun> texts_;
};

}  // namespace attnviz
