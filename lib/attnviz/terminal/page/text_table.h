// A table on a terminal that is folded where it is too wide: its columns go on below, with the row
// labels again, and every number is written as it would be in a wide one.
#pragma once

#include <cstddef>
#include <vector>

#include "attnviz/terminal/page/charset.h"
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

}  // namespace attnviz
