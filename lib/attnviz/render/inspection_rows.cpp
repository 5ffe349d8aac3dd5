#include "attnviz/render/inspection_rows.h"

namespace attnviz {

using Role = InspectionRole;

std::vector<VectorRow> key_rows(const Inspection& head, const TokenNames& names,
                                const ShownKeys& shown) {
  std::vector<VectorRow> rows;
  rows.reserve(shown.keys.size());
  for (const std::size_t key : shown.keys) {
    rows.push_back({"k " + names.indexed(key), head.k.view().row(key), Role::kKey});
  }
  return rows;
}

std::vector<VectorRow> residual_rows(const Inspection& head) {
  std::vector<VectorRow> rows;
  if (head.has_output()) {
    if (head.residual) {
      rows.push_back({"  x", head.x(), Role::kPlain});
    }
    rows.push_back({rows.empty() ? "  output" : "+ output", head.output, Role::kValue});
    if (!head.others.empty()) {
      rows.push_back({"+ other heads", head.others, Role::kPlain});
    }
    if (!head.b_output.empty()) {
      rows.push_back({"+ b_O", head.b_output, Role::kPlain});
    }
  }
  rows.push_back({rows.empty() ? "  result" : "= result", head.result, Role::kPlain});
  return rows;
}

}  // namespace attnviz
