// Each step of an inspection in one row: all that is particular to it. The blocks of each step of
// an inspection.
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

/// The keys that stand in the tables of a page, and how many of the others there are.
struct ShownKeys {
  std::vector<std::size_t> keys;  // in order of position
  std::size_t masked_before = 0;  // masked keys that are not shown: before the query,
  std::size_t masked_after = 0;   // and after it
  std::size_t left_out = 0;       // visible keys that are not shown
};

/// Few tokens: every key. More: the visible ones, and of many those with the most weight, the
/// nearer ones of equals, and the query itself. `all`: every key.
ShownKeys shown_keys(const Inspection& head, bool all);

/// Puts blocks into one step of a document. What it is made of must outlive it.
class StepBlocks {
 public:
  StepBlocks(const InspectionPage& page, const Inspection& head, InspectionDetail detail,
             const TokenNames& names, InspectedStep& step)
      : page_(page), head_(head), names_(names), detail_(detail), step_(step) {}

  bool is_full() const noexcept { return detail_ == InspectionDetail::kFull; }
  bool is_colored() const noexcept { return detail_ == InspectionDetail::kColored; }
  const std::string& query_label() const { return names_.label(head_.query); }

  /// Columns that hold every number of these, so that what stands below each other is aligned.
  void align(std::initializer_list<ConstMatrix> matrices);
  /// Into `block`, which says how they stand.
  void vectors(std::vector<VectorRow> rows, VectorBlock block = {});
  /// The keys as they are at some step; a matrix holds them in a full document.
  void keys(ConstMatrix keys, VectorBlock block = {});
  void matrix(std::string title, ConstMatrix values, InspectionRole role, MatrixAxis rows = {},
              MatrixAxis columns = {});
  /// The same in a full document only, which has what a head does for all queries, too.
  void full_matrix(std::string title, ConstMatrix values, InspectionRole role, MatrixAxis rows = {},
                   MatrixAxis columns = {});
  void full_matrix(std::string title, MatrixBuffer InspectedMatrices::*all_queries,
                   InspectionRole role, MatrixAxis rows, MatrixAxis columns = {});
  /// W_… and b_… of a projection; in a full document only.
  void full_weights(const std::string& name, const Projection& projection, InspectionRole role);
  /// W_… over what it makes, column over column; in colours only.
  void colored_weights(std::string title, const Projection& projection, ConstMatrix made,
                       InspectionRole role);
  /// One row a key, from q · k to weight, as far as the page shows these steps; then the sums.
  void key_table();
  void shares();
  void add(InspectionBlock block) { step_.blocks.push_back(std::move(block)); }

 private:
  /// What is said of the keys that are not shown.
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
