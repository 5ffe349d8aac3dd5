#include "attnviz/render/paragraph.h"

#include "attnviz/core/utf8.h"

namespace attnviz {

namespace {

std::vector<std::string_view> words(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  std::vector<std::string_view> found;
  for (std::size_t begin = text.find_first_not_of(kBlanks); begin != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(kBlanks, begin), text.size());
    found.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(kBlanks, end);
  }
  return found;
}

}  // namespace

std::string safe_message(std::string_view text, bool ascii) {
  std::string message;
  for (const std::string_view word : words(text)) {
    message += message.empty() ? "" : " ";
    message += ascii ? printable_ascii(word) : printable(word);
  }
  return message;
}

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
  for (std::string_view word : words(message)) {
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
