// Each step of an inspection in one row: all that is particular to it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "attnviz/analysis/inspection.h"
#include "attnviz/document/inspection_steps.h"
#include "attnviz/document/step_blocks.h"
#include "attnviz/document/words/step_words.h"

namespace attnviz {

/// Functions are called for heads that take the step only.
struct StepDefinition {
  std::string_view name;
  std::string_view other_name;               // "": none
  bool (*is_taken)(const Inspection& head);  // nullptr: every head takes it
  StepFormula (*formula)(const Inspection& head);
  std::string (*note)(const Inspection& head);  // nullptr: it has none
  std::string (*sentence)(const KeyWords& words);
  void (*blocks)(StepBlocks& blocks);  // nullptr: its numbers are a column of the table of keys,
  const char* title = "";              // and these what all queries do
  MatrixBuffer InspectedMatrices::*all_queries = nullptr;

  bool is_of_key_table() const noexcept { return blocks == nullptr; }
};

/// In the order of InspectionStep.
std::span<const StepDefinition> step_definitions() noexcept;
const StepDefinition& step_definition(InspectionStep step) noexcept;

}  // namespace attnviz
