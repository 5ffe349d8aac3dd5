// The rows that the screen and the figure of a page about one query have in common.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "attnviz/analysis/inspection.h"
#include "attnviz/render/inspection_colors.h"
#include "attnviz/render/inspection_page.h"
#include "attnviz/render/inspection_words.h"

namespace attnviz {

/// One vector of a table: "q sat" and its numbers.
struct VectorRow {
  std::string label;
  std::span<const float> values;
  InspectionRole role = InspectionRole::kPlain;
};

/// The shown keys' vectors k.
std::vector<VectorRow> key_rows(const Inspection& head, const TokenNames& names,
                                const ShownKeys& shown);

/// x + output = result, with what else is added; the result alone where a layer has no W_O.
std::vector<VectorRow> residual_rows(const Inspection& head);

}  // namespace attnviz
