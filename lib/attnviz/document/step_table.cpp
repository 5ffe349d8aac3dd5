#include "attnviz/document/step_table.h"

#include <fmt/core.h>

#include <array>
#include <cctype>
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

void norm(StepBlocks& blocks) {
  blocks.vectors(look_rows(blocks.head(), blocks.query_label()));
  blocks.full_matrix("Y", blocks.head().look->view(), Role::kPlain, kTokens);
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
    blocks.vectors(query_norm_rows(head));
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
    blocks.vectors(turned_rows(head), {.is_apart = true});
  } else {
    blocks.add(turns(head, blocks.is_full()));
  }
  blocks.keys(head.k.view(),
              {.caption = blocks.is_colored() ? "" : "keys turned:", .is_apart = true});
  blocks.full_matrix("Q turned", head.q.view(), Role::kQuery, kQueries);
  blocks.full_matrix("K turned", head.k.view(), Role::kKey, kKeys);
}

// What all queries do in a step of the table of keys.
template <MatrixBuffer InspectedMatrices::*kScores>
void all_queries(StepBlocks& blocks, const char* title) {
  if (blocks.is_full()) {
    blocks.matrix(title, ((*blocks.head().all).*kScores).view(), Role::kPlain, kQueries, kKeys);
  }
}

void scores(StepBlocks& blocks) {
  all_queries<&InspectedMatrices::scores>(blocks, "scores");
}

void scale(StepBlocks& blocks) {
  all_queries<&InspectedMatrices::scaled>(blocks, "scaled");
}

void cap(StepBlocks& blocks) {
  all_queries<&InspectedMatrices::capped>(blocks, "capped");
}

void mask(StepBlocks& blocks) {
  all_queries<&InspectedMatrices::masked>(blocks, "masked");
}

void softmax(StepBlocks& blocks) {
  all_queries<&InspectedMatrices::weights>(blocks, "weights");
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
    {"scores", "", nullptr, step_formulas::scores, nullptr, step_sentences::scores, scores, true},
    {"scale", "", nullptr, step_formulas::scale, nullptr, step_sentences::scale, scale, true},
    {"cap", "", [](const Inspection& head) { return head.soft_cap > 0.0f; }, step_formulas::cap,
     nullptr, step_sentences::cap, cap, true},
    {"mask", "", nullptr, step_formulas::mask, step_notes::mask, step_sentences::mask, mask, true},
    {"softmax", "weights", nullptr, step_formulas::softmax, nullptr, step_sentences::softmax,
     softmax, true},
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

std::string step_note(const Inspection& head, InspectionStep step) {
  const auto note = step_definition(step).note;
  std::string text = note == nullptr || !has_step(head, step) ? "" : note(head);
  if (!text.empty()) {
    text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
    text += '.';
  }
  return text;
}

}  // namespace attnviz
