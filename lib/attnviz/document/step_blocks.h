// The blocks of each step of an inspection.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "attnviz/analysis/inspection.h"
#include "attnviz/document/inspection_document.h"
#include "attnviz/document/shown_keys.h"
#include "attnviz/document/words/token_names.h"

namespace attnviz {

/// Puts blocks into one step of a document. What it is made of must outlive it.
class StepBlocks {
 public:
  StepBlocks(const InspectionPage& page, const Inspection& head, InspectionDetail detail,
             const TokenNames& names, InspectedStep& step)
      : page_(page), head_(head), names_(names), detail_(detail), step_(step) {}

  const Inspection& head() const noexcept { return head_; }
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
  /// The same in a full document only.
  void full_matrix(std::string title, ConstMatrix values, InspectionRole role, MatrixAxis rows = {},
                   MatrixAxis columns = {});
  /// W_… and b_… of a projection; in a full document only.
  void full_weights(const std::string& name, const Projection& projection, InspectionRole role);
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

}  // namespace attnviz
