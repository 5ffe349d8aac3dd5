#include "attnviz/terminal/page/text_table.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"

namespace attnviz {

namespace {

class TableDrawing {
 public:
  TableDrawing(const TextTable& table, std::size_t columns, const Charset& charset)
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

  // The end of the columns that fit, at least one with the columns that belong to it.
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

  // Whether the words of the cell can continue below it; bars have no words.
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
  constexpr std::size_t kReadable = 20;  // enough for labels to distinguish rows,
  constexpr std::size_t kBeside = 20;    // if they leave as much to a column
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
  return TableDrawing(table, columns, charset).draw();
}

Page flow(const std::vector<Line>& items, std::size_t gap, std::size_t columns) {
  Page page;
  std::size_t width = 0;
  for (const Line& item : items) {
    const std::size_t item_width = item.width();
    if (!page.lines.empty() && width + gap + item_width <= columns) {
      page.lines.back().space(gap);
      page.lines.back().put(item);
      width += gap + item_width;
    } else {
      page.add(item);
      width = item_width;
    }
  }
  return page;
}

std::vector<std::string> wrap(std::string_view message, std::size_t columns) {
  std::vector<std::string> lines;
  std::size_t width = 0;
  const auto add = [&](std::string_view word, std::size_t word_width) {
    if (!lines.empty() && width + 1 + word_width <= columns) {
      lines.back().append(" ").append(word);
      width += 1 + word_width;
    } else {
      lines.emplace_back(word);
      width = word_width;
    }
  };
  for (const std::string_view word : words_of(message)) {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t part_width = 0;
    for (const std::string_view cluster : grapheme_clusters(word)) {
      const std::size_t cluster_width = display_width(cluster);
      if (end > begin && part_width + cluster_width > columns) {
        add(word.substr(begin, end - begin), part_width);
        begin = end;
        part_width = 0;
      }
      end += cluster.size();
      part_width += cluster_width;
    }
    add(word.substr(begin), part_width);
  }
  return lines;
}

Page paragraph(std::string_view message, std::size_t columns, const Style& style,
               std::size_t indent) {
  Page page;
  for (const std::string& text : wrap(message, columns - std::min(columns - 1, indent))) {
    Line line;
    line.space(indent);
    line.put(text, style);
    page.add(std::move(line));
  }
  return page;
}

void RunningText::put(std::string_view word, const Style& style, bool is_close,
                      const Style& blank) {
  const std::vector<std::string_view> clusters = grapheme_clusters(word);
  auto next = clusters.begin();
  std::size_t rest = display_width(word);
  while (next != clusters.end()) {
    const bool is_new = line_.spans.empty();
    const std::size_t gap = is_new || is_close ? 0 : 1;
    std::string part;
    std::size_t width = 0;
    if (width_ + gap + rest <= columns_ || rest > columns_ || is_close) {
      for (; next != clusters.end(); ++next) {
        const std::size_t sign = display_width(*next);
        if (width_ + gap + width + sign > columns_) {
          break;
        }
        part += *next;
        width += sign;
      }
    }
    if (!part.empty()) {
      add(part, width, gap, style, blank);
      rest -= width;
    } else if (is_new) {
      return;  // one sign wider than a line
    }
    if (next != clusters.end()) {
      end_line();
    }
  }
}

void RunningText::end_line() {
  if (!line_.spans.empty()) {
    page_.add(std::exchange(line_, {}));
  }
  width_ = 0;
}

void RunningText::blank_line() {
  end_line();
  page_.blank();
}

Page RunningText::take() {
  end_line();
  return std::move(page_);
}

void RunningText::add(std::string_view word, std::size_t width, std::size_t gap, const Style& style,
                      const Style& blank) {
  line_.put(std::string(gap, ' '), blank);
  line_.put(word, style);
  width_ += gap + width;
}

}  // namespace attnviz
