#include "attnviz/picture/layout/figure_labels.h"

#include <algorithm>
#include <cmath>

#include "attnviz/core/utf8.h"
#include "attnviz/picture/fonts/glyphs.h"

namespace attnviz {

namespace {

constexpr std::size_t kLongestLabel = 20;  // columns
constexpr int kLargestColumn = 9;          // this and the following at 96 dpi
constexpr int kRoomyColumn = 8;            // from this width on, text leaves half of a row empty
constexpr int kThinnedColumn = 6;
constexpr int kSmallestColumn = 5;

// The largest text that fits the pitch, else small text at every k-th position.
int column_width_for(int pitch, const FigureStyle& style) {
  for (int width = kLargestColumn; width >= kSmallestColumn; --width) {
    const int column_width = style.pixels(width);
    const int lines = width >= kRoomyColumn ? 2 : 1;
    if (lines * line_height(column_width) <= pitch) {
      return column_width;
    }
  }
  return style.pixels(kThinnedColumn);
}

// The smallest of 1, 2, 5, 10, 20, 50, … times `unit` that keeps labels `needed` pixels apart, or
// 1.
std::size_t thinning(double needed, int pitch, std::size_t unit = 1) {
  const auto least = static_cast<std::size_t>(std::max(1, ceiled(needed / pitch)));
  if (least == 1) {
    return 1;
  }
  for (std::size_t power = 1;; power *= 10) {
    for (const std::size_t step : {power, 2 * power, 5 * power}) {
      if (step * unit >= least) {
        return step * unit;
      }
    }
  }
}

void take_labels(const CellAxis& axis, const std::vector<std::string>& raw, const FontSet& fonts,
                 bool with_indices, AxisLabels& axis_labels) {
  const bool indexed = with_indices && (axis_labels.step > 1 || axis.tokens.pooled());
  for (std::size_t cell = 0; cell < axis.n_cells(); cell += axis_labels.step) {
    const std::size_t token = axis.tokens.begin(cell);
    AxisLabel label;
    label.text = fonts.shorten(printable(raw[token]), kLongestLabel);
    if (label.text.empty()) {
      label.text = "∅";
    }
    label.text_columns = fonts.columns(label.text);
    label.columns = label.text_columns;
    if (indexed) {
      label.index = axis.tokens.name(cell);
      label.columns += 1 + label.index.size();
    }
    axis_labels.longest = std::max(axis_labels.longest, label.columns);
    axis_labels.labels.push_back(std::move(label));
  }
}

}  // namespace

int AxisLabels::height() const noexcept {
  const int high = line_height(column_width);
  if (angle == TextAngle::kLevel) {
    return high;
  }
  return ceiled((static_cast<double>(longest) * column_width + high) * kSlope) + 1;
}

AxisLabels query_axis_labels(const CellAxis& axis, const std::vector<std::string>& raw,
                             const FigureStyle& style, bool with_indices) {
  AxisLabels labels;
  labels.column_width = column_width_for(axis.pitch, style);
  labels.step = thinning(line_height(labels.column_width), axis.pitch);
  take_labels(axis, raw, *style.fonts, with_indices, labels);
  return labels;
}

AxisLabels key_axis_labels(const CellAxis& axis, const std::vector<std::string>& raw,
                           const FigureStyle& style, const AxisLabels& queries, bool with_indices) {
  const int largest_column_width = queries.column_width;
  AxisLabels labels;
  labels.column_width = largest_column_width;
  // Slanted lines of text are closer together than their anchors, by the slope.
  const auto needed = [](int column_width) { return line_height(column_width) / kSlope; };
  const int smallest = std::min(style.pixels(kSmallestColumn), largest_column_width);
  if (needed(largest_column_width) > axis.pitch && needed(smallest) <= axis.pitch) {
    labels.column_width = smallest;
  }
  labels.step = thinning(needed(labels.column_width), axis.pitch, queries.step);
  take_labels(axis, raw, *style.fonts, with_indices, labels);
  const auto widest = static_cast<double>(labels.longest + 1) * largest_column_width;
  const bool level = widest <= axis.pitch;
  if (level) {
    labels.column_width = largest_column_width;
  }
  labels.angle = level ? TextAngle::kLevel : TextAngle::kRising;
  return labels;
}

std::vector<RoleRun> role_runs(const std::vector<std::size_t>& roles, const CellAxis& axis) {
  std::vector<RoleRun> runs;
  const auto role_of = [&](std::size_t cell) { return roles[axis.tokens.begin(cell)]; };
  const std::size_t n_cells = roles.empty() ? 0 : axis.n_cells();
  for (std::size_t first = 0; first < n_cells;) {
    std::size_t end = first + 1;
    while (end < n_cells && role_of(end) == role_of(first)) {
      ++end;
    }
    if (const std::size_t role = role_of(first); role > 0) {
      runs.push_back({static_cast<int>(first) * axis.pitch,
                      static_cast<int>(end - first) * axis.pitch - axis.gap, role - 1});
    }
    first = end;
  }
  return runs;
}

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
  const std::size_t most_lines = style_.width ? 12 : 4;  // in one note
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
