// One query on a terminal: numbered steps, a table of keys, numbers that are the same at any width.
// The blocks of an inspection as tables of text.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "attnviz/color/group_colors.h"
#include "attnviz/report/steps/inspection_document.h"
#include "attnviz/report/words/number_formats.h"
#include "attnviz/report/words/words.h"
#include "attnviz/terminal/page/page.h"
#include "attnviz/terminal/page/terminal_options.h"
#include "attnviz/terminal/page/text_table.h"

namespace attnviz {

/// The page in lines of which none is wider than options.columns (at least 20 are assumed).
/// Tables that are too wide go on below; vectors that are too long are shown by their first and
/// last numbers and the count of those between. TerminalStyle::kAscii: 7-bit; every other style:
/// signs such as · and √. Precondition: page.full needs the heads' matrices over all queries.
Page inspection_screen(const InspectionPage& page, const TerminalOptions& options);

inline std::string render_inspection(const InspectionPage& page, const TerminalOptions& options) {
  return to_ansi(inspection_screen(page, options), options.color);
}

/// How things are written on one screen.
struct InspectionStyle {
  TerminalOptions options;
  Charset charset;
  std::size_t indent = 3;

  explicit InspectionStyle(const TerminalOptions& terminal);

  /// Text in role_color(); plain for kPlain.
  Style role(InspectionRole role) const;
};

/// The numbers of a vector in `room` columns: all, or the first, how many are between, and the
/// last.
std::string vector_text(const InspectionStyle& style, std::span<const float> values,
                        const NumberGroup& numbers, std::size_t room);

/// Vectors of one size below each other. `full`: all numbers; else the first, how many are between
/// and the last, as many as fit on a line.
TextTable vector_table(const InspectionStyle& style, const std::vector<VectorRow>& rows,
                       const NumberGroup& numbers, bool full);

/// Rows and columns as they are, and bars beside the last column when there is room for some that
/// say something, else below with it.
TextTable block_table(const InspectionStyle& style, const TableBlock& block);

/// One line a key: its value, its weight, and the product.
TextTable share_table(const InspectionStyle& style, const ShareBlock& block);

TextTable matrix_table(const InspectionStyle& style, const MatrixBlock& block,
                       const TokenNames& names);

}  // namespace attnviz
