#include "attnviz/terminal/page/ansi.h"

namespace attnviz {

void AnsiLine::put(std::string_view text, std::string_view style) {
  if (text.empty()) {
    return;
  }
  if (style_ != style) {
    text_ += style.empty() ? "\x1b[0m" : style_.empty() ? "\x1b[" : "\x1b[0;";
    if (!style.empty()) {
      text_.append(style).append("m");
    }
    style_ = style;
  }
  text_ += text;
}

std::string AnsiLine::finish() {
  if (!style_.empty()) {
    text_ += "\x1b[0m";
    style_.clear();
  } else {
    text_.erase(text_.find_last_not_of(' ') + 1);
  }
  std::string line;
  line.swap(text_);
  return line;
}

}  // namespace attnviz
