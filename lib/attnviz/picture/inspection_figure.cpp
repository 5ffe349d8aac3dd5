#include "attnviz/picture/inspection_figure.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "attnviz/color/role_colors.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/picture/fonts/text_box.h"
#include "attnviz/picture/layout/figure_sheet.h"

namespace attnviz {

namespace {

constexpr Rgb kText{0x1A, 0x1A, 0x1A};
constexpr Rgb kNote{0x55, 0x55, 0x55};
constexpr Rgb kWarning{0xB0, 0x10, 0x10};
constexpr Rgb kRule{0xD8, 0xD8, 0xD8};

constexpr Rgb kBar{0x6E, 0x6E, 0x6E};
constexpr Rgb kBarGround{0xF0, 0xF0, 0xF0};

constexpr int kWidth = 1080;
constexpr int kMargin = 28;
constexpr int kRoom = kWidth - 2 * kMargin;
constexpr int kLabel = 150;  // the column of labels
constexpr int kCellsX = kMargin + kLabel;
constexpr int kCellsRoom = kRoom - kLabel;
constexpr int kRow = 18;
constexpr int kTextTop = 1;  // of a text in its row
constexpr int kGap = 5;      // between blocks that stand apart
constexpr int kGapAfterStep = 18;

std::string figure_facts(const InspectionPage& page, const InspectionDocument& document) {
  std::set<InspectionStep> shown;
  for (const InspectedHead& head : document.heads) {
    for (const InspectedStep& step : head.steps) {
      shown.insert(step.step);
    }
  }
  std::string steps;
  for (const InspectionStep step : shown) {
    steps += fmt::format("{}\"{}\"", steps.empty() ? "" : ", ", inspection_step_name(step));
  }
  return fmt::format(R"({{"steps": [{}], "explain": {}}})", steps, page.explain);
}

class Figure {
 public:
  Figure(const InspectionPage& page, const FigureStyle& style)
      : page_(page), sheet_(kWidth, style) {}

  Scene scene(const InspectionDocument& document) {
    title(document.title);
    for (const InspectedHead& head : document.heads) {
      head_line(head);
      bool in_table = false;  // the headings of one table stand together
      for (const InspectedStep& step : head.steps) {
        heading(step, in_table);
        for (const InspectionBlock& block : step.blocks) {
          std::visit([&](const auto& some) { draw(some, step.number_columns); }, block);
        }
        y_ += step.goes_on ? 0 : kGapAfterStep;
        in_table = step.goes_on;
      }
    }
    sheet_.text(
        "cells: blue is negative, red is positive, white is 0; the strongest colour of a "
        "block is its largest number",
        kMargin, y_, kRoom, kNote, FigureSheet::kSmallText);
    y_ += line_height(FigureSheet::kSmallText) + kMargin;
    return std::move(sheet_).scene(y_);
  }

 private:
  void title(const std::string& title) {
    y_ += kMargin;
    y_ += sheet_.paragraph(safe_message(title, false), kMargin, y_, kRoom, kText,
                           FigureSheet::kTitle);
    paragraphs(page_.notes, kWarning);
    paragraphs(page_.remarks, kNote);
  }

  void paragraphs(const std::vector<std::string>& texts, Rgb color) {
    for (const std::string& text : texts) {
      y_ += sheet_.paragraph(safe_message(text, false), kMargin, y_ + 2, kRoom, color) + 2;
    }
  }

  void head_line(const InspectedHead& head) {
    y_ += 6;
    int x = kMargin;
    for (const std::span<const RoleText> texts :
         {std::span<const RoleText>(head.facts), inspection_legend()}) {
      for (const RoleText& text : texts) {
        x += sheet_.text(text.text, x, y_, kWidth - kMargin - x, role_color(text.role)) +
             2 * FigureSheet::kText;
      }
    }
    y_ += line_height(FigureSheet::kText) + kGapAfterStep / 2;
  }

  // A rule, the number and the formula on the left, shapes on the right, the sentence and what the
  // numbers come from below.
  void heading(const InspectedStep& step, bool in_table) {
    if (!in_table) {
      sheet_.box({kMargin, y_, kRoom, 1}, kRule);
      y_ += 7;
    }
    sheet_.text(fmt::format("{:<2} {}", step.number, step.formula), kMargin, y_, kRoom * 3 / 4,
                kText);
    sheet_.text_to(step.shape, kMargin + kRoom, y_, kNote);
    y_ += line_height(FigureSheet::kText) + 2;
    constexpr int kIndent = 3 * FigureSheet::kText;
    for (const std::string* text : {&step.sentence, &step.note}) {
      if (!text->empty()) {
        y_ += sheet_.paragraph(*text, kMargin + kIndent, y_, kRoom - kIndent, kNote) + 2;
      }
    }
    y_ += 2;
  }

  void label(std::string_view text, InspectionRole role, int y) {
    const Rgb color = role_color(role);
    if (role != InspectionRole::kPlain) {
      sheet_.box({kMargin, y, 3, kRow - 1}, color);
    }
    sheet_.text(text, kMargin + 8, y + kTextTop, kLabel - 16, color);
  }

  // Cells for numbers of at least `number_columns`.
  void draw(const VectorBlock& block, std::size_t number_columns) {
    float largest = 0.0f;
    for (const VectorRow& row : block.rows) {
      largest = std::max(
          largest, largest_size({row.values.data(), 1, row.values.size(), row.values.size()}));
    }
    y_ += block.is_apart ? kGap : 0;
    const CellRow cells(kCellsX, kCellsRoom, block.rows.front().values.size(),
                        std::max(number_columns, block.numbers.width()));
    sheet_.cell_border(cells, y_, kRow * static_cast<int>(block.rows.size()));
    for (const VectorRow& row : block.rows) {
      label(row.label, row.role, y_);
      sheet_.cells(cells, y_, kRow, row.values, largest, block.numbers);
      y_ += kRow;
    }
    remarks(block.remarks);
  }

  // A matrix whose columns stand over those of the vector that it makes.
  void draw(const MatrixBlock& block, std::size_t number_columns) {
    constexpr int kHighest = 128;
    const ConstMatrix values = block.values;
    const NumberGroup numbers(values);
    CellRow cells(kCellsX, kCellsRoom, values.cols, number_columns);
    const auto n_rows = static_cast<int>(std::min<std::size_t>(values.rows, kHighest));
    const bool all_rows_fit = n_rows * kRow <= kHighest;
    cells.has_numbers = cells.has_numbers && all_rows_fit;
    const int height = all_rows_fit ? kRow : std::max(1, kHighest / n_rows);
    label(block.title, block.role, y_);
    const float largest = largest_size(values);
    sheet_.cell_border(cells, y_, height * n_rows);
    for (int row = 0; row < n_rows; ++row) {
      const std::size_t source =
          static_cast<std::size_t>(row) * values.rows / static_cast<std::size_t>(n_rows);
      sheet_.cells(cells, y_, height, values.row(source), largest, numbers);
      y_ += height;
    }
    y_ += kGap;
  }

  void remarks(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      sheet_.text(text, kMargin + 8, y_, kRoom, kNote, FigureSheet::kSmallText);
      y_ += line_height(FigureSheet::kSmallText);
    }
  }

  // Numbers in columns, and a bar for the weight.
  void draw(const TableBlock& block, std::size_t /*number_columns*/) {
    constexpr int kColumn = 108;
    constexpr int kNarrowColumn = 92;  // of so many that the bars need the room
    constexpr std::size_t kUsualColumns = 7;
    const int column_width = block.columns.size() > kUsualColumns ? kNarrowColumn : kColumn;
    int right = kCellsX;
    for (const TableColumn& column : block.columns) {
      right += column_width;
      sheet_.text_to(column.heading, right, y_, kNote);
      for (std::size_t i = 0; i < block.rows.size(); ++i) {
        sheet_.text_to(column.cells[i], right, y_ + kRow * static_cast<int>(i + 1) + kTextTop,
                       block.rows[i].is_faint ? kNote : kText);
      }
    }
    if (!block.bars.empty()) {
      bars(block, right + 24);
    }
    y_ += kRow;
    for (const TableRow& row : block.rows) {
      label(row.label.text, row.label.role, y_);
      y_ += kRow;
    }
    remarks(block.remarks);
  }

  void bars(const TableBlock& block, int x) {
    const int wide = kWidth - kMargin - x;
    sheet_.text("0", x, y_, wide, kNote);
    sheet_.text_to(fmt::format("{:.3g}", block.bar_end), x + wide, y_, kNote);
    for (std::size_t i = 0; i < block.bars.size(); ++i) {
      const int top = y_ + kRow * static_cast<int>(i + 1) + 3;
      const double share = std::min(1.0, static_cast<double>(block.bars[i]) / block.bar_end);
      const int filled = static_cast<int>(std::lround(share * wide));
      sheet_.box({x, top, wide, kRow - 6}, kBarGround);
      sheet_.box({x, top, share > 0.0 ? std::max(1, filled) : 0, kRow - 6}, kBar);
    }
  }

  // A value, its weight, and the share that the context takes of it.
  void draw(const ShareBlock& block, std::size_t /*number_columns*/) {
    constexpr int kWeight = 76;
    const NumberGroup values(block.values);
    const NumberGroup shares(block.shares);
    const int half = (kCellsRoom - kWeight) / 2;
    const std::size_t wide = std::max(values.width(), shares.width());
    const CellRow left(kCellsX, half, block.values.cols, wide);
    const CellRow right(kCellsX + left.width() + kWeight, half, block.values.cols, wide);
    sheet_.text("v", left.x, y_, half, role_color(InspectionRole::kValue));
    sheet_.text_to("· weight =", right.x - 6, y_, kNote);
    sheet_.text("weight · v", right.x, y_, half, role_color(InspectionRole::kValue));
    y_ += kRow;
    const float largest = largest_size(block.values);
    const float largest_share = largest_size(block.shares);
    for (const ShareBlock::Row& row : block.rows) {
      label(row.label, InspectionRole::kValue, y_);
      sheet_.cell_border(left, y_, kRow);
      sheet_.cell_border(right, y_, kRow);
      sheet_.cells(left, y_, kRow, row.value, largest, values);
      sheet_.text_to(row.weight, right.x - 8, y_ + kTextTop, kText);
      sheet_.cells(right, y_, kRow, row.share, largest_share, shares);
      y_ += kRow;
    }
    remarks(block.remarks);
  }

  const InspectionPage& page_;
  FigureSheet sheet_;
  int y_ = 0;  // where the next block begins
};

}  // namespace

std::string render_inspection_figure(const InspectionPage& page, const FigureStyle& style,
                                     FigureFormat format) {
  const InspectionDocument document =
      inspection_document(page, InspectionDetail::kColored, /*ascii=*/false);
  return scene_file(Figure(page, style).scene(document), style, format,
                    {{"Title", printable_message(document.title)},
                     {"Software", "attnviz"},
                     {"attnviz", page.facts},
                     {"attnviz-figure", figure_facts(page, document)}});
}

}  // namespace attnviz
