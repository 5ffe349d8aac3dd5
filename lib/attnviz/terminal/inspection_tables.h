// The tables of a page about one query: vectors, keys with their scores and weights, matrices.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "attnviz/analysis/inspection.h"
#include "attnviz/color/role_colors.h"
#include "attnviz/document/inspection_page.h"
#include "attnviz/document/inspection_rows.h"
#include "attnviz/document/inspection_words.h"
#include "attnviz/document/words/number_group.h"
#include "attnviz/terminal/page/charset.h"
#include "attnviz/terminal/page/role_style.h"
#include "attnviz/terminal/page/terminal_options.h"
#include "attnviz/terminal/page/text_table.h"

namespace attnviz {

/// How things are written on one screen.
struct InspectionStyle {
  TerminalOptions options;
  Charset charset;
  std::size_t indent = 3;

  explicit InspectionStyle(const TerminalOptions& terminal);

  Style role(InspectionRole role) const { return role_style(role, options.color); }
};

/// The numbers of a vector in `room` columns: all, or the first, how many are between, and the
/// last.
std::string vector_text(const InspectionStyle& style, std::span<const float> values,
                        const NumberGroup& numbers, std::size_t room);

/// Vectors of one size below each other. `full`: all numbers; else the first, how many are between
/// and the last, as many as fit on a line.
TextTable vector_table(const InspectionStyle& style, const std::vector<VectorRow>& rows,
                       const NumberGroup& numbers, bool full);

/// One line a key, from q·k to weight, as far as the page shows these steps; then the sums.
TextTable key_table(const InspectionStyle& style, const InspectionPage& page,
                    const TokenNames& names, const Inspection& head, const ShownKeys& shown);

/// One line a pair of dimensions that turns: its frequency, the query's angle in radians, and the
/// pair before and after. Of many pairs the first, how many are between, and the last, unless
/// `full`.
TextTable turn_table(const InspectionStyle& style, const Inspection& head, bool full);

/// One line a visible key: its value, its weight, and the product.
TextTable share_table(const InspectionStyle& style, const TokenNames& names, const Inspection& head,
                      const ShownKeys& shown);

/// What a row or a column of a matrix is labelled with: a token, or the number of a dimension.
struct MatrixAxis {
  const TokenNames* names = nullptr;  // nullptr: dimensions
  InspectionRole role = InspectionRole::kPlain;
};

TextTable matrix_table(const InspectionStyle& style, ConstMatrix values, MatrixAxis rows,
                       MatrixAxis columns, InspectionRole role);

}  // namespace attnviz
