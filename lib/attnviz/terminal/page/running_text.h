// Words one after the other, in lines of a page.
#pragma once

#include <cstddef>
#include <string_view>

#include "attnviz/terminal/page/page.h"

namespace attnviz {

/// Takes words with their styles; breaks lines between them.
class RunningText {
 public:
  explicit RunningText(std::size_t columns) : columns_(columns) {}

  /// With a blank in the style `blank` before it, unless it is the first of a line or `is_close` to
  /// the one before. What fits no line, and close signs such as those of Chinese, break anywhere.
  void put(std::string_view word, const Style& style, bool is_close, const Style& blank);
  void end_line();
  void blank_line();
  Page take();

 private:
  void add(std::string_view word, std::size_t width, std::size_t gap, const Style& style,
           const Style& blank);

  std::size_t columns_;
  Page page_;
  Line line_;
  std::size_t width_ = 0;
};

}  // namespace attnviz
