// A table on a terminal that is folded if it is too wide: its remaining columns continue below with
// the row labels repeated, and numbers look the same as in a wide table.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/terminal/page/page.h"

namespace attnviz {

/// One column under its heading, with as many cells as the table has rows.
struct TextColumn {
  Span heading;
  std::vector<Span> cells;
  bool to_right = true;        // for numbers; texts are on the left
  bool with_previous = false;  // never separated from the column before it

  /// The width of the widest cell, or of the heading.
  std::size_t width() const;
};

struct TextTable {
  std::vector<Span> labels;  // one per row
  Span corner;               // above the labels
  std::vector<TextColumn> columns;
  bool cuts_labels = true;  // if they leave too little room for the columns
  std::size_t indent = 0;
  std::size_t gap = 2;  // between columns
  bool has_headings = true;
};

/// The columns that the labels take in a table `columns` wide: the widest label; if labels may be
/// cut, at most a quarter or, if that is less than 20, up to 20 as long as 20 remain beside them.
std::size_t label_columns(const TextTable& table, std::size_t columns);

/// The table in lines of at most `columns`; labels are cut to label_columns(). The words of a text
/// that is too wide and last in its line continue below it; other columns that are too wide are
/// cut.
Page draw_table(const TextTable& table, std::size_t columns, const Charset& charset);

// Sentences broken into lines between words. Styled words placed one after another in lines of a
// page.

/// Places unbreakable items one after another, `gap` blank columns apart, in lines of at most
/// `columns`. Each item is at most that wide.
Page flow(const std::vector<Line>& items, std::size_t gap, std::size_t columns);

/// A safe message in lines of at most `columns`, broken between words, or inside a word that is
/// wider than a line.
std::vector<std::string> wrap(std::string_view message, std::size_t columns);

/// The same in one style, `indent` of the `columns` from the left.
Page paragraph(std::string_view message, std::size_t columns, const Style& style = {},
               std::size_t indent = 0);

/// Places styled words, breaking lines between them.
class RunningText {
 public:
  explicit RunningText(std::size_t columns) : columns_(columns) {}

  /// Adds a word, preceded by a blank in the style `blank` unless it begins a line or `is_close` to
  /// the word before. Words wider than a line, and close signs such as Chinese ones, break
  /// anywhere.
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
