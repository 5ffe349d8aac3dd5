#include "attnviz/terminal/page/paragraph.h"

#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"

namespace attnviz {

std::vector<std::string> flow(const std::vector<InlineItem>& items, std::size_t gap,
                              std::size_t columns) {
  std::vector<std::string> lines;
  std::size_t width = 0;
  for (const InlineItem& item : items) {
    if (!lines.empty() && width + gap + item.width <= columns) {
      lines.back().append(gap, ' ').append(item.text);
      width += gap + item.width;
    } else {
      lines.push_back(item.text);
      width = item.width;
    }
  }
  return lines;
}

std::vector<std::string> wrap(std::string_view message, std::size_t columns) {
  std::vector<InlineItem> items;
  for (std::string_view word : words_of(message)) {
    while (display_width(word) > columns) {
      const std::string part = fit_width(word, columns, "");
      if (part.empty()) {
        break;  // one sign that is wider than a line
      }
      items.push_back({part, display_width(part)});
      word.remove_prefix(part.size());
    }
    items.push_back({std::string(word), display_width(word)});
  }
  return flow(items, 1, columns);
}

}  // namespace attnviz
