#include "attnviz/terminal/page/paragraph.h"

#include <algorithm>

#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"

namespace attnviz {

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

}  // namespace attnviz
