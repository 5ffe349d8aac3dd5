#include "attnviz/document/inspection_rows.h"

#include <fmt/core.h>

namespace attnviz {

using Role = InspectionRole;

std::vector<VectorRow> key_rows(ConstMatrix keys, const TokenNames& names, const ShownKeys& shown) {
  std::vector<VectorRow> rows;
  rows.reserve(shown.keys.size());
  for (const std::size_t key : shown.keys) {
    rows.push_back({"k " + names.indexed(key), keys.row(key), Role::kKey});
  }
  return rows;
}

std::vector<VectorRow> norm_rows(const Norm& norm, std::span<const float> x,
                                 std::span<const float> normed, const NormRowNames& names) {
  std::vector<VectorRow> rows;
  rows.push_back({names.before, x, names.role});
  rows.push_back({"w", norm.weight, Role::kPlain});
  if (!norm.bias.empty()) {
    rows.push_back({"b", norm.bias, Role::kPlain});
  }
  rows.push_back({names.after, normed, names.role});
  return rows;
}

std::vector<VectorRow> look_rows(const Inspection& head, const std::string& query) {
  return norm_rows(head.norm, head.x(), head.y(), {"x " + query, "y " + query, Role::kPlain});
}

std::vector<VectorRow> query_norm_rows(const Inspection& head) {
  return norm_rows(head.query_norm, head.projected_queries().row(head.query),
                   head.upright_queries().row(head.query), {"q before", "q after", Role::kQuery});
}

std::vector<VectorRow> turned_rows(const Inspection& head) {
  return {{"q before", head.upright_queries().row(head.query), Role::kQuery},
          {"q after", head.q.view().row(head.query), Role::kQuery}};
}

std::vector<VectorRow> residual_rows(const Inspection& head) {
  std::vector<VectorRow> rows;
  if (!head.has_output()) {
    rows.push_back({"  result", head.result, Role::kPlain});
    return rows;
  }
  const auto add = [&rows](const char* what, std::span<const float> values, Role role) {
    rows.push_back({fmt::format("{} {}", rows.empty() ? " " : "+", what), values, role});
  };
  const bool is_normed = head.after_norm.present();
  if (head.residual && !is_normed) {
    add("x", head.x(), Role::kPlain);
  }
  add("output", head.output, Role::kValue);
  if (!head.others.empty()) {
    add("other heads", head.others, Role::kPlain);
  }
  if (!head.b_output.empty()) {
    add("b_O", head.b_output, Role::kPlain);
  }
  if (is_normed) {
    rows.push_back({"= sum", head.attended, Role::kPlain});
    rows.push_back({"  its norm", head.added, Role::kPlain});
    rows.push_back({"+ x", head.x(), Role::kPlain});
  }
  if (head.result_norm.present()) {
    rows.push_back({"= sum", head.attended, Role::kPlain});
    rows.push_back({"  result", head.result, Role::kPlain});
  } else {
    rows.push_back({"= result", head.result, Role::kPlain});
  }
  return rows;
}

}  // namespace attnviz
