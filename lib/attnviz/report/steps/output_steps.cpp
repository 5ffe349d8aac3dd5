// The steps from values to residual: how the weights mix the values.

#include <fmt/core.h>

#include <cmath>
#include <utility>
#include <vector>

#include "attnviz/core/message.h"
#include "attnviz/report/steps/step_table.h"
#include "attnviz/report/words/number_formats.h"

namespace attnviz {

namespace {

using Keys = KeyWords::Keys;
using Role = InspectionRole;
using Step = InspectionStep;

double length(std::span<const float> values) noexcept {
  double sum = 0.0;
  for (const float value : values) {
    sum += static_cast<double>(value) * static_cast<double>(value);
  }
  return std::sqrt(sum);
}

StepFormula values_formula(const Inspection& head) {
  const std::string norm =
      head.value_norm.present() ? fmt::format(", through {}", norm_name(head.value_norm)) : "";
  return {projection_formula(head, "v", "V", head.weights_in.value) + norm + "; share = weight · v",
          fmt::format("[{0}, {1}] · [{1}, {2}] → [{0}, {2}]", head.n_tokens(),
                      head.weights_in.value.d_in(), head.d_value())};
}

std::string values_sentence(const Inspection& head, const KeyWords& words) {
  std::vector<float> lengths;
  lengths.reserve(head.n_tokens());
  for (std::size_t key = 0; key < head.n_tokens(); ++key) {
    lengths.push_back(static_cast<float>(length(head.shares.view().row(key))));
  }
  const Keys sorted = KeyWords::sorted_by(words.visible(), lengths);
  if (sorted.empty() || lengths[sorted.front()] == 0.0f) {
    return "Every share is 0: the query takes up nothing.";
  }
  const Keys best = KeyWords::ties(sorted, lengths);
  if (words.visible().size() == 1) {
    return fmt::format("The query takes up only the value of {}.",
                       words.quoted(words.visible().front()));
  }
  if (best.size() > 1) {
    return fmt::format(
        "Each value is multiplied by its weight; the longest shares are those of {}.",
        words.named(best));
  }
  return fmt::format(
      "Each value is multiplied by its weight; the longest share is that of {}, with length "
      "{:.4g}.",
      words.quoted(best.front()), lengths[best.front()]);
}

void values_blocks(const Inspection& head, StepBlocks& to) {
  if (!to.is_full()) {
    to.shares();
  }
  to.full_weights("V", head.weights_in.value, Role::kValue);
  to.full_matrix("V", head.v.view(), Role::kValue, {true, Role::kValue});
  to.full_matrix("weight · v", head.shares.view(), Role::kValue, {true, Role::kKey});
}

StepFormula context_formula(const Inspection& head) {
  if (head.ablation) {
    return {head.ablation->by_mean
                ? "context = its mean over all queries, instead of the sum of all weight · v"
                : "context = 0, instead of the sum of all weight · v",
            fmt::format("[{}]", head.d_value())};
  }
  if (!head.gate.empty()) {
    return {"context = (sum of all weight · v) ∘ σ(y · W_G)",
            fmt::format("[{0}] · [{0}, {1}] → [{1}]; [{2}] · [{2}, {1}] → [{1}]", head.n_tokens(),
                        head.d_value(), head.d_model())};
  }
  return {"context = sum of all weight · v",
          fmt::format("[{0}] · [{0}, {1}] → [{1}]", head.n_tokens(), head.d_value())};
}

std::string context_note(const Inspection& head) {
  return !head.ablation ? ""
         : head.ablation->by_mean
             ? "This head is ablated: it outputs the same for every token, its mean output in an "
               "unchanged run."
             : "This head is ablated: it outputs 0, regardless of its weights.";
}

std::string context_sentence(const Inspection& head, const KeyWords& words) {
  if (head.ablation) {
    return "The weighted sum of values is not used.";
  }
  constexpr std::size_t kMostParts = 3;
  Keys taken;
  for (const std::size_t key : words.visible()) {
    if (head.weights[key] > 0.0f) {
      taken.push_back(key);
    }
  }
  if (taken.empty()) {
    return "All weights are 0, and so is the context.";
  }
  const Keys sorted = KeyWords::sorted_by(taken, head.weights);
  // A single remaining part is named, not counted.
  const std::size_t named = sorted.size() <= kMostParts + 1 ? sorted.size() : kMostParts;
  std::vector<std::string> parts;
  parts.reserve(named);
  for (std::size_t i = 0; i < named; ++i) {
    parts.push_back(
        fmt::format("{} of {}", percentage(head.weights[sorted[i]]), words.quoted(sorted[i])));
  }
  if (named < sorted.size()) {
    double rest = 0.0;
    for (std::size_t i = named; i < sorted.size(); ++i) {
      rest += static_cast<double>(head.weights[sorted[i]]);
    }
    parts.push_back(fmt::format("{} of the {} others", percentage(static_cast<float>(rest)),
                                sorted.size() - named));
  }
  return fmt::format(
      "The context is a mixture of values: {}.{}{}", joined(parts, "and"),
      head.sink ? fmt::format(" The {} of the learned sink contribute nothing.",
                              percentage(head.sink->weight))
                : "",
      head.gate.empty() ? "" : " A gate computed from the query then scales each of its numbers.");
}

void context_blocks(const Inspection& head, StepBlocks& to) {
  if (head.gate.empty()) {
    to.vectors({{"context", head.context, Role::kValue}});
  } else {
    to.vectors({{"  mixture", head.mixture, Role::kValue},
                {"∘ gate", head.gate, Role::kQuery},
                {"= context", head.context, Role::kValue}});
    to.full_weights("G", head.weights_in.output_gate, Role::kQuery);
  }
  to.full_matrix("context", &InspectedMatrices::context, Role::kValue, kQueryRows);
}

StepFormula output_formula(const Inspection& head) {
  if (!head.has_output()) {
    return {"output: the context itself, as there is no W_O", fmt::format("[{}]", head.d_value())};
  }
  return {"output = context · W_O",
          fmt::format("[{0}] · [{0}, {1}] → [{1}]", head.d_value(), head.d_model())};
}

std::string output_sentence(const Inspection& head, const KeyWords&) {
  if (!head.has_output()) {
    return "Without W_O the head's output is its context.";
  }
  return fmt::format("W_O maps the {} of the context to {}, as many as x has.",
                     counted(head.d_value(), "number"), counted(head.d_model(), "number"));
}

void output_blocks(const Inspection& head, StepBlocks& to) {
  if (!head.has_output()) {
    return;
  }
  to.vectors({{"output", head.output, Role::kValue}});
  to.full_matrix("W_O", head.w_output, Role::kPlain);
  to.full_matrix("output", &InspectedMatrices::output, Role::kValue, kQueryRows);
}

StepFormula residual_formula(const Inspection& head) {
  if (!head.has_output()) {
    return {head.n_heads == 1 ? "result = context (x is not added without W_O)"
                              : "result = all heads' contexts side by side",
            fmt::format("[{}]", head.result.size())};
  }
  const bool is_changed = head.changes_branch();
  std::string sum = head.residual && !is_changed ? "x + output" : "output";
  sum += head.n_heads > 1 ? " + other heads" : "";
  sum += head.b_output.empty() ? "" : " + b_O";
  sum += head.states.empty() ? "" : " + states";
  if (is_changed) {
    sum = fmt::format("x + {}{}({})",
                      head.branch_scale == 1.0f ? "" : fmt::format("{:.4g} · ", head.branch_scale),
                      head.after_norm.present() ? norm_name(head.after_norm) : "", sum);
  }
  if (!head.laurel.empty()) {
    sum = fmt::format("({} + LAuReL) ÷ √2", sum);
  }
  if (head.result_norm.present()) {
    sum = fmt::format("{}({})", norm_name(head.result_norm), sum);
  }
  return {"result = " + sum, fmt::format("[{}]", head.result.size())};
}

constexpr const char* kMlpNext = "The layer's MLP, which works on each token alone, comes next.";

std::string residual_note(const Inspection& head) {
  if (head.mlp_ablation) {
    return fmt::format("The layer's MLP is ablated: {} is added instead.",
                       head.mlp_ablation->by_mean ? "its mean over all tokens" : "0");
  }
  if (!head.states.empty()) {
    return fmt::format("Mamba-2 states run beside the heads and add their own output. {}",
                       kMlpNext);
  }
  switch (head.order) {
    case LayerOrder::kAttentionOnly:
      return {};
    case LayerOrder::kParallel:
      return "The layer's MLP, which reads the same x as attention, adds its own part.";
    case LayerOrder::kPreNorm:
    case LayerOrder::kPostNorm:
      break;
  }
  return kMlpNext;
}

std::string residual_sentence(const Inspection& head, const KeyWords& words) {
  const std::size_t n = head.n_heads;
  if (!head.has_output()) {
    const std::size_t first = head.context_in_result;
    const std::size_t last = first + head.d_value() - 1;
    return n == 1 ? "The layer outputs the head's context; x is not added."
                  : fmt::format(
                        "The contexts of {} heads stand side by side, this one's at {}{}; x is not "
                        "added.",
                        n, first, last == first ? "" : fmt::format(" to {}", last));
  }
  if (!head.residual) {
    return fmt::format(
        "This model does not add x: {} the place of {}.",
        n == 1 ? "the output takes" : fmt::format("the outputs of {} heads together take", n),
        words.query());
  }
  const double before = length(head.x());
  const double added = length(head.output);
  const std::string others = counted(n - 1, "other head");
  if (head.changes_branch()) {
    return fmt::format(
        "The head's part has length {:.3g}{}; their sum {}, so a vector of length {:.3g} is added "
        "to x, whose length is {:.3g}.{}",
        added,
        n == 1 ? "" : fmt::format(", and {} {}", others, n == 2 ? "adds its own" : "add theirs"),
        head.after_norm.present() ? "goes through a norm"
                                  : fmt::format("is multiplied by {:.4g}", head.branch_scale),
        length(head.added), before,
        head.laurel.empty() ? ""
                            : fmt::format(" The layer's learned residual (LAuReL) adds one of "
                                          "length {:.3g}, and the sum is divided by √2.",
                                          length(head.laurel)));
  }
  return fmt::format(
      "The head adds a vector of length {:.3g} to x, whose length is {:.3g}{}.{}", added, before,
      n == 1 ? "" : fmt::format("; {} {}, too", others, n == 2 ? "adds its own" : "add theirs"),
      head.result_norm.present() ? " The sum then goes through a norm." : "");
}

// x + output = result, with other summands and the norms between; the result alone if a layer has
// no W_O.
void residual_blocks(const Inspection& head, StepBlocks& to) {
  if (!head.has_output()) {
    to.vectors({{"  result", head.result, Role::kPlain}});
    return;
  }
  std::vector<VectorRow> rows;
  const auto add = [&rows](const char* label, std::span<const float> values) {
    if (!values.empty()) {
      rows.push_back({label, values, Role::kPlain});
    }
  };
  const bool is_changed = head.changes_branch();
  const bool is_first = !head.residual || is_changed;
  if (!is_first) {
    add("  x", head.x());
  }
  rows.push_back({is_first ? "  output" : "+ output", head.output, Role::kValue});
  add("+ other heads", head.others);
  add("+ b_O", head.b_output);
  add("+ states", head.states);
  if (is_changed) {
    add("= sum", head.attended);
    add(head.after_norm.present() ? "  its norm" : "  scaled", head.added);
    add("+ x", head.x());
    add("+ LAuReL", head.laurel);
  }
  if (head.result_norm.present()) {
    add("= sum", head.attended);
  }
  add(head.result_norm.present() ? "  result" : "= result", head.result);
  to.vectors(std::move(rows));
}

constexpr StepDefinition kOutputSteps[] = {
    {Step::kValues, "values", "v", nullptr, values_formula, nullptr, values_sentence,
     values_blocks},
    {Step::kContext, "context", "", nullptr, context_formula, context_note, context_sentence,
     context_blocks},
    {Step::kOutput, "output", "", nullptr, output_formula, nullptr, output_sentence, output_blocks},
    {Step::kResidual, "residual", "", nullptr, residual_formula, residual_note, residual_sentence,
     residual_blocks}};

}  // namespace

std::span<const StepDefinition> output_steps() noexcept {
  return kOutputSteps;
}

}  // namespace attnviz
