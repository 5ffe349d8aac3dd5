#include "attnviz/terminal/page/text_table.h"

#include <algorithm>

#include "attnviz/core/utf8.h"
#include "attnviz/terminal/page/ansi.h"

namespace attnviz {

namespace {

class Drawing {
 public:
  Drawing(const TextTable& table, std::size_t columns, const char* ellipsis)
      : table_(table), columns_(columns), ellipsis_(ellipsis) {
    label_width_ = label_columns(table, columns);
    for (const TextColumn& column : table.columns) {
      std::size_t width = table.has_headings ? display_width(column.heading.text) : 0;
      for (const StyledText& cell : column.cells) {
        width = std::max(width, display_width(cell.text));
      }
      widths_.push_back(width);
    }
  }

  std::string draw() {
    std::size_t first = 0;
    do {
      const std::size_t end = end_of_band(first);
      band(first, end);
      first = end;
    } while (first < table_.columns.size());
    return std::move(out_);
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

  void put(const StyledText& cell, std::size_t width, bool to_right, std::size_t& used) {
    const std::size_t room = std::min(width, columns_ - std::min(columns_, used));
    const std::string text = fit_width(cell.text, room, ellipsis_);
    const std::string spaces(room - std::min(room, display_width(text)), ' ');
    if (to_right) {
      line_.put(spaces);
    }
    line_.put(text, cell.style);
    if (!to_right) {
      line_.put(spaces);
    }
    used += room;
  }

  void row(const StyledText& label, std::size_t first, std::size_t end, const auto& cell_of) {
    std::size_t used = table_.indent;
    line_.put(std::string(table_.indent, ' '));
    put(label, label_width_, /*to_right=*/false, used);
    for (std::size_t i = first; i < end; ++i) {
      const std::size_t gap = std::min(table_.gap, columns_ - std::min(columns_, used));
      line_.put(std::string(gap, ' '));
      used += gap;
      put(cell_of(table_.columns[i]), widths_[i], table_.columns[i].to_right, used);
    }
    out_ += line_.finish() + '\n';
  }

  void band(std::size_t first, std::size_t end) {
    if (table_.has_headings) {
      row(table_.corner, first, end,
          [](const TextColumn& column) -> const StyledText& { return column.heading; });
    }
    for (std::size_t i = 0; i < table_.labels.size(); ++i) {
      row(table_.labels[i], first, end,
          [i](const TextColumn& column) -> const StyledText& { return column.cells[i]; });
    }
  }

  const TextTable& table_;
  std::size_t columns_;
  const char* ellipsis_;
  std::size_t label_width_ = 0;
  std::vector<std::size_t> widths_;
  AnsiLine line_;
  std::string out_;
};

}  // namespace

std::size_t label_columns(const TextTable& table, std::size_t columns) {
  constexpr std::size_t kNarrowest = 6;
  std::size_t widest = display_width(table.corner.text);
  for (const StyledText& label : table.labels) {
    widest = std::max(widest, display_width(label.text));
  }
  return std::min(widest, std::max(kNarrowest, columns / 4));
}

std::string draw_table(const TextTable& table, std::size_t columns, const char* ellipsis) {
  return Drawing(table, columns, ellipsis).draw();
}

}  // namespace attnviz
