#include "attnviz/document/steps/inspection_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "attnviz/core/choices.h"
#include "attnviz/core/error.h"
#include "attnviz/core/message.h"
#include "attnviz/document/steps/step_table.h"

namespace attnviz {

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
  return fmt::format("{}", fmt::join(items, ", "));
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
                  fmt::format("{}: expected {}, found {}{}", option, fmt::join(names, ", "),
                              quoted(name), did_you_mean(name, names)));
    }
    steps.insert(step->step);
    begin = end + 1;
  }
  return {steps.begin(), steps.end()};
}

}  // namespace attnviz
