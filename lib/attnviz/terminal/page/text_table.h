// A table on a terminal that is folded where it is too wide: its columns go on below, with the row
// labels again, and every number is written as it would be in a wide one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/terminal/page/page.h"

namespace attnviz {

/// One column under its heading. Cells as many as the table has rows.
struct TextColumn {
  Span heading;
  std::vector<Span> cells;
  bool to_right = true;        // numbers; texts stand on the left
  bool with_previous = false;  // never folded away from the column before it

  /// Of the widest cell, or of the heading.
  std::size_t width() const;
};

struct TextTable {
  std::vector<Span> labels;  // one a row
  Span corner;               // over the labels
  std::vector<TextColumn> columns;
  bool cuts_labels = true;  // where they would leave too little room for the columns
  std::size_t indent = 0;
  std::size_t gap = 2;  // between columns
  bool has_headings = true;
};

/// The columns that the labels take of a table drawn in `columns`: their widest; of labels that may
/// be cut at most a quarter, or where that is less 20, as far as 20 are left beside them.
std::size_t label_columns(const TextTable& table, std::size_t columns);

/// The table in lines of at most `columns`; labels are cut to label_columns(). Words of a text that
/// is too wide, and last in its line, go on below it; other columns that are still too wide are
/// cut.
Page draw_table(const TextTable& table, std::size_t columns, const Charset& charset);

// Sentences for a terminal: broken into lines between words. Words one after the other, in lines of
// a page.

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
