#include "attnviz/render/inspection_figure.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "attnviz/attention/head_selection.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/render/bars.h"
#include "attnviz/render/figure_sheet.h"
#include "attnviz/render/font.h"
#include "attnviz/render/inspection_colors.h"
#include "attnviz/render/inspection_rows.h"
#include "attnviz/render/inspection_words.h"
#include "attnviz/render/paragraph.h"
#include "attnviz/render/png_chunks.h"

namespace attnviz {

namespace {

using Role = InspectionRole;
using Step = InspectionStep;

constexpr Rgb kText{0x1A, 0x1A, 0x1A};
constexpr Rgb kNote{0x55, 0x55, 0x55};
constexpr Rgb kWarning{0xB0, 0x10, 0x10};
constexpr Rgb kRule{0xD8, 0xD8, 0xD8};
constexpr Rgb kBar{0x6E, 0x6E, 0x6E};
constexpr Rgb kBarGround{0xF0, 0xF0, 0xF0};

constexpr int kWidth = 1080;
constexpr int kMargin = 28;
constexpr int kLabel = 150;  // the column of labels
constexpr int kRow = 18;
constexpr int kTextTop = 1;  // of a text in its row
constexpr int kGapAfterStep = 18;

std::string title_of(const InspectionPage& page) {
  return "inspect: " + page.title;
}

std::string figure_facts(const InspectionPage& page) {
  std::string steps;
  for (std::size_t i = 0; i < kInspectionSteps; ++i) {
    if (page.shows(static_cast<InspectionStep>(i))) {
      steps += fmt::format("{}\"{}\"", steps.empty() ? "" : ", ", inspection_step_names()[i]);
    }
  }
  return fmt::format(R"({{"steps": [{}], "explain": {}}})", steps, page.explain);
}

class Figure {
 public:
  Figure(const InspectionPage& page, const FigureStyle& style)
      : page_(page), names_(page.tokens, /*ascii=*/false), sheet_(kWidth, style) {}

  std::string paint() {
    title();
    for (const Inspection& head : page_.heads) {
      head_line(head);
      for (std::size_t i = 0; i < kInspectionSteps; ++i) {
        const auto step = static_cast<Step>(i);
        if (page_.shows(step)) {
          heading(head, step);
          body(head, step);
        }
      }
    }
    sheet_.text(
        "cells: blue is negative, red is positive, white is 0; the strongest colour of a "
        "block is its largest number",
        kMargin, y_, room(), kNote, FigureSheet::kSmallText);
    y_ += line_height(FigureSheet::kSmallText) + kMargin;
    return sheet_.paint(y_);
  }

 private:
  static int room() noexcept { return kWidth - 2 * kMargin; }
  static int cells_x() noexcept { return kMargin + kLabel; }
  static int cells_room() noexcept { return room() - kLabel; }

  void title() {
    y_ = kMargin;
    y_ += sheet_.paragraph(safe_message(title_of(page_), false), kMargin, y_, room(), kText,
                           FigureSheet::kTitle);
    for (const std::string& note : page_.notes) {
      y_ += sheet_.paragraph(safe_message(note, false), kMargin, y_ + 2, room(), kWarning) + 2;
    }
  }

  void head_line(const Inspection& head) {
    y_ += 6;
    int x = kMargin;
    const auto add = [&](const std::string& text, Rgb color) {
      x += sheet_.text(text, x, y_, kWidth - kMargin - x, color) + 2 * FigureSheet::kText;
    };
    add(head_title(head.head), kText);
    add(fmt::format("query {} {}", head.query, names_.quoted(head.query)),
        role_color(Role::kQuery));
    add(fmt::format("{}   d_model {}   d_head {}   d_value {}", counted(head.n_tokens(), "token"),
                    head.d_model(), head.d_head(), head.d_value()),
        kText);
    add("q query", role_color(Role::kQuery));
    add("k key", role_color(Role::kKey));
    add("v value", role_color(Role::kValue));
    y_ += line_height(FigureSheet::kText) + kGapAfterStep / 2;
  }

  // A rule, the number and the formula on the left, shapes on the right, the sentence below.
  void heading(const Inspection& head, Step step) {
    if (!in_table_) {
      sheet_.box({kMargin, y_, room(), 1}, kRule);
      y_ += 7;
    }
    const StepHeading words = step_heading(head, step, /*ascii=*/false);
    const std::string left = fmt::format("{:<2} {}", words.number, words.formula);
    sheet_.text(left, kMargin, y_, room() * 2 / 3, kText);
    sheet_.text_to(words.shape, kMargin + room(), y_, kNote);
    y_ += line_height(FigureSheet::kText) + 2;
    if (page_.explain) {
      y_ += sheet_.paragraph(step_sentence(head, names_, step, false),
                             kMargin + 3 * FigureSheet::kText, y_, room() - 3 * FigureSheet::kText,
                             kNote) +
            2;
    }
    y_ += 2;
    in_table_ = false;
  }

  void label(std::string_view text, Role role, int y) {
    const Rgb color = role_color(role);
    if (role != Role::kPlain) {
      sheet_.box({kMargin, y, 3, kRow - 1}, color);
    }
    sheet_.text(text, kMargin + 8, y + kTextTop, kLabel - 16, color);
  }

  // Vectors of one size below each other, on one scale; cells for numbers of at least
  // `number_columns`.
  void vectors(const std::vector<VectorRow>& rows, std::size_t number_columns = 0) {
    NumberGroup numbers;
    float largest = 0.0f;
    for (const VectorRow& row : rows) {
      numbers.add(row.values);
      largest = std::max(
          largest, largest_size({row.values.data(), 1, row.values.size(), row.values.size()}));
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
  void matrix(std::string_view name, ConstMatrix values, Role role, std::size_t number_columns) {
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

  void left_out(const ShownKeys& shown) {
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

  void keys(const Inspection& head, std::size_t number_columns) {
    const ShownKeys shown = shown_keys(head, /*all=*/false);
    vectors(key_rows(head, names_, shown), number_columns);
    left_out(shown);
  }

  // Numbers in columns, and a bar for the weight.
  void table(const Inspection& head) {
    constexpr int kColumn = 108;
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
    const auto if_visible = [&](const NumberGroup& group, const std::vector<float>& values,
                                const char* otherwise) {
      return [&, otherwise](std::size_t key) {
        return head.is_visible(key) ? group.text(values[key]) : std::string(otherwise);
      };
    };
    const Column columns[] = {
        {"q · k", page_.shows(Step::kScores) || page_.shows(Step::kScale),
         [&](std::size_t key) { return raw.text(head.scores[key]); }},
        {"scaled", page_.shows(Step::kScale) || page_.shows(Step::kMask),
         [&](std::size_t key) { return scores.text(head.scaled[key]); }},
        {"alibi", page_.shows(Step::kMask) && !head.bias.empty(),
         [&](std::size_t key) { return bias.text(head.bias[key]); }},
        {"masked", page_.shows(Step::kMask) || shows_softmax,
         if_visible(scores, head.masked, "−∞")},
        {"exp(s − max)", shows_softmax, if_visible(exponentials, head.exponentials, "0")},
        {"softmax", shows_softmax && head.request.dropout > 0.0f,
         if_visible(softmax, head.probabilities, "0")},
        {"weight", shows_softmax, if_visible(weights, head.weights, "0")}};
    int right = cells_x();
    for (const Column& column : columns) {
      if (!column.is_shown) {
        continue;
      }
      right += kColumn;
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

  void bars(const Inspection& head, const ShownKeys& shown, int x) {
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
  void shares(const Inspection& head) {
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

  void body(const Inspection& head, Step step) {
    const std::string& query = names_.label(head.query);
    const auto width_of = [](ConstMatrix values) {
      NumberGroup numbers;
      numbers.add(values);
      return numbers.width();
    };
    switch (step) {
      case Step::kX:
        vectors({{"x " + query, head.x(), Role::kPlain}});
        break;
      case Step::kQuery: {
        const ConstMatrix w_q = head.weights_in.query.weight.as_floats();
        const ConstMatrix q = head.q.view().row_block(head.query, 1);
        const std::size_t wide = std::max(width_of(w_q), width_of(q));
        matrix("W_Q", w_q, Role::kQuery, wide);
        vectors({{"q " + query, q.row(0), Role::kQuery}}, wide);
        break;
      }
      case Step::kKeys: {
        const ConstMatrix w_k = head.weights_in.key.weight.as_floats();
        const std::size_t wide = std::max(width_of(w_k), width_of(head.k.view()));
        matrix("W_K", w_k, Role::kKey, wide);
        keys(head, wide);
        break;
      }
      case Step::kScores:
      case Step::kScale:
      case Step::kMask:
      case Step::kSoftmax:
        if (!page_.ends_key_table(step)) {
          in_table_ = true;
          return;
        }
        table(head);
        break;
      case Step::kValues:
        shares(head);
        break;
      case Step::kContext:
        vectors({{"context", head.context, Role::kValue}});
        break;
      case Step::kOutput:
        if (head.has_output()) {
          vectors({{"output", head.output, Role::kValue}});
        }
        break;
      case Step::kResidual:
        vectors(residual_rows(head));
        break;
    }
    y_ += kGapAfterStep;
  }

  const InspectionPage& page_;
  TokenNames names_;
  FigureSheet sheet_;
  int y_ = 0;
  bool in_table_ = false;  // the headings of one table stand together
};

}  // namespace

std::string render_inspection_figure(const InspectionPage& page, const FigureStyle& style) {
  return with_facts(Figure(page, style).paint(), {kUsualDpi,
                                                  {{"Title", printable_message(title_of(page))},
                                                   {"Software", "attnviz"},
                                                   {"attnviz", page.facts},
                                                   {"attnviz-figure", figure_facts(page)}}});
}

}  // namespace attnviz
