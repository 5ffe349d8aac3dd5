#include "attnviz/terminal/page/running_text.h"

#include <string>
#include <utility>
#include <vector>

#include "attnviz/core/utf8.h"

namespace attnviz {

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
