// Vectors with their labels, as they stand below each other in the steps of an inspection.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "attnviz/analysis/inspection.h"
#include "attnviz/color/role_colors.h"
#include "attnviz/document/shown_keys.h"
#include "attnviz/document/words/token_names.h"

namespace attnviz {

/// One vector of a table: "q sat" and its numbers.
struct VectorRow {
  std::string label;
  std::span<const float> values;
  InspectionRole role = InspectionRole::kPlain;
};

/// Labels of norm_rows().
struct NormRowNames {
  std::string before, after;
  InspectionRole role = InspectionRole::kPlain;
};

/// The shown keys' vectors out of `keys`, which are those of all tokens at some step.
std::vector<VectorRow> key_rows(ConstMatrix keys, const TokenNames& names, const ShownKeys& shown);

/// What a norm makes of `x`, called by `names`: before it, its weights and biases, behind it.
std::vector<VectorRow> norm_rows(const Norm& norm, std::span<const float> x,
                                 std::span<const float> normed, const NormRowNames& names);

/// x and y: what norm_rows() says of the norm before attention.
std::vector<VectorRow> look_rows(const Inspection& head, const std::string& query);

/// The query before and behind its norm.
std::vector<VectorRow> query_norm_rows(const Inspection& head);

/// The query before and after it is turned.
std::vector<VectorRow> turned_rows(const Inspection& head);

/// x + output = result, with what else is added and the norms between; the result alone where a
/// layer has no W_O.
std::vector<VectorRow> residual_rows(const Inspection& head);

}  // namespace attnviz
