#include "attnviz/picture/inspection_figure_blocks.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>

#include "attnviz/color/round_step.h"
#include "attnviz/picture/fonts/text_box.h"

namespace attnviz {

namespace {

using Role = InspectionRole;
using Step = InspectionStep;

constexpr Rgb kBar{0x6E, 0x6E, 0x6E};
constexpr Rgb kBarGround{0xF0, 0xF0, 0xF0};

constexpr int kTextTop = 1;  // of a text in its row

}  // namespace

FigureBlocks::FigureBlocks(const InspectionPage& page, const FigureStyle& style)
    : page_(page), names_(page.tokens, /*ascii=*/false), sheet_(kWidth, style) {}

void FigureBlocks::label(std::string_view text, Role role, int y) {
  const Rgb color = role_color(role);
  if (role != Role::kPlain) {
    sheet_.box({kMargin, y, 3, kRow - 1}, color);
  }
  sheet_.text(text, kMargin + 8, y + kTextTop, kLabel - 16, color);
}

// Vectors of one size below each other, on one scale; cells for numbers of at least
// `number_columns`.
void FigureBlocks::vectors(const std::vector<VectorRow>& rows, std::size_t number_columns) {
  NumberGroup numbers;
  float largest = 0.0f;
  for (const VectorRow& row : rows) {
    numbers.add(row.values);
    largest = std::max(largest,
                       largest_size({row.values.data(), 1, row.values.size(), row.values.size()}));
  }
  const CellRow cells(cells_x(), cells_room(), rows.front().values.size(),
                      std::max(number_columns, numbers.width()));
  sheet_.cell_border(cells, y_, kRow * static_cast<int>(rows.size()));
  for (const VectorRow& row : rows) {
    label(row.label, row.role, y_);
    sheet_.cells(cells, y_, kRow, row.values, largest, numbers);
    y_ += kRow;
  }
}

// A matrix whose columns stand over those of the vector that it makes.
void FigureBlocks::matrix(std::string_view name, ConstMatrix values, Role role,
                          std::size_t number_columns) {
  constexpr int kHighest = 128;
  NumberGroup numbers;
  numbers.add(values);
  CellRow cells(cells_x(), cells_room(), values.cols, number_columns);
  const auto n_rows = static_cast<int>(std::min<std::size_t>(values.rows, kHighest));
  const bool all_rows_fit = n_rows * kRow <= kHighest;
  cells.has_numbers = cells.has_numbers && all_rows_fit;
  const int height = all_rows_fit ? kRow : std::max(1, kHighest / n_rows);
  label(name, role, y_);
  const float largest = largest_size(values);
  sheet_.cell_border(cells, y_, height * n_rows);
  for (int row = 0; row < n_rows; ++row) {
    const std::size_t source =
        static_cast<std::size_t>(row) * values.rows / static_cast<std::size_t>(n_rows);
    sheet_.cells(cells, y_, height, values.row(source), largest, numbers);
    y_ += height;
  }
  y_ += 5;
}

void FigureBlocks::left_out(const ShownKeys& shown) {
  std::string text;
  const auto add = [&text](std::size_t count, const char* what) {
    if (count > 0) {
      text += fmt::format("{}{}{}", text.empty() ? "… " : ", ", count, what);
    }
  };
  add(shown.left_out, " with the least weight left out");
  add(shown.masked_before, " earlier masked");
  add(shown.masked_after, " later masked");
  if (!text.empty()) {
    sheet_.text(text, kMargin + 8, y_, room(), kNote, FigureSheet::kSmallText);
    y_ += line_height(FigureSheet::kSmallText);
  }
}

void FigureBlocks::keys(const Inspection& head, ConstMatrix keys, std::size_t number_columns) {
  const ShownKeys shown = shown_keys(head, /*all=*/false);
  vectors(key_rows(keys, names_, shown), number_columns);
  left_out(shown);
}

// Numbers in columns, and a bar for the weight.
void FigureBlocks::table(const Inspection& head) {
  constexpr int kColumn = 108;
  constexpr int kNarrowColumn = 92;  // of so many that the bars need the room
  constexpr std::ptrdiff_t kUsualColumns = 7;
  const ShownKeys shown = shown_keys(head, /*all=*/false);
  NumberGroup scores(head.scaled);
  for (const float score : head.masked) {
    if (std::isfinite(score)) {
      scores.add(std::span(&score, 1));
    }
  }
  const NumberGroup raw(head.scores), bias(head.bias), exponentials(head.exponentials),
      softmax(head.probabilities), weights(head.weights);
  struct Column {
    const char* heading;
    bool is_shown;
    std::function<std::string(std::size_t)> text;
  };
  const bool shows_softmax = page_.shows(Step::kSoftmax);
  const bool shows_mask = page_.shows(Step::kMask);
  const bool shows_cap = page_.shows(head, Step::kCap);
  const bool has_cap = head.soft_cap > 0.0f;
  const auto if_visible = [&](const NumberGroup& group, const std::vector<float>& values,
                              const char* otherwise) {
    return [&, otherwise](std::size_t key) {
      return head.is_visible(key) ? group.text(values[key]) : std::string(otherwise);
    };
  };
  const Column columns[] = {
      {"q · k", page_.shows(Step::kScores) || page_.shows(Step::kScale),
       [&](std::size_t key) { return raw.text(head.scores[key]); }},
      {"scaled", page_.shows(Step::kScale) || shows_cap || (page_.shows(Step::kMask) && !has_cap),
       [&](std::size_t key) { return scores.text(head.scaled[key]); }},
      {"capped", shows_cap || (page_.shows(Step::kMask) && has_cap),
       [&](std::size_t key) { return scores.text(head.capped[key]); }},
      {"÷ T", has_cap && shows_mask && head.capped_factor != 1.0f,
       [&](std::size_t key) { return scores.text(head.capped[key] * head.capped_factor); }},
      {"alibi", page_.shows(Step::kMask) && !head.bias.empty(),
       [&](std::size_t key) { return bias.text(head.bias[key]); }},
      {"masked", page_.shows(Step::kMask) || shows_softmax, if_visible(scores, head.masked, "−∞")},
      {"exp(s − max)", shows_softmax, if_visible(exponentials, head.exponentials, "0")},
      {"softmax", shows_softmax && head.request.dropout > 0.0f,
       if_visible(softmax, head.probabilities, "0")},
      {"weight", shows_softmax, if_visible(weights, head.weights, "0")}};
  const auto n_shown = std::count_if(std::begin(columns), std::end(columns),
                                     [](const Column& column) { return column.is_shown; });
  const int column_width = n_shown > kUsualColumns ? kNarrowColumn : kColumn;
  int right = cells_x();
  for (const Column& column : columns) {
    if (!column.is_shown) {
      continue;
    }
    right += column_width;
    sheet_.text_to(column.heading, right, y_, kNote);
    for (std::size_t i = 0; i < shown.keys.size(); ++i) {
      const std::size_t key = shown.keys[i];
      sheet_.text_to(column.text(key), right, y_ + kRow * static_cast<int>(i + 1) + kTextTop,
                     head.is_visible(key) ? kText : kNote);
    }
  }
  if (shows_softmax) {
    bars(head, shown, right + 24);
  }
  y_ += kRow;
  for (const std::size_t key : shown.keys) {
    label("k " + names_.indexed(key), Role::kKey, y_);
    y_ += kRow;
  }
  if (shows_softmax) {
    sheet_.text(fmt::format("max {}, sum of exp {:.4f}", scores.text(head.max), head.sum),
                kMargin + 8, y_, room(), kNote, FigureSheet::kSmallText);
    y_ += line_height(FigureSheet::kSmallText);
  }
  left_out(shown);
}

void FigureBlocks::bars(const Inspection& head, const ShownKeys& shown, int x) {
  const double scale = round_step(*std::max_element(head.weights.begin(), head.weights.end()));
  const int wide = kWidth - kMargin - x;
  sheet_.text("0", x, y_, wide, kNote);
  sheet_.text_to(fmt::format("{:.3g}", scale), x + wide, y_, kNote);
  for (std::size_t i = 0; i < shown.keys.size(); ++i) {
    const int top = y_ + kRow * static_cast<int>(i + 1) + 3;
    const double share = std::min(1.0, static_cast<double>(head.weights[shown.keys[i]]) / scale);
    const int filled = static_cast<int>(std::lround(share * wide));
    sheet_.box({x, top, wide, kRow - 6}, kBarGround);
    sheet_.box({x, top, share > 0.0 ? std::max(1, filled) : 0, kRow - 6}, kBar);
  }
}

// A value, its weight, and the share that the context takes of it.
void FigureBlocks::shares(const Inspection& head) {
  constexpr int kWeight = 76;
  const ShownKeys shown = shown_keys(head, /*all=*/false);
  NumberGroup values, shares;
  values.add(head.v.view());
  shares.add(head.shares.view());
  const NumberGroup weights(head.weights);
  const int half = (cells_room() - kWeight) / 2;
  const std::size_t wide = std::max(values.width(), shares.width());
  const CellRow left(cells_x(), half, head.d_value(), wide);
  const CellRow right(cells_x() + left.width() + kWeight, half, head.d_value(), wide);
  sheet_.text("v", left.x, y_, half, role_color(Role::kValue));
  sheet_.text_to("· weight =", right.x - 6, y_, kNote);
  sheet_.text("weight · v", right.x, y_, half, role_color(Role::kValue));
  y_ += kRow;
  const float largest = largest_size(head.v.view());
  const float largest_share = largest_size(head.shares.view());
  for (const std::size_t key : shown.keys) {
    if (!head.is_visible(key)) {
      continue;
    }
    label("v " + names_.indexed(key), Role::kValue, y_);
    sheet_.cell_border(left, y_, kRow);
    sheet_.cell_border(right, y_, kRow);
    sheet_.cells(left, y_, kRow, head.v.view().row(key), largest, values);
    sheet_.text_to(weights.text(head.weights[key]), right.x - 8, y_ + kTextTop, kText);
    sheet_.cells(right, y_, kRow, head.shares.view().row(key), largest_share, shares);
    y_ += kRow;
  }
  left_out(shown);
}

}  // namespace attnviz
