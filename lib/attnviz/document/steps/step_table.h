// Each step of an inspection in one row: all that is particular to it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "attnviz/analysis/inspection.h"
#include "attnviz/document/steps/inspection_steps.h"
#include "attnviz/document/steps/step_blocks.h"
#include "attnviz/document/words/key_words.h"

namespace attnviz {

/// "q = x · W_Q" and "[4] · [4, 2] → [2]", in Unicode.
struct StepFormula {
  std::string formula;
  std::string shape;
};

/// Functions are called for heads that take the step only.
struct StepDefinition {
  InspectionStep step;
  std::string_view name;
  std::string_view other_name = "";                    // "": none
  bool (*is_taken)(const Inspection& head) = nullptr;  // nullptr: every head takes it
  StepFormula (*formula)(const Inspection& head) = nullptr;
  // What the numbers come from, told even when nothing is to be explained: "Mean of x² = 0.25, so
  // the root = 0.5."; empty where there is nothing to tell. nullptr: there never is.
  std::string (*note)(const Inspection& head) = nullptr;
  // A plain sentence, or two, that is true for the numbers of this head and query:
  // `"sat" looks mostly at "cat": 46 %, then at "The": 30 %.`
  std::string (*sentence)(const Inspection& head, const KeyWords& words) = nullptr;
  // nullptr: its numbers are a column of the table of keys, and what all queries do has this title.
  void (*blocks)(const Inspection& head, StepBlocks& to) = nullptr;
  const char* title = "";
  MatrixBuffer InspectedMatrices::*all_queries = nullptr;

  bool is_of_key_table() const noexcept { return blocks == nullptr; }
};

/// From x to rope: what is made of the tokens' vectors.
std::span<const StepDefinition> input_steps() noexcept;
/// From scores to softmax: the table of keys.
std::span<const StepDefinition> score_steps() noexcept;
/// From values to residual: what the weights take along.
std::span<const StepDefinition> output_steps() noexcept;

/// All of these, in the order of InspectionStep.
std::span<const StepDefinition> step_definitions();
const StepDefinition& step_definition(InspectionStep step);

// Words of steps that lie in several files.

/// "q = y · W_Q + b_Q".
std::string projection_formula(const Inspection& head, const char* to, const char* name,
                               const Projection& projection);
/// What the query is made of: "x", "y" or "c_Q".
const char* query_input(const Inspection& head) noexcept;
/// "LayerNorm" or "RMSNorm".
const char* norm_name(const Norm& norm) noexcept;
/// The model's own number under the root in place of d_head; d_head when it has none, 0 when its
/// scale is no such root.
std::size_t scale_root(const Inspection& head) noexcept;

}  // namespace attnviz
