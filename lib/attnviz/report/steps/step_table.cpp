// The table of keys: the stages of each key's score, from q · k to its weight.
#include "attnviz/report/steps/step_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "attnviz/color/colormap.h"

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

// In colours one short line, else a sentence for each reason.
std::vector<std::string> StepBlocks::left_out(const ShownKeys& shown) const {
  std::vector<std::string> notes;
  const auto note = [&](std::size_t count, const char* which, const char* with, const char* fate) {
    if (count == 0) {
      return;
    }
    if (!is_colored()) {
      notes.push_back(fmt::format("… {}{} {}{} {} {}", count, which, count == 1 ? "key" : "keys",
                                  with, count == 1 ? "is" : "are", fate));
    } else if (notes.empty()) {
      notes.push_back(fmt::format("… {}{}{} {}", count, which, with, fate));
    } else {
      notes.back() += fmt::format(", {}{}{} {}", count, which, with, fate);
    }
  };
  note(shown.left_out, "", " with the smallest weights", "left out");
  note(shown.masked_before, " earlier", "", "masked");
  note(shown.masked_after, " later", "", "masked");
  return notes;
}

namespace {

using Role = InspectionRole;
using Step = InspectionStep;

std::string scaled_heading(const Inspection& head) {
  const bool has_temperature = head.request.temperature != 1.0f && head.soft_cap == 0.0f;
  const std::size_t root = scale_root(head);
  if (!head.request.scale) {
    return has_temperature ? "÷ T" : "scaled";
  }
  if (root == 0) {
    return "scaled";
  }
  const std::string under = root == head.d_head() ? "d" : std::to_string(root);
  return "÷ √" + under + (has_temperature ? " ÷ T" : "");
}

// Builds the table column by column.
class KeyTable {
 public:
  // `sums`: adds rows for the sum of the keys left out, and the sum of all.
  KeyTable(const Inspection& head, const TokenNames& names, const ShownKeys& shown, bool sums)
      : head_(head), shown_(shown), sums_(sums) {
    table_.corner = {"key", Role::kKey};
    for (const std::size_t key : shown.keys) {
      table_.rows.push_back({{"k " + names.indexed(key), Role::kKey}, !head.is_visible(key)});
    }
    if (sums && shown.left_out > 0) {
      table_.rows.push_back({{fmt::format("{} others", shown.left_out), Role::kPlain, true}});
    }
    if (head.sink) {
      sink_row_ = table_.rows.size();
      table_.rows.push_back({{"sink", Role::kKey}});
    }
    if (sums) {
      table_.rows.push_back({{"sum"}});
    }
  }

  // Keys hidden by the mask show `hidden`; if this is empty, their values.
  std::vector<std::string>& add(std::string_view heading, std::span<const float> values,
                                const NumberGroup& numbers, std::string_view hidden = {}) {
    TableColumn column{std::string(heading)};
    for (const std::size_t key : shown_.keys) {
      column.cells.push_back(head_.is_visible(key) || hidden.empty() ? numbers.text(values[key])
                                                                     : std::string(hidden));
    }
    column.cells.resize(table_.rows.size());
    table_.columns.push_back(std::move(column));
    return table_.columns.back().cells;
  }

  // `sink`: the value in the sink's row, if the head has one.
  void add_summed(std::string_view heading, std::span<const float> values, float sink) {
    NumberGroup numbers(values);
    const double of_keys = std::accumulate(values.begin(), values.end(), 0.0);
    const auto sum = static_cast<float>(of_keys + static_cast<double>(head_.sink ? sink : 0.0f));
    if (head_.sink) {
      numbers.add(std::span(&sink, 1));
    }
    if (sums_) {
      numbers.add(std::span(&sum, 1));
    }
    std::vector<std::string>& cells = add(heading, values, numbers, "0");
    if (head_.sink) {
      cells[sink_row_] = numbers.text(sink);
    }
    if (!sums_) {
      return;
    }
    cells.back() = numbers.text(sum);
    if (shown_.left_out > 0) {
      double rest = of_keys;
      for (const std::size_t key : shown_.keys) {
        rest -= static_cast<double>(values[key]);
      }
      cells[shown_.keys.size()] = numbers.text(static_cast<float>(std::max(0.0, rest)));
    }
  }

  void add_bars() {
    table_.bar_end = round_step(*std::max_element(head_.weights.begin(), head_.weights.end()));
    for (const std::size_t key : shown_.keys) {
      table_.bars.push_back(head_.weights[key]);
    }
    if (head_.sink) {
      table_.bars.resize(sink_row_, 0.0f);
      table_.bars.push_back(head_.sink->weight);
      table_.bar_end = std::max(table_.bar_end, round_step(head_.sink->weight));
    }
  }

  void add_sink_score(std::vector<std::string>& cells, const NumberGroup& numbers) const {
    if (head_.sink) {
      cells[sink_row_] = numbers.text(head_.sink->score);
    }
  }

  TableBlock take() { return std::move(table_); }

 private:
  const Inspection& head_;
  const ShownKeys& shown_;
  bool sums_;
  std::size_t sink_row_ = 0;  // if the head has one
  TableBlock table_;
};

}  // namespace

void StepBlocks::key_table() {
  const ShownKeys shown = shown_keys(head_, is_full());
  const bool shows_scale = page_.shows(Step::kScale);
  const bool shows_cap = page_.shows(head_, Step::kCap);
  const bool shows_mask = page_.shows(Step::kMask);
  const bool shows_softmax = page_.shows(Step::kSoftmax);
  const bool has_cap = head_.soft_cap > 0.0f;
  KeyTable table(head_, names_, shown, shows_softmax && !is_colored());
  NumberGroup scores(head_.scaled);
  scores.add(head_.masked);
  if (head_.sink) {
    scores.add(std::span(&head_.sink->score, 1));
  }
  if (page_.shows(Step::kScores) || shows_scale) {
    table.add("q · k", head_.scores, NumberGroup(head_.scores));
  }
  if (shows_scale || shows_cap || (shows_mask && !has_cap)) {
    table.add(is_colored() ? "scaled" : scaled_heading(head_), head_.scaled, scores);
  }
  if (shows_cap || (shows_mask && has_cap)) {
    table.add("capped", head_.capped, scores);
    if (head_.capped_factor != 1.0f) {
      std::vector<float> warmed = head_.capped;
      for (float& score : warmed) {
        score *= head_.capped_factor;
      }
      table.add("÷ T", warmed, scores);
    }
  }
  if (shows_mask && !head_.bias.empty()) {
    table.add("alibi", head_.bias, NumberGroup(head_.bias));
  }
  if (shows_mask || shows_softmax) {
    table.add_sink_score(table.add("masked", head_.masked, scores, "−∞"), scores);
  }
  if (shows_softmax) {
    const InspectedSink sink = head_.sink.value_or(InspectedSink());
    table.add_summed("exp(s − max)", head_.exponentials, sink.exponential);
    if (head_.request.dropout > 0.0f) {
      table.add_summed("softmax", head_.probabilities, sink.weight);
    }
    table.add_summed("weight", head_.weights, sink.weight);
    table.add_bars();
  }
  TableBlock block = table.take();
  block.remarks = left_out(shown);
  if (shows_softmax && is_colored()) {
    block.remarks.insert(block.remarks.begin(), fmt::format("max {}, sum of exp {:.4f}",
                                                            scores.text(head_.max), head_.sum));
  }
  add(std::move(block));
}

}  // namespace attnviz
