// Sentences for a terminal: broken into lines between words. Words one after the other, in lines of
// a page.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/terminal/page/page.h"

namespace attnviz {

/// Items that stay together, one after the other, `gap` blank columns apart, in lines of at most
/// `columns`. Each item is at most that wide.
Page flow(const std::vector<Line>& items, std::size_t gap, std::size_t columns);

/// A safe message in lines of at most `columns`, broken between words or, where one is wider than a
/// line, inside of it.
std::vector<std::string> wrap(std::string_view message, std::size_t columns);

/// The same in one style, `indent` of the `columns` from the left.
Page paragraph(std::string_view message, std::size_t columns, const Style& style = {},
               std::size_t indent = 0);

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
