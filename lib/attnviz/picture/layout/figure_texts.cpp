#include "attnviz/picture/layout/figure_texts.h"

#include <cstddef>
#include <utility>

#include "attnviz/core/utf8.h"
#include "attnviz/picture/fonts/text_box.h"
#include "attnviz/picture/layout/figure_theme.h"

namespace attnviz {

int FigureTexts::width(std::string_view text, int column_width) const {
  return static_cast<int>(style_.fonts->columns(text)) * column_width;
}

void FigureTexts::add(TextRole role, std::string text, int column_width, TextAngle angle, int x,
                      int y) {
  const ThemeColors& colors = theme_colors(style_.theme);
  const bool is_aside = role == TextRole::kNote || role == TextRole::kIndex;
  const std::size_t columns = style_.fonts->columns(text);
  texts_.push_back({role, std::move(text), columns, column_width, angle, x, y,
                    is_aside ? colors.note : colors.text});
}

int FigureTexts::add_lines(TextRole role, std::string_view text, int column_width,
                           std::size_t most_lines, const TextArea& area) {
  int y = area.y;
  const auto columns = static_cast<std::size_t>(area.room / column_width);
  for (std::string& line : style_.fonts->wrap(printable_message(text), columns, most_lines)) {
    const int spare = area.room - width(line, column_width);
    const int x = area.x + (role == TextRole::kTitle ? spare / 2 : 0);
    add(role, std::move(line), column_width, TextAngle::kLevel, x, y);
    y += line_height(column_width) + style_.pixels(1);
  }
  return y;
}

}  // namespace attnviz
