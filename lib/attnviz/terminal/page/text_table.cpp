#include "attnviz/terminal/page/text_table.h"

#include <algorithm>
#include <string>
#include <utility>

#include "attnviz/core/utf8.h"
#include "attnviz/terminal/page/paragraph.h"

namespace attnviz {

namespace {

class Drawing {
 public:
  Drawing(const TextTable& table, std::size_t columns, const Charset& charset)
      : table_(table),
        columns_(columns),
        charset_(charset),
        label_width_(label_columns(table, columns)) {
    for (const TextColumn& column : table.columns) {
      widths_.push_back(column.width());
    }
  }

  Page draw() {
    std::size_t first = 0;
    do {
      const std::size_t end = end_of_band(first);
      band(first, end);
      first = end;
    } while (first < table_.columns.size());
    return std::move(page_);
  }

 private:
  std::size_t start() const noexcept { return table_.indent + label_width_; }

  // As many columns as fit, at least one with what belongs to it.
  std::size_t end_of_band(std::size_t first) const {
    std::size_t width = start();
    std::size_t end = first;
    while (end < table_.columns.size()) {
      std::size_t next = end;
      std::size_t wanted = 0;
      do {
        wanted += table_.gap + widths_[next++];
      } while (next < table_.columns.size() && table_.columns[next].with_previous);
      if (end > first && width + wanted > columns_) {
        break;
      }
      width += wanted;
      end = next;
    }
    return end;
  }

  void put(Line& line, const Span& cell, std::size_t width, bool to_right,
           std::size_t& used) const {
    const std::size_t room = std::min(width, columns_ - std::min(columns_, used));
    const std::string text = charset_.fitted(cell.text, room);
    const std::size_t blank = room - std::min(room, display_width(text));
    line.space(to_right ? blank : 0);
    line.put(text, cell.style);
    line.space(to_right ? 0 : blank);
    used += room;
  }

  // Whether words of the cell can go on below it; bars have none.
  bool flows(const TextColumn& column, const Span& cell, std::size_t room) const {
    return !column.to_right && room > 0 && display_width(cell.text) > room &&
           cell.text.find(' ') != std::string::npos &&
           cell.text.find_first_not_of(' ') != std::string::npos;
  }

  void row(const Span& label, std::size_t first, std::size_t end, const auto& cell_of) {
    std::size_t used = table_.indent;
    Line line;
    line.space(table_.indent);
    put(line, label, label_width_, /*to_right=*/false, used);
    for (std::size_t i = first; i < end; ++i) {
      const std::size_t gap = std::min(table_.gap, columns_ - std::min(columns_, used));
      line.space(gap);
      used += gap;
      const TextColumn& column = table_.columns[i];
      const Span& cell = cell_of(column);
      const std::size_t room = columns_ - std::min(columns_, used);
      if (i + 1 == end && flows(column, cell, room)) {
        const std::size_t start = used;
        for (const std::string& words : wrap(cell.text, room)) {
          line.space(start - std::min(start, line.width()));
          line.put(words, cell.style);
          page_.add(std::exchange(line, Line()));
        }
        return;
      }
      put(line, cell, widths_[i], column.to_right, used);
    }
    page_.add(std::move(line));
  }

  void band(std::size_t first, std::size_t end) {
    if (table_.has_headings) {
      row(table_.corner, first, end,
          [](const TextColumn& column) -> const Span& { return column.heading; });
    }
    for (std::size_t i = 0; i < table_.labels.size(); ++i) {
      row(table_.labels[i], first, end,
          [i](const TextColumn& column) -> const Span& { return column.cells[i]; });
    }
  }

  const TextTable& table_;
  std::size_t columns_;
  const Charset& charset_;
  std::size_t label_width_;
  std::vector<std::size_t> widths_;
  Page page_;
};

}  // namespace

std::size_t TextColumn::width() const {
  std::size_t width = display_width(heading.text);
  for (const Span& cell : cells) {
    width = std::max(width, display_width(cell.text));
  }
  return width;
}

std::size_t label_columns(const TextTable& table, std::size_t columns) {
  constexpr std::size_t kNarrowest = 6;
  constexpr std::size_t kReadable = 20;  // labels that tell rows apart,
  constexpr std::size_t kBeside = 20;    // which leave as much to a column
  std::size_t widest = display_width(table.corner.text);
  for (const Span& label : table.labels) {
    widest = std::max(widest, display_width(label.text));
  }
  if (!table.cuts_labels) {
    return widest;
  }
  return std::min(widest, std::max({kNarrowest, columns / 4,
                                    std::min(columns - std::min(columns, kBeside), kReadable)}));
}

Page draw_table(const TextTable& table, std::size_t columns, const Charset& charset) {
  return Drawing(table, columns, charset).draw();
}

}  // namespace attnviz
