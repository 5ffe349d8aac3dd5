#include "attnviz/terminal/inspection_tables.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include "attnviz/color/round_step.h"
#include "attnviz/core/utf8.h"
#include "attnviz/terminal/page/terminal_options.h"

namespace attnviz {

namespace {

using Role = InspectionRole;
using Step = InspectionStep;

constexpr std::size_t kGap = 2;
constexpr const char* kMasked = "−∞";

std::size_t room_beside(const InspectionStyle& style, std::size_t label_width) {
  const std::size_t used = style.indent + label_width + kGap;
  return style.options.columns - std::min(style.options.columns - 1, used);
}

std::string told_gap(const InspectionStyle& style, std::size_t count) {
  return fmt::format("{0} {1} more {0}", style.charset.ellipsis(), count);
}

// The room for each of the two vectors beside a weight: a line of its own when that holds all of
// it, or else half a line when that holds two numbers
// and the count of those between.
std::size_t share_room(const InspectionStyle& style, std::size_t label_width, std::size_t size,
                       std::array<const NumberGroup*, 3> values_weights_shares) {
  const auto [values, weights, shares] = values_weights_shares;
  const std::size_t room = room_beside(style, label_width);
  const std::size_t beside =
      std::max<std::size_t>(weights->width(), std::string_view("weight").size()) + 2 * kGap;
  const std::size_t half = (room - std::min(room, beside)) / 2;
  const std::size_t least = display_width(told_gap(style, size)) + 2 * kGap +
                            2 * std::max(values->width(), shares->width());
  const std::size_t whole = size * (std::max(values->width(), shares->width()) + kGap) - kGap;
  return whole > room && half >= least ? half : room;
}

float total(std::span<const float> values) {
  double sum = 0.0;
  for (const float value : values) {
    sum += static_cast<double>(value);
  }
  return static_cast<float>(sum);
}

// Builds the key table column by column.
class KeyTable {
 public:
  KeyTable(const InspectionStyle& style, const Inspection& head, const ShownKeys& shown,
           const TokenNames& names, bool sums)
      : style_(style), head_(head), shown_(shown) {
    table_.indent = style.indent;
    table_.gap = kGap;
    table_.corner = {"key", style.role(Role::kKey)};
    for (const std::size_t key : shown.keys) {
      table_.labels.push_back({"k " + names.indexed(key), style.role(Role::kKey)});
    }
    if (sums && shown.left_out > 0) {
      table_.labels.push_back({fmt::format("{} others", shown.left_out), kDim});
    }
    if (sums) {
      table_.labels.push_back({"sum", {}});
    }
  }

  using TextOf = std::function<std::string(std::size_t key)>;

  TextColumn& add(std::string_view heading, const TextOf& text_of) {
    TextColumn column;
    column.heading.text = style_.charset.formula(heading);
    for (const std::size_t key : shown_.keys) {
      column.cells.push_back({text_of(key), head_.is_visible(key) ? Style() : kDim});
    }
    column.cells.resize(table_.labels.size());
    table_.columns.push_back(std::move(column));
    return table_.columns.back();
  }

  // A column with its sum below, and before it the sum of the keys that are left out.
  void add_summed(std::string_view heading, std::span<const float> values) {
    const float sum = total(values);
    NumberGroup numbers(values);
    numbers.add(std::span(&sum, 1));
    TextColumn& column = add(heading, [&](std::size_t key) {
      return head_.is_visible(key) ? numbers.text(values[key]) : std::string("0");
    });
    column.cells.back().text = numbers.text(sum);
    if (shown_.left_out > 0) {
      double rest = static_cast<double>(sum);
      for (const std::size_t key : shown_.keys) {
        rest -= static_cast<double>(values[key]);
      }
      column.cells[shown_.keys.size()].text = numbers.text(static_cast<float>(std::max(0.0, rest)));
    }
  }

  // Beside the weights when there is room for bars that say something, else below with them.
  void add_bars() {
    constexpr std::size_t kLeast = 8;
    constexpr std::size_t kMost = 30;
    std::size_t before_weights = style_.indent + label_columns(table_, style_.options.columns);
    std::size_t weights = 0;
    for (const TextColumn& column : table_.columns) {
      before_weights += weights;
      weights = kGap + column.width();
    }
    const std::size_t columns = style_.options.columns;
    const std::size_t beside = columns - std::min(columns, before_weights + weights + kGap);
    const std::size_t below = room_beside(style_, label_columns(table_, columns) + weights);
    const std::size_t width = std::min(kMost, beside >= kLeast ? beside : below);
    const double scale = round_step(*std::max_element(head_.weights.begin(), head_.weights.end()));
    TextColumn column;
    column.to_right = false;
    column.with_previous = true;
    const std::string end = fmt::format("{:.3g}", scale);
    if (width > end.size() + 1) {
      column.heading.text = "0" + pad_left(end, width - 1);
    }
    for (const std::size_t key : shown_.keys) {
      column.cells.push_back(
          {style_.charset.bar(static_cast<double>(head_.weights[key]) / scale, width), {}});
    }
    column.cells.resize(table_.labels.size());
    table_.columns.push_back(std::move(column));
  }

  TextTable take() { return std::move(table_); }

 private:
  const InspectionStyle& style_;
  const Inspection& head_;
  const ShownKeys& shown_;
  TextTable table_;
};

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

}  // namespace

InspectionStyle::InspectionStyle(const TerminalOptions& terminal)
    : options(terminal), charset(terminal.style) {
  constexpr std::size_t kLeastColumns = 20;
  constexpr std::size_t kNarrow = 40;
  options.columns = std::max(options.columns, kLeastColumns);
  indent = options.columns < kNarrow ? 1 : 3;
}

std::string vector_text(const InspectionStyle& style, std::span<const float> values,
                        const NumberGroup& numbers, std::size_t room) {
  const std::size_t width = numbers.width();
  const std::size_t slot = width + kGap;
  std::size_t shown = (room + kGap) / slot;
  std::string gap;
  if (shown < values.size()) {
    const std::size_t taken = display_width(told_gap(style, values.size())) + kGap;
    if (room >= taken + width) {
      shown = (room - taken + kGap) / slot;
      gap = told_gap(style, values.size() - shown);
    } else {
      const std::size_t short_gap = display_width(style.charset.ellipsis()) + kGap;
      shown = std::max<std::size_t>(1, (room - std::min(room, short_gap) + kGap) / slot);
      gap = style.charset.ellipsis();
    }
  }
  shown = std::min(shown, values.size());
  const std::size_t before_gap = gap.empty() ? shown : (shown + 1) / 2;
  std::string text;
  const auto put = [&text](const std::string& piece) {
    text += text.empty() ? piece : std::string(kGap, ' ') + piece;
  };
  for (std::size_t i = 0; i < before_gap; ++i) {
    put(pad_left(numbers.text(values[i]), width));
  }
  if (!gap.empty()) {
    put(gap);
  }
  for (std::size_t i = values.size() - (shown - before_gap); i < values.size(); ++i) {
    put(pad_left(numbers.text(values[i]), width));
  }
  return text;
}

TextTable vector_table(const InspectionStyle& style, const std::vector<VectorRow>& rows,
                       const NumberGroup& numbers, bool full) {
  TextTable table;
  table.indent = style.indent;
  table.gap = kGap;
  table.has_headings = false;
  for (const VectorRow& row : rows) {
    table.labels.push_back({row.label, style.role(row.role)});
  }
  const std::size_t size = full && !rows.empty() ? rows.front().values.size() : 1;
  const std::size_t room = room_beside(style, label_columns(table, style.options.columns));
  for (std::size_t i = 0; i < size; ++i) {
    TextColumn column;
    column.to_right = full;
    for (const VectorRow& row : rows) {
      column.cells.push_back({full ? pad_left(numbers.text(row.values[i]), numbers.width())
                                   : vector_text(style, row.values, numbers, room),
                              style.role(row.role)});
    }
    table.columns.push_back(std::move(column));
  }
  return table;
}

TextTable key_table(const InspectionStyle& style, const InspectionPage& page,
                    const TokenNames& names, const Inspection& head, const ShownKeys& shown) {
  const bool shows_scale = page.shows(Step::kScale);
  const bool shows_cap = page.shows(head, Step::kCap);
  const bool shows_mask = page.shows(Step::kMask);
  const bool shows_softmax = page.shows(Step::kSoftmax);
  KeyTable table(style, head, shown, names, shows_softmax);
  const NumberGroup raw(head.scores);
  NumberGroup scores(head.scaled);
  for (const float score : head.masked) {
    if (std::isfinite(score)) {
      scores.add(std::span(&score, 1));
    }
  }
  if (page.shows(Step::kScores) || shows_scale) {
    table.add("q · k", [&](std::size_t key) { return raw.text(head.scores[key]); });
  }
  if (shows_scale || shows_cap || (shows_mask && head.soft_cap == 0.0f)) {
    table.add(scaled_heading(head), [&](std::size_t key) { return scores.text(head.scaled[key]); });
  }
  if (shows_cap || (shows_mask && head.soft_cap > 0.0f)) {
    table.add("capped", [&](std::size_t key) { return scores.text(head.capped[key]); });
    if (head.capped_factor != 1.0f) {
      table.add("÷ T", [&](std::size_t key) {
        return scores.text(head.capped[key] * head.capped_factor);
      });
    }
  }
  if (shows_mask && !head.bias.empty()) {
    const NumberGroup bias(head.bias);
    table.add("alibi", [&](std::size_t key) { return bias.text(head.bias[key]); });
  }
  if (shows_mask || shows_softmax) {
    table.add("masked", [&](std::size_t key) {
      return head.is_visible(key) ? scores.text(head.masked[key]) : style.charset.formula(kMasked);
    });
  }
  if (shows_softmax) {
    table.add_summed("exp(s − max)", head.exponentials);
    if (head.request.dropout > 0.0f) {
      table.add_summed("softmax", head.probabilities);
    }
    table.add_summed("weight", head.weights);
    table.add_bars();
  }
  return table.take();
}

TextTable turn_table(const InspectionStyle& style, const Inspection& head, bool full) {
  constexpr std::size_t kFewPairs = 8;
  constexpr std::size_t kFirstPairs = 6;
  const InspectedRope& rope = *head.rope;
  const std::size_t n_pairs = rope.n_pairs();
  const bool all = full || n_pairs <= kFewPairs;
  const ConstMatrix before = head.upright_queries().row_block(head.query, 1);
  const ConstMatrix after = head.q.view().row_block(head.query, 1);
  NumberGroup numbers(before.row(0));
  numbers.add(after);
  TextTable table;
  table.indent = style.indent;
  table.gap = kGap;
  table.corner = {"pair", {}};
  table.columns.resize(6);
  const std::pair<const char*, Role> headings[] = {
      {"frequency", Role::kPlain}, {"angle", Role::kPlain},   {"q before", Role::kQuery},
      {"", Role::kQuery},          {"q after", Role::kQuery}, {"", Role::kQuery}};
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    table.columns[i].heading = {headings[i].first, style.role(headings[i].second)};
    table.columns[i].with_previous = i == 3 || i == 5;
  }
  const auto add_row = [&](const std::string& label, const std::array<std::string, 6>& cells) {
    table.labels.push_back({label, {}});
    for (std::size_t i = 0; i < cells.size(); ++i) {
      table.columns[i].cells.push_back({cells[i], style.role(headings[i].second)});
    }
  };
  for (std::size_t pair = 0; pair < n_pairs; ++pair) {
    if (!all && pair == kFirstPairs) {
      add_row(told_gap(style, n_pairs - kFirstPairs - 1), {});
      pair = n_pairs - 1;
    }
    const double frequency = rope.frequencies[pair];
    const auto [first, other] = rope.dimensions(pair);
    add_row(fmt::format("{}, {}", first, other),
            {fmt::format("{:.4g}", frequency),
             fmt::format("{:.4g}", frequency * static_cast<double>(head.query)),
             numbers.text(before(0, first)), numbers.text(before(0, other)),
             numbers.text(after(0, first)), numbers.text(after(0, other))});
  }
  return table;
}

TextTable share_table(const InspectionStyle& style, const TokenNames& names, const Inspection& head,
                      const ShownKeys& shown) {
  NumberGroup values, shares;
  values.add(head.v.view());
  shares.add(head.shares.view());
  const NumberGroup weights(head.weights);
  TextTable table;
  table.indent = style.indent;
  table.gap = kGap;
  table.corner = {"value", style.role(Role::kValue)};
  std::vector<std::size_t> keys;
  for (const std::size_t key : shown.keys) {
    if (head.is_visible(key)) {
      keys.push_back(key);
      table.labels.push_back({"v " + names.indexed(key), style.role(Role::kValue)});
    }
  }
  const std::size_t room = share_room(style, label_columns(table, style.options.columns),
                                      head.d_value(), {&values, &weights, &shares});
  const auto add = [&](std::string_view heading, Role role, const auto& text_of) {
    TextColumn column;
    column.heading = {style.charset.formula(heading), style.role(role)};
    column.to_right = role == Role::kPlain;
    for (const std::size_t key : keys) {
      column.cells.push_back({text_of(key), style.role(role)});
    }
    table.columns.push_back(std::move(column));
  };
  add("v", Role::kValue,
      [&](std::size_t key) { return vector_text(style, head.v.view().row(key), values, room); });
  add("weight", Role::kPlain, [&](std::size_t key) { return weights.text(head.weights[key]); });
  add("weight · v", Role::kValue, [&](std::size_t key) {
    return vector_text(style, head.shares.view().row(key), shares, room);
  });
  return table;
}

TextTable matrix_table(const InspectionStyle& style, ConstMatrix values, MatrixAxis rows,
                       MatrixAxis columns, InspectionRole role) {
  constexpr std::size_t kLabelColumns = 10;
  NumberGroup numbers;
  numbers.add(values);
  const auto label = [](MatrixAxis axis, std::size_t i) {
    return axis.names == nullptr ? std::to_string(i) : axis.names->indexed(i);
  };
  TextTable table;
  table.indent = style.indent;
  table.gap = kGap;
  for (std::size_t row = 0; row < values.rows; ++row) {
    table.labels.push_back({label(rows, row), style.role(rows.role)});
  }
  for (std::size_t col = 0; col < values.cols; ++col) {
    TextColumn column;
    column.heading = {fit_width(label(columns, col), kLabelColumns, style.charset.ellipsis()),
                      style.role(columns.role)};
    for (std::size_t row = 0; row < values.rows; ++row) {
      const float value = values(row, col);
      const bool is_masked = std::isinf(value) && value < 0.0f;
      column.cells.push_back(
          {is_masked ? style.charset.formula(kMasked) : numbers.text(value), style.role(role)});
    }
    table.columns.push_back(std::move(column));
  }
  return table;
}

}  // namespace attnviz
