// The texts of a figure: measured in its fonts, in the colours of its theme.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attnviz/picture/layout/figure_style.h"
#include "attnviz/picture/scene/scene.h"

namespace attnviz {

/// Where lines of text stand below each other.
struct TextArea {
  int x = 0;
  int y = 0;
  int room = 0;  // to the right of x
};

class FigureTexts {
 public:
  /// The style must outlive it.
  explicit FigureTexts(const FigureStyle& style) : style_(style) {}

  int width(std::string_view text, int column_width) const;

  void add(TextRole role, std::string text, int column_width, TextAngle angle, int x, int y);
  /// Made safe to show and broken into lines that fit the area, at most `most_lines` of them;
  /// titles are centred. Returns where the next line would begin.
  int add_lines(TextRole role, std::string_view text, int column_width, std::size_t most_lines,
                const TextArea& area);

  std::vector<TextRun> take() noexcept { return std::move(texts_); }

 private:
  const FigureStyle& style_;
  std::vector<TextRun> texts_;
};

}  // namespace attnviz
