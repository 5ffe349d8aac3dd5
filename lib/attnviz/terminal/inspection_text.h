// One query on a terminal: numbered steps, a table of keys, and numbers that are the same at any
// width. The blocks of an inspection as text tables.
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

/// The page in lines of at most options.columns (at least 20 are assumed). Tables that are too wide
/// continue below; vectors that are too long show their first and last numbers and the number of
/// those between. TerminalStyle::kAscii: 7-bit; every other style: signs such as · and √.
/// Precondition: page.full needs the heads' matrices over all queries.
Page inspection_screen(const InspectionPage& page, const TerminalOptions& options);

inline std::string render_inspection(const InspectionPage& page, const TerminalOptions& options) {
  return to_ansi(inspection_screen(page, options), options.color);
}

/// The text style of one screen.
struct InspectionStyle {
  TerminalOptions options;
  Charset charset;
  std::size_t indent = 3;

  explicit InspectionStyle(const TerminalOptions& terminal);

  /// The style of text in role_color(); plain for kPlain.
  Style role(InspectionRole role) const;
};

/// The numbers of a vector in `room` columns: all, or the first, the number of those omitted, and
/// the last.
std::string vector_text(const InspectionStyle& style, std::span<const float> values,
                        const NumberGroup& numbers, std::size_t room);

/// Vectors of one size below each other. `full`: all numbers; else as many as fit on a line: the
/// first, the number of those omitted, and the last.
TextTable vector_table(const InspectionStyle& style, const std::vector<VectorRow>& rows,
                       const NumberGroup& numbers, bool full);

/// Rows and columns unchanged, with bars beside the last column if they are long enough to be
/// useful, else below together with it.
TextTable block_table(const InspectionStyle& style, const TableBlock& block);

/// One line per key: its value, its weight, and the product.
TextTable share_table(const InspectionStyle& style, const ShareBlock& block);

TextTable matrix_table(const InspectionStyle& style, const MatrixBlock& block,
                       const TokenNames& names);

}  // namespace attnviz
