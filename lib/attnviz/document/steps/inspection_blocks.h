// What the steps of an inspection are shown by: vectors, matrices, tables. Views walk them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "attnviz/color/role_colors.h"
#include "attnviz/core/tensor.h"
#include "attnviz/document/words/number_group.h"

namespace attnviz {

/// A text and what it is about.
struct RoleText {
  std::string text;
  InspectionRole role = InspectionRole::kPlain;
  bool is_faint = false;
};

/// One vector of a table: "q sat" and its numbers.
struct VectorRow {
  std::string label;
  std::span<const float> values;
  InspectionRole role = InspectionRole::kPlain;
};

/// Vectors of one size below each other, on one scale.
struct VectorBlock {
  std::vector<VectorRow> rows{};
  NumberGroup numbers{};  // that they are written as
  std::string caption{};
  std::vector<std::string> remarks{};                // below: "… 10 later keys are masked"
  bool is_apart = false;                             // from the block before it
  std::shared_ptr<const std::vector<float>> kept{};  // what a row looks at, where nobody has it
};

/// What a row or a column of a matrix is labelled with: a token, or the number of a dimension.
struct MatrixAxis {
  bool is_tokens = false;
  InspectionRole role = InspectionRole::kPlain;
};

struct MatrixBlock {
  std::string title;  // "W_Q"
  ConstMatrix values;
  MatrixAxis rows;
  MatrixAxis columns;
  InspectionRole role = InspectionRole::kPlain;
};

struct TableRow {
  RoleText label;
  bool is_faint = false;  // what stands beside it, too
};

struct TableColumn {
  std::string heading;
  InspectionRole role = InspectionRole::kPlain;
  std::vector<std::string> cells{};  // one a row
  bool with_previous = false;        // belongs to the column before it
};

/// Rows with their labels and columns of numbers, and a bar for each of the first rows.
struct TableBlock {
  RoleText corner;
  std::vector<TableRow> rows;
  std::vector<TableColumn> columns;
  std::vector<float> bars;  // empty: none
  double bar_end = 1.0;     // what a whole bar stands for
  std::vector<std::string> remarks;
};

/// What each key gives to the context: its value, its weight, and the product.
struct ShareBlock {
  struct Row {
    std::string label;
    std::span<const float> value;
    std::string weight;
    std::span<const float> share;
  };
  std::vector<Row> rows;
  ConstMatrix values, shares;      // of all keys: what the numbers are written as
  std::size_t weight_columns = 1;  // of the widest weight
  std::vector<std::string> remarks;
};

using InspectionBlock = std::variant<VectorBlock, MatrixBlock, TableBlock, ShareBlock>;

}  // namespace attnviz
