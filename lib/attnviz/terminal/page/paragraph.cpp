#include "attnviz/terminal/page/paragraph.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

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
      return;  // one sign that is wider than a line
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
