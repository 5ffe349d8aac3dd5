#include "attnviz/report/steps/inspection_document.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "attnviz/attention/interventions.h"
#include "attnviz/core/choices.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/report/steps/step_table.h"

namespace attnviz {

namespace {

using Role = InspectionRole;

std::vector<RoleText> head_facts(const Inspection& head, const TokenNames& names,
                                 InspectionDetail detail) {
  if (detail == InspectionDetail::kColored) {
    return {
        {head_title(head.head)},
        {fmt::format("query {} {}", head.query, names.word(head.query)), Role::kQuery},
        {fmt::format("{}   d_model {}   d_head {}   d_value {}", counted(head.n_tokens(), "token"),
                     head.d_model(), head.d_head(), head.d_value())}};
  }
  std::vector<RoleText> facts = {
      {head_title(head.head)},
      {fmt::format("query {} {}", head.query, names.word(head.query)), Role::kQuery},
      {counted(head.n_tokens(), "token")},
      {fmt::format("d_model {}", head.d_model())},
      {fmt::format("d_head {}", head.d_head())}};
  if (head.d_value() != head.d_head()) {
    facts.push_back({fmt::format("d_value {}", head.d_value())});
  }
  return facts;
}

// The steps in this head's order: norms of queries and keys may follow the rotation.
std::vector<const StepDefinition*> steps_of(const Inspection& head) {
  std::vector<const StepDefinition*> steps;
  for (const StepDefinition& step : step_definitions()) {
    steps.push_back(&step);
  }
  if (head.norms_turned) {
    std::ranges::iter_swap(
        std::ranges::find(steps, InspectionStep::kQueryKeyNorm, &StepDefinition::step),
        std::ranges::find(steps, InspectionStep::kRope, &StepDefinition::step));
  }
  return steps;
}

InspectedHead inspected_head(const InspectionPage& page, const Inspection& head,
                             InspectionDetail detail, const TokenNames& names) {
  InspectedHead made{head_facts(head, names, detail), {}};
  const KeyWords words(head, names);
  std::size_t number = 0;
  for (const StepDefinition* const taken : steps_of(head)) {
    const StepDefinition& step = *taken;
    number += has_step(head, step.step) ? 1u : 0u;
    if (!page.shows(head, step.step)) {
      continue;
    }
    StepFormula formula = step.formula(head);
    InspectedStep& shown = made.steps.emplace_back();
    shown.step = step.step;
    shown.number = number;
    shown.formula = std::move(formula.formula);
    shown.shape = page.batch ? batch_shape(head, step.step) : std::move(formula.shape);
    shown.sentence = page.explain ? step.sentence(head, words) : "";
    if (const std::string more = page.explain && page.batch ? batch_sentence(head, step.step) : "";
        !more.empty()) {
      shown.sentence += (shown.sentence.empty() ? "" : " ") + more;
    }
    shown.note = step.note == nullptr ? "" : step.note(head);
    StepBlocks blocks(page, head, detail, names, shown);
    if (!step.is_of_key_table()) {
      step.blocks(head, blocks);
      continue;
    }
    shown.goes_on = !page.ends_key_table(head, step.step);
    if (!shown.goes_on) {
      blocks.key_table();
    }
    blocks.full_matrix(step.title, step.all_queries, Role::kPlain, {true, Role::kQuery},
                       {true, Role::kKey});
  }
  return made;
}

}  // namespace

bool InspectionPage::shows(InspectionStep step) const noexcept {
  return steps.empty() || std::find(steps.begin(), steps.end(), step) != steps.end();
}

bool InspectionPage::shows(const Inspection& head, InspectionStep step) const {
  return has_step(head, step) && shows(step);
}

bool InspectionPage::ends_key_table(const Inspection& head, InspectionStep step) const {
  const auto goes_on = [&](const StepDefinition& later) {
    return later.step > step && later.is_of_key_table() && shows(head, later.step);
  };
  return step_definition(step).is_of_key_table() &&
         std::ranges::none_of(step_definitions(), goes_on);
}

std::span<const RoleText> inspection_legend() {
  static const RoleText legend[] = {
      {"q query", Role::kQuery}, {"k key", Role::kKey}, {"v value", Role::kValue}};
  return legend;
}

InspectionDocument inspection_document(const InspectionPage& page, InspectionDetail detail,
                                       bool ascii) {
  InspectionDocument document{
      TokenNames(page.tokens, ascii), page.full_title.value_or("inspect: " + page.title), {}};
  for (const Inspection& head : page.heads) {
    document.heads.push_back(inspected_head(page, head, detail, document.names));
  }
  return document;
}

namespace {

using Step = InspectionStep;

// "numbers 32 to 63", or "number 3" if there is only one.
std::string range_of(const char* one, std::size_t place, std::size_t size) {
  return size == 1 ? fmt::format("{} {}", one, place)
                   : fmt::format("{}s {} to {}", one, place * size, (place + 1) * size - 1);
}

}  // namespace

std::string batch_shape(const Inspection& head, InspectionStep step) {
  const std::size_t tokens = head.n_tokens();
  const std::size_t heads = head.n_heads;
  std::string x = fmt::format("[1, {}, {}]", tokens, head.d_model());
  const auto of_heads = [](std::size_t n, std::size_t rows, std::size_t cols) {
    return fmt::format("[1, {}, {}, {}]", n, rows, cols);
  };
  const auto projected = [&](std::size_t n, std::size_t width, const Projection& one) {
    return fmt::format("[1, {0}, {1}] · [{1}, {2} · {3}] → {4}", tokens, one.d_in(), n, one.d_out(),
                       of_heads(n, tokens, width));
  };
  std::string queries = of_heads(heads, tokens, head.d_head());
  std::string weights = of_heads(heads, tokens, tokens);
  std::string contexts = of_heads(heads, tokens, head.d_value());
  const std::size_t together = heads * head.d_value();
  switch (step) {
    case Step::kX:
    case Step::kNorm:
      return x;
    case Step::kLatents:
      return fmt::format("{} · [{}, {}] → [1, {}, {}]", x, head.d_model(),
                         head.latents.key_down.d_out(), tokens, head.latents.key_down.d_out());
    case Step::kQuery:
      return projected(heads, head.d_head(), head.weights_in.query);
    case Step::kKeys:
      return projected(head.n_kv_heads, head.d_head(), head.weights_in.key);
    case Step::kQueryKeyNorm:
    case Step::kRope:
      return queries;
    case Step::kScores:
      return fmt::format("{} · {} → {}", queries, of_heads(heads, head.d_head(), tokens), weights);
    case Step::kScale:
    case Step::kCap:
    case Step::kMask:
    case Step::kSoftmax:
      return weights;
    case Step::kValues:
      return projected(head.n_kv_heads, head.d_value(), head.weights_in.value);
    case Step::kContext:
      return fmt::format("{} · {} → {}", weights, contexts, contexts);
    case Step::kOutput:
      return fmt::format("{} → [1, {}, {}] · [{}, {}] → {}", contexts, tokens, together, together,
                         head.d_model(), x);
    case Step::kResidual:
      return head.has_output() ? x : fmt::format("{} → [1, {}, {}]", contexts, tokens, together);
  }
  return "";
}

std::string batch_sentence(const Inspection& head, InspectionStep step) {
  const std::size_t place = head.head.head;
  switch (step) {
    case Step::kQuery:
      return fmt::format("All heads at once: W_Q holds {} side by side; this head's part is {}.",
                         counted(head.n_heads, "head"), range_of("column", place, head.d_head()));
    case Step::kScores:
      return head.n_kv_heads == head.n_heads
                 ? ""
                 : fmt::format(
                       "The keys are those of {}, repeated for the {} heads that share them.",
                       counted(head.n_kv_heads, "head"), head.n_heads / head.n_kv_heads);
    case Step::kOutput:
      return fmt::format(
          "Concatenated, the contexts of the {} heads are {} numbers for each token. This head's "
          "are {}, which are multiplied by the same rows of W_O; the product adds up the outputs "
          "of all heads.",
          head.n_heads, head.n_heads * head.d_value(), range_of("number", place, head.d_value()));
    default:
      return "";
  }
}

std::span<const StepDefinition> step_definitions() {
  static const std::vector<StepDefinition> all = [] {
    std::vector<StepDefinition> made;
    for (const auto steps : {input_steps(), score_steps(), output_steps()}) {
      made.insert(made.end(), steps.begin(), steps.end());
    }
    return made;
  }();
  return all;
}

const StepDefinition& step_definition(InspectionStep step) {
  return *std::ranges::find(step_definitions(), step, &StepDefinition::step);
}

std::string_view inspection_step_name(InspectionStep step) {
  return step_definition(step).name;
}

std::vector<std::string> inspection_step_names() {
  std::vector<std::string> names;
  for (const StepDefinition& step : step_definitions()) {
    names.emplace_back(step.name);
  }
  return names;
}

std::string inspection_step_list() {
  std::vector<std::string> items;
  for (const StepDefinition& step : step_definitions()) {
    items.push_back(step.other_name.empty() ? std::string(step.name)
                                            : fmt::format("{} ({})", step.name, step.other_name));
  }
  return joined_by(items, ", ");
}

bool has_step(const Inspection& head, InspectionStep step) {
  const StepDefinition& definition = step_definition(step);
  return definition.is_taken == nullptr || definition.is_taken(head);
}

std::vector<InspectionStep> parse_inspection_steps(std::string_view option, std::string_view list) {
  const auto known = step_definitions();
  std::set<InspectionStep> steps;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string_view name = list.substr(begin, end - begin);
    const auto step = std::ranges::find_if(known, [name](const StepDefinition& definition) {
      return definition.name == name || (!name.empty() && definition.other_name == name);
    });
    if (step == known.end()) {
      const auto names = inspection_step_names();
      throw Error(ErrorKind::kUsage,
                  fmt::format("{}: expected {}, found {}{}", option, joined_by(names, ", "),
                              in_quotes(name), did_you_mean(name, names)));
    }
    steps.insert(step->step);
    begin = end + 1;
  }
  return {steps.begin(), steps.end()};
}

}  // namespace attnviz
