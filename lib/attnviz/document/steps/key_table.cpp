// The table of keys: what each key's score goes through, from q · k to its weight.

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <string_view>

#include "attnviz/color/color_ticks.h"
#include "attnviz/document/steps/step_table.h"

namespace attnviz {

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
  // `sums`: below the keys stands what those left out have together, and the sum of all.
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

  // Where the mask hides a key stands `hidden`; empty: the value as well.
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

  // `sink`: what stands in its row, where there is one.
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
  std::size_t sink_row_ = 0;  // where the head has one
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
