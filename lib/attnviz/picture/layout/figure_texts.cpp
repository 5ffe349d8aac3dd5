#include "attnviz/picture/layout/figure_texts.h"

#include "attnviz/core/utf8.h"
#include "attnviz/picture/fonts/text_box.h"
#include "attnviz/picture/fonts/text_order.h"

namespace attnviz {

TextRun cell_number(TextRole role, std::string text, int column_width, const PixelRect& cell) {
  const std::size_t columns = text.size();
  const int wide = static_cast<int>(columns) * column_width;
  return {role,
          std::move(text),
          columns,
          column_width,
          TextAngle::kLevel,
          cell.x + (cell.width - wide) / 2,
          cell.y + (cell.height - line_height(column_width)) / 2,
          {}};
}

int FigureTexts::width(std::string_view text, int column_width) const {
  return static_cast<int>(style_.fonts->columns(text)) * column_width;
}

void FigureTexts::add(TextRole role, std::string text, int column_width, int x, int y,
                      TextAngle angle) {
  const ThemeColors& colors = theme_colors(style_.theme);
  const bool is_aside = role == TextRole::kNote || role == TextRole::kIndex;
  const std::size_t columns = style_.fonts->columns(text);
  texts_.push_back({role, std::move(text), columns, column_width, angle, x, y,
                    is_aside ? colors.note : colors.text});
}

void FigureTexts::add_centred(TextRole role, std::string text, int column_width, int x, int room,
                              int y) {
  const int spare = room - width(text, column_width);
  add(role, std::move(text), column_width, x + spare / 2, y);
}

int FigureTexts::add_lines(TextRole role, std::string_view text, int column_width,
                           std::size_t most_lines, const TextArea& area) {
  int y = area.y;
  const auto columns = static_cast<std::size_t>(area.room / column_width);
  std::vector<std::string> lines =
      style_.fonts->wrap(isolate_quotes(printable_message(text)), columns, most_lines);
  balance_isolates(lines);
  for (std::string& line : lines) {
    if (role == TextRole::kTitle) {
      add_centred(role, std::move(line), column_width, area.x, area.room, y);
    } else {
      add(role, std::move(line), column_width, area.x, y);
    }
    y += line_height(column_width) + style_.pixels(1);
  }
  return y;
}

int FigureTexts::add_title(std::string_view text, std::size_t most_lines, const TextArea& area) {
  const int bottom =
      add_lines(TextRole::kTitle, text, style_.pixels(kTitleColumn), most_lines, area);
  return text.empty() ? area.y : bottom + style_.pixels(kSpace);
}

int FigureTexts::add_notes(std::vector<std::string> notes, std::string pooled,
                           const TextArea& area) {
  const std::size_t most_lines = style_.width ? 12 : 4;  // of one note
  if (!style_.footer) {
    return area.y;
  }
  if (!pooled.empty()) {
    notes.push_back(std::move(pooled));
  }
  int y = area.y + (notes.empty() ? 0 : style_.pixels(kSpace));
  for (const std::string& note : notes) {
    y = add_lines(TextRole::kNote, note, style_.pixels(kTextColumn), most_lines,
                  {area.x, y, area.room});
  }
  return y;
}

}  // namespace attnviz
