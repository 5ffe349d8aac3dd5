#include "attnviz/document/steps/step_blocks.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace attnviz {

ShownKeys shown_keys(const Inspection& head, bool all) {
  constexpr std::size_t kFewTokens = 16;
  constexpr std::size_t kMostKeys = 24;
  ShownKeys shown;
  std::vector<std::size_t> visible;
  for (std::size_t key = 0; key < head.n_tokens(); ++key) {
    if (head.is_visible(key)) {
      visible.push_back(key);
    } else if (all || head.n_tokens() <= kFewTokens) {
      shown.keys.push_back(key);
    } else {
      ++(key < head.query ? shown.masked_before : shown.masked_after);
    }
  }
  if (!all && visible.size() > kMostKeys) {
    const auto distance = [&](std::size_t key) {
      return key < head.query ? head.query - key : key - head.query;
    };
    const auto goes_before = [&](std::size_t a, std::size_t b) {
      if (a == head.query || b == head.query) {
        return a == head.query && b != head.query;
      }
      return head.weights[a] != head.weights[b]
                 ? head.weights[a] > head.weights[b]
                 : std::pair(distance(a), a) < std::pair(distance(b), b);
    };
    std::sort(visible.begin(), visible.end(), goes_before);
    shown.left_out = visible.size() - kMostKeys;
    visible.resize(kMostKeys);
  }
  shown.keys.insert(shown.keys.end(), visible.begin(), visible.end());
  std::sort(shown.keys.begin(), shown.keys.end());
  return shown;
}

void StepBlocks::align(std::initializer_list<ConstMatrix> matrices) {
  for (const ConstMatrix values : matrices) {
    step_.number_columns = std::max(step_.number_columns, NumberGroup(values).width());
  }
}

void StepBlocks::vectors(std::vector<VectorRow> rows, VectorBlock block) {
  for (const VectorRow& row : rows) {
    block.numbers.add(row.values);
  }
  block.rows = std::move(rows);
  add(std::move(block));
}

void StepBlocks::keys(ConstMatrix keys, VectorBlock block) {
  if (is_full()) {
    return;
  }
  const ShownKeys shown = shown_keys(head_, /*all=*/false);
  if (!is_colored()) {
    block.numbers.add(keys);
  }
  block.remarks = left_out(shown);
  std::vector<VectorRow> rows;
  for (const std::size_t key : shown.keys) {
    rows.push_back({"k " + names_.indexed(key), keys.row(key), InspectionRole::kKey});
  }
  vectors(std::move(rows), std::move(block));
}

void StepBlocks::matrix(std::string title, ConstMatrix values, InspectionRole role, MatrixAxis rows,
                        MatrixAxis columns) {
  add(MatrixBlock{std::move(title), values, rows, columns, role});
}

void StepBlocks::full_matrix(std::string title, ConstMatrix values, InspectionRole role,
                             MatrixAxis rows, MatrixAxis columns) {
  if (is_full()) {
    matrix(std::move(title), values, role, rows, columns);
  }
}

void StepBlocks::full_matrix(std::string title, MatrixBuffer InspectedMatrices::*all_queries,
                             InspectionRole role, MatrixAxis rows, MatrixAxis columns) {
  if (is_full()) {
    matrix(std::move(title), ((*head_.all).*all_queries).view(), role, rows, columns);
  }
}

void StepBlocks::full_weights(const std::string& name, const Projection& projection,
                              InspectionRole role) {
  full_matrix("W_" + name, projection.weight.as_floats(), role);
  if (const std::size_t n = projection.bias.size(); n > 0) {
    full_matrix("b_" + name, {projection.bias.data(), 1, n, n}, role);
  }
}

void StepBlocks::colored_weights(std::string title, const Projection& projection, ConstMatrix made,
                                 InspectionRole role) {
  if (is_colored()) {
    const ConstMatrix weights = projection.weight.as_floats();
    align({weights, made});
    matrix(std::move(title), weights, role);
  }
}

void StepBlocks::shares() {
  const ShownKeys shown = shown_keys(head_, /*all=*/false);
  const NumberGroup weights(head_.weights);
  ShareBlock block{{}, head_.v.view(), head_.shares.view(), weights.width(), left_out(shown)};
  for (const std::size_t key : shown.keys) {
    if (head_.is_visible(key)) {
      block.rows.push_back({"v " + names_.indexed(key), block.values.row(key),
                            weights.text(head_.weights[key]), block.shares.row(key)});
    }
  }
  add(std::move(block));
}

// In colours one line of few words, else a sentence for each reason.
std::vector<std::string> StepBlocks::left_out(const ShownKeys& shown) const {
  std::vector<std::string> told;
  const auto tell = [&](std::size_t count, const char* which, const char* with, const char* fate) {
    if (count == 0) {
      return;
    }
    if (!is_colored()) {
      told.push_back(fmt::format("… {}{} {}{} {} {}", count, which, count == 1 ? "key" : "keys",
                                 with, count == 1 ? "is" : "are", fate));
    } else if (told.empty()) {
      told.push_back(fmt::format("… {}{}{} {}", count, which, with, fate));
    } else {
      told.back() += fmt::format(", {}{}{} {}", count, which, with, fate);
    }
  };
  tell(shown.left_out, "", " with the least weight", "left out");
  tell(shown.masked_before, " earlier", "", "masked");
  tell(shown.masked_after, " later", "", "masked");
  return told;
}

}  // namespace attnviz
