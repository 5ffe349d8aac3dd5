// Shares as percentages that say neither nothing nor all when it is not so.
#pragma once

#include <string>

namespace attnviz {

/// In a sentence: 0.463 is "46 %", 0.031 "3.1 %", 0.0001 "less than 0.1 %", 0.99999 "more than
/// 99.9 %". With 1 decimal 0.463 is "46.3 %", as in a column of such cells.
std::string percentage(float share, int decimals = 0);

/// In a column, with 0 or 1 decimals: "46%" or "46.3%", "<1%" or "<.1%", ">99%" or ">99.9%".
std::string percent_cell(float share, int decimals);

}  // namespace attnviz
