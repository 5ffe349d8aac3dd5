#include "attnviz/document/step_table.h"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <memory>
#include <numbers>
#include <utility>
#include <vector>

namespace attnviz {

namespace {

using Role = InspectionRole;

constexpr MatrixAxis kTokens{true, Role::kPlain};
constexpr MatrixAxis kQueries{true, Role::kQuery};
constexpr MatrixAxis kKeys{true, Role::kKey};

void x(StepBlocks& blocks) {
  blocks.vectors({{"x " + blocks.query_label(), blocks.head().x(), Role::kPlain}});
  blocks.full_matrix("X", blocks.head().input->view(), Role::kPlain, kTokens);
}

// What a norm makes of a vector: before it, its weights and biases, behind it.
std::vector<VectorRow> norm_rows(const Norm& norm, VectorRow before, VectorRow after) {
  std::vector<VectorRow> rows = {std::move(before), {"w", norm.weight, Role::kPlain}};
  if (!norm.bias.empty()) {
    rows.push_back({"b", norm.bias, Role::kPlain});
  }
  rows.push_back(std::move(after));
  return rows;
}

void norm(StepBlocks& blocks) {
  const Inspection& head = blocks.head();
  blocks.vectors(norm_rows(head.norm, {"x " + blocks.query_label(), head.x(), Role::kPlain},
                           {"y " + blocks.query_label(), head.y(), Role::kPlain}));
  blocks.full_matrix("Y", head.look->view(), Role::kPlain, kTokens);
}

void query(StepBlocks& blocks) {
  const Projection& projection = blocks.head().weights_in.query;
  const ConstMatrix queries = blocks.head().projected_queries();
  const ConstMatrix q = queries.row_block(blocks.head().query, 1);
  if (blocks.is_colored()) {
    blocks.align({projection.weight.as_floats(), q});
    blocks.matrix("W_Q", projection.weight.as_floats(), Role::kQuery);
  }
  blocks.vectors({{"q " + blocks.query_label(), q.row(0), Role::kQuery}});
  blocks.full_weights("Q", projection, Role::kQuery);
  blocks.full_matrix("Q", queries, Role::kQuery, kQueries);
}

void keys(StepBlocks& blocks) {
  const Projection& projection = blocks.head().weights_in.key;
  const ConstMatrix keys = blocks.head().projected_keys();
  if (blocks.is_colored()) {
    blocks.align({projection.weight.as_floats(), keys});
    blocks.matrix("W_K", projection.weight.as_floats(), Role::kKey);
  }
  blocks.keys(keys);
  blocks.full_weights("K", projection, Role::kKey);
  blocks.full_matrix("K", keys, Role::kKey, kKeys);
}

void query_key_norm(StepBlocks& blocks) {
  const Inspection& head = blocks.head();
  if (head.query_norm.present()) {
    blocks.vectors(norm_rows(head.query_norm,
                             {"q before", head.projected_queries().row(head.query), Role::kQuery},
                             {"q after", head.upright_queries().row(head.query), Role::kQuery}));
  }
  if (head.key_norm.present()) {
    blocks.vectors({{"w of k", head.key_norm.weight, Role::kPlain}}, {.is_apart = true});
    blocks.keys(head.upright_keys());
  }
  blocks.full_matrix("Q normed", head.upright_queries(), Role::kQuery, kQueries);
  blocks.full_matrix("K normed", head.upright_keys(), Role::kKey, kKeys);
}

// One row a pair of dimensions that turns: its frequency, the query's angle in radians, and the
// pair before and after. Of many pairs the first, how many are between, and the last.
TableBlock turns(const Inspection& head, bool all) {
  constexpr std::size_t kFewPairs = 8;
  constexpr std::size_t kFirstPairs = 6;
  const InspectedRope& rope = *head.rope;
  const std::size_t n_pairs = rope.n_pairs();
  const auto before = head.upright_queries().row(head.query);
  const auto after = head.q.view().row(head.query);
  NumberGroup numbers(before);
  numbers.add(after);
  TableBlock table;
  table.corner = {"pair"};
  table.columns = {{"frequency", Role::kPlain, {}, false}, {"angle", Role::kPlain, {}, false},
                   {"q before", Role::kQuery, {}, false},  {"", Role::kQuery, {}, true},
                   {"q after", Role::kQuery, {}, false},   {"", Role::kQuery, {}, true}};
  const auto add_row = [&table](std::string label, const std::vector<std::string>& cells) {
    table.rows.push_back({{std::move(label)}});
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      table.columns[i].cells.push_back(cells[i]);
    }
  };
  for (std::size_t pair = 0; pair < n_pairs; ++pair) {
    if (!all && n_pairs > kFewPairs && pair == kFirstPairs) {
      add_row(fmt::format("… {} more …", n_pairs - kFirstPairs - 1),
              std::vector<std::string>(table.columns.size()));
      pair = n_pairs - 1;
    }
    const double frequency = rope.frequencies[pair];
    const auto [first, other] = rope.dimensions(pair);
    add_row(fmt::format("{}, {}", first, other),
            {fmt::format("{:.4g}", frequency),
             fmt::format("{:.4g}", frequency * static_cast<double>(head.query)),
             numbers.text(before[first]), numbers.text(before[other]), numbers.text(after[first]),
             numbers.text(after[other])});
  }
  return table;
}

// The angle of each dimension of the query.
std::vector<float> angles_of(const Inspection& head) {
  constexpr double kTurn = 2.0 * std::numbers::pi;
  std::vector<float> made(head.d_head(), 0.0f);
  for (std::size_t pair = 0; pair < head.rope->n_pairs(); ++pair) {
    const double angle = static_cast<double>(head.query) * head.rope->frequencies[pair];
    const auto [first, other] = head.rope->dimensions(pair);
    made[first] = made[other] = static_cast<float>(std::remainder(angle, kTurn));
  }
  return made;
}

void rope(StepBlocks& blocks) {
  const Inspection& head = blocks.head();
  const ConstMatrix upright = head.upright_queries().row_block(head.query, 1);
  if (blocks.is_colored()) {
    // The angle of each dimension stands over its number.
    const auto angles = std::make_shared<const std::vector<float>>(angles_of(head));
    const std::size_t n = angles->size();
    blocks.align({{angles->data(), 1, n, n}, upright, head.k.view()});
    blocks.vectors({{"angle, −π to π", *angles, Role::kPlain}}, {.kept = angles});
    blocks.vectors({{"q before", upright.row(0), Role::kQuery},
                    {"q after", head.q.view().row(head.query), Role::kQuery}},
                   {.is_apart = true});
  } else {
    blocks.add(turns(head, blocks.is_full()));
  }
  blocks.keys(head.k.view(),
              {.caption = blocks.is_colored() ? "" : "keys turned:", .is_apart = true});
  blocks.full_matrix("Q turned", head.q.view(), Role::kQuery, kQueries);
  blocks.full_matrix("K turned", head.k.view(), Role::kKey, kKeys);
}

void values(StepBlocks& blocks) {
  const Inspection& head = blocks.head();
  if (!blocks.is_full()) {
    blocks.shares();
  }
  blocks.full_weights("V", head.weights_in.value, Role::kValue);
  blocks.full_matrix("V", head.v.view(), Role::kValue, {true, Role::kValue});
  blocks.full_matrix("weight · v", head.shares.view(), Role::kValue, kKeys);
}

void context(StepBlocks& blocks) {
  blocks.vectors({{"context", blocks.head().context, Role::kValue}});
  if (blocks.is_full()) {
    blocks.matrix("context", blocks.head().all->context.view(), Role::kValue, kQueries);
  }
}

void output(StepBlocks& blocks) {
  if (!blocks.head().has_output()) {
    return;
  }
  blocks.vectors({{"output", blocks.head().output, Role::kValue}});
  blocks.full_matrix("W_O", blocks.head().w_output, Role::kPlain);
  if (blocks.is_full()) {
    blocks.matrix("output", blocks.head().all->output.view(), Role::kValue, kQueries);
  }
}

// x + output = result, with what else is added and the norms between; the result alone where a
// layer has no W_O.
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

void residual(StepBlocks& blocks) {
  blocks.vectors(residual_rows(blocks.head()));
}

// In the order of the enumerators.
constexpr std::array<StepDefinition, kInspectionSteps> kSteps = {{
    {"x", "", nullptr, step_formulas::x, nullptr, step_sentences::x, x},
    {"norm", "", [](const Inspection& head) { return head.norm.present(); }, step_formulas::norm,
     step_notes::norm, step_sentences::norm, norm},
    {"query", "q", nullptr, step_formulas::query, nullptr, step_sentences::query, query},
    {"keys", "k", nullptr, step_formulas::keys, step_notes::keys, step_sentences::keys, keys},
    {"qk-norm", "", [](const Inspection& head) { return head.norms_queries(); },
     step_formulas::query_key_norm, step_notes::query_key_norm, step_sentences::query_key_norm,
     query_key_norm},
    {"rope", "", [](const Inspection& head) { return head.rope.has_value(); }, step_formulas::rope,
     step_notes::rope, step_sentences::rope, rope},
    {"scores", "", nullptr, step_formulas::scores, nullptr, step_sentences::scores, nullptr,
     "scores", &InspectedMatrices::scores},
    {"scale", "", nullptr, step_formulas::scale, nullptr, step_sentences::scale, nullptr, "scaled",
     &InspectedMatrices::scaled},
    {"cap", "", [](const Inspection& head) { return head.soft_cap > 0.0f; }, step_formulas::cap,
     nullptr, step_sentences::cap, nullptr, "capped", &InspectedMatrices::capped},
    {"mask", "", nullptr, step_formulas::mask, step_notes::mask, step_sentences::mask, nullptr,
     "masked", &InspectedMatrices::masked},
    {"softmax", "weights", nullptr, step_formulas::softmax, nullptr, step_sentences::softmax,
     nullptr, "weights", &InspectedMatrices::weights},
    {"values", "v", nullptr, step_formulas::values, nullptr, step_sentences::values, values},
    {"context", "", nullptr, step_formulas::context, nullptr, step_sentences::context, context},
    {"output", "", nullptr, step_formulas::output, nullptr, step_sentences::output, output},
    {"residual", "", nullptr, step_formulas::residual, step_notes::residual,
     step_sentences::residual, residual},
}};

}  // namespace

std::span<const StepDefinition> step_definitions() noexcept {
  return kSteps;
}

const StepDefinition& step_definition(InspectionStep step) noexcept {
  return kSteps[static_cast<std::size_t>(step)];
}

}  // namespace attnviz
