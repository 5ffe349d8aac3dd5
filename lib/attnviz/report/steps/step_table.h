// The definition of each inspection step in one row, with everything specific to it. The blocks of
// each step.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnviz/analysis/inspection.h"
#include "attnviz/report/steps/inspection_document.h"
#include "attnviz/report/words/words.h"

namespace attnviz {

/// A row for each query.
inline constexpr MatrixAxis kQueryRows{true, InspectionRole::kQuery};

/// The keys in the tables of a page, and the numbers of the others.
struct ShownKeys {
  std::vector<std::size_t> keys;  // in order of position
  std::size_t masked_before = 0;  // masked keys that are not listed: before the query,
  std::size_t masked_after = 0;   // and after it
  std::size_t left_out = 0;       // visible keys that are not listed
};

/// Chooses the keys to list: every key for few tokens or if `all`; otherwise the visible ones or,
/// if these are many, those with the largest weights (nearer ones first among equals), and the
/// query itself.
ShownKeys shown_keys(const Inspection& head, bool all);

/// Adds blocks to one step of a document. The source data must outlive it.
class StepBlocks {
 public:
  StepBlocks(const InspectionPage& page, const Inspection& head, InspectionDetail detail,
             const TokenNames& names, InspectedStep& step)
      : page_(page), head_(head), names_(names), detail_(detail), step_(step) {}

  bool is_full() const noexcept { return detail_ == InspectionDetail::kFull; }
  bool is_colored() const noexcept { return detail_ == InspectionDetail::kColored; }
  const std::string& query_label() const { return names_.label(head_.query); }

  /// Sets the column width to hold every number of these matrices, so that their columns align.
  void align(std::initializer_list<ConstMatrix> matrices);
  /// Adds rows to `block`, which has their layout.
  void vectors(std::vector<VectorRow> rows, VectorBlock block = {});
  /// Adds the keys at some step; in a full document as a matrix.
  void keys(ConstMatrix keys, VectorBlock block = {});
  void matrix(std::string title, ConstMatrix values, InspectionRole role, MatrixAxis rows = {},
              MatrixAxis columns = {});
  /// The same in a full document only, which also has the values for all queries.
  void full_matrix(std::string title, ConstMatrix values, InspectionRole role, MatrixAxis rows = {},
                   MatrixAxis columns = {});
  void full_matrix(std::string title, MatrixBuffer InspectedMatrices::*all_queries,
                   InspectionRole role, MatrixAxis rows, MatrixAxis columns = {});
  /// Adds W_… and b_… of a projection; in a full document only.
  void full_weights(const std::string& name, const Projection& projection, InspectionRole role);
  /// Adds W_… above its result, with aligned columns; in colours only.
  void colored_weights(std::string title, const Projection& projection, ConstMatrix made,
                       InspectionRole role);
  /// Adds one row per key, from q · k to weight, as far as the page shows these steps, then the
  /// sums.
  void key_table();
  void shares();
  void add(InspectionBlock block) { step_.blocks.push_back(std::move(block)); }

 private:
  /// Remarks on the keys that are not shown.
  std::vector<std::string> left_out(const ShownKeys& shown) const;

  const InspectionPage& page_;
  const Inspection& head_;
  const TokenNames& names_;
  InspectionDetail detail_;
  InspectedStep& step_;
};

/// "q = x · W_Q" and "[4] · [4, 2] → [2]", in Unicode.
struct StepFormula {
  std::string formula;
  std::string shape;
};

/// The functions are called only for heads that take the step.
struct StepDefinition {
  InspectionStep step;
  std::string_view name;
  std::string_view other_name = "";                    // "": none
  bool (*is_taken)(const Inspection& head) = nullptr;  // nullptr: every head takes it
  StepFormula (*formula)(const Inspection& head) = nullptr;
  // Where the numbers come from, stated even without explanations: "Mean of x² = 0.25, so the root
  // = 0.5."; empty if nothing needs to be stated. nullptr: always empty.
  std::string (*note)(const Inspection& head) = nullptr;
  // A plain sentence or two, true for the numbers of this head and query: `"sat" looks mostly at
  // "cat": 46 %, then at "The": 30 %.`
  std::string (*sentence)(const Inspection& head, const KeyWords& words) = nullptr;
  // nullptr: its numbers are a column of the table of keys, and the values of all queries have this
  // title.
  void (*blocks)(const Inspection& head, StepBlocks& to) = nullptr;
  const char* title = "";
  MatrixBuffer InspectedMatrices::*all_queries = nullptr;

  bool is_of_key_table() const noexcept { return blocks == nullptr; }
};

/// From x to rope: how the tokens' vectors are computed.
std::span<const StepDefinition> input_steps() noexcept;
/// From scores to softmax: the table of keys.
std::span<const StepDefinition> score_steps() noexcept;
/// From values to residual: how the weights mix the values.
std::span<const StepDefinition> output_steps() noexcept;

/// All steps, in the order of InspectionStep.
std::span<const StepDefinition> step_definitions();
const StepDefinition& step_definition(InspectionStep step);

// Wording shared by several files.

/// "q = y · W_Q + b_Q".
std::string projection_formula(const Inspection& head, const char* to, const char* name,
                               const Projection& projection);
/// The input of the query projection: "x", "y" or "c_Q".
const char* query_input(const Inspection& head) noexcept;
/// "LayerNorm" or "RMSNorm".
const char* norm_name(const Norm& norm) noexcept;
/// The number under the root if the model uses its own instead of d_head; d_head if it has none, 0
/// if its scale is not of this form.
std::size_t scale_root(const Inspection& head) noexcept;

}  // namespace attnviz
