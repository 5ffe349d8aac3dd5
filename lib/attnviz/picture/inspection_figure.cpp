#include "attnviz/picture/figure_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "attnviz/color/group_colors.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/picture/fonts/glyphs.h"
#include "attnviz/picture/layout/figure_sheet.h"

namespace attnviz {

namespace {

// Colours besides those of roles and cells.
struct SheetColors {
  Rgb text;
  Rgb note;
  Rgb warning;
  Rgb rule;
  Rgb bar;
  Rgb bar_ground;
};

constexpr SheetColors kLightSheet = {{0x1A, 0x1A, 0x1A}, {0x55, 0x55, 0x55}, {0xB0, 0x10, 0x10},
                                     {0xD8, 0xD8, 0xD8}, {0x6E, 0x6E, 0x6E}, {0xF0, 0xF0, 0xF0}};
constexpr SheetColors kDarkSheet = {{0xEC, 0xEC, 0xEC}, {0xA6, 0xA9, 0xB0}, {0xFF, 0x7A, 0x6E},
                                    {0x44, 0x48, 0x50}, {0x9A, 0x9D, 0xA4}, {0x2A, 0x2D, 0x33}};

// Pixels at 96 dpi.
constexpr int kUsualSheet = 1080;
constexpr int kNarrowestSheet = 300;
constexpr int kSheetMargin = 28;
constexpr int kSmallestNumber = 5;  // columns of text

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
      : page_(page),
        style_(style),
        colors_(style.theme == FigureTheme::kDark ? kDarkSheet : kLightSheet),
        sheet_(width_, style) {
    check(style);
    check_fits(px(kNarrowestSheet), style);
  }

  Scene scene(const InspectionDocument& document) {
    title(document.title);
    for (const InspectedHead& head : document.heads) {
      head_line(head);
      most_columns_ = 0;
      for (const InspectedStep& step : head.steps) {
        most_columns_ = std::max(most_columns_, step.number_columns);
      }
      bool in_table = false;  // the headings of one table stand together
      for (const InspectedStep& step : head.steps) {
        heading(step, in_table);
        for (const InspectionBlock& block : step.blocks) {
          std::visit([&](const auto& some) { draw(some, step.number_columns); }, block);
        }
        y_ += step.goes_on ? 0 : px(18);
        in_table = step.goes_on;
      }
    }
    if (has_cells_) {
      y_ += sheet_.paragraph(
          "cells: blue is negative, red is positive; the strongest colour in a block is its "
          "largest number",
          margin_, y_, room_, colors_.note, small_);
    }
    y_ += margin_;
    return std::move(sheet_).scene(y_);
  }

 private:
  int px(double at_96_dpi) const noexcept { return style_.pixels(at_96_dpi); }

  Rgb color_of(InspectionRole role) const {
    if (role == InspectionRole::kPlain) {
      return colors_.text;
    }
    constexpr double kLighter = 0.4;  // on a dark sheet
    return style_.theme == FigureTheme::kDark
               ? mixed(role_color(role), {0xFF, 0xFF, 0xFF}, kLighter)
               : role_color(role);
  }

  void title(const std::string& title) {
    y_ += margin_;
    if (!title.empty()) {
      y_ += sheet_.paragraph(safe_message(title, false), margin_, y_, room_, colors_.text,
                             px(FigureSheet::kTitle));
    }
    paragraphs(page_.notes, colors_.warning);
    paragraphs(page_.remarks, colors_.note);
  }

  void paragraphs(const std::vector<std::string>& texts, Rgb color) {
    for (const std::string& text : texts) {
      y_ += sheet_.paragraph(safe_message(text, false), margin_, y_ + px(2), room_, color) + px(2);
    }
  }

  void head_line(const InspectedHead& head) {
    y_ += px(6);
    int x = margin_;
    const int right = width_ - margin_;
    for (const std::span<const RoleText> texts :
         {std::span<const RoleText>(head.facts), inspection_legend()}) {
      for (const RoleText& text : texts) {
        if (x > margin_ && x + sheet_.width_of(text.text) > right) {
          x = margin_;
          y_ += line_height(text_);
        }
        x += sheet_.text(text.text, x, y_, right - x, color_of(text.role)) + 2 * text_;
      }
    }
    y_ += line_height(text_) + px(18) / 2;
  }

  // A rule, the number and the formula on the left, shapes on the right, the sentence and the
  // sources of the numbers below.
  void heading(const InspectedStep& step, bool in_table) {
    if (!in_table) {
      sheet_.box({margin_, y_, room_, px(1)}, colors_.rule);
      y_ += px(7);
    }
    const std::string formula = fmt::format("{:<2} {}", step.number, step.formula);
    const int shape = sheet_.width_of(step.shape);
    const int indent = 3 * text_;
    if (sheet_.width_of(formula) + text_ + shape <= room_) {
      sheet_.text(formula, margin_, y_, room_, colors_.text);
    } else {
      y_ += sheet_.paragraph(formula, margin_, y_, room_, colors_.text);
    }
    if (shape <= room_) {
      sheet_.text_to(step.shape, margin_ + room_, y_, colors_.note);
      y_ += line_height(text_) + px(2);
    } else {
      y_ +=
          sheet_.paragraph(step.shape, margin_ + indent, y_, room_ - indent, colors_.note) + px(2);
    }
    for (const std::string* text : {&step.sentence, &step.note}) {
      if (!text->empty()) {
        y_ += sheet_.paragraph(*text, margin_ + indent, y_, room_ - indent, colors_.note) + px(2);
      }
    }
    y_ += px(2);
  }

  void label(std::string_view text, InspectionRole role, int y) {
    const Rgb color = color_of(role);
    if (role != InspectionRole::kPlain) {
      sheet_.box({margin_, y, px(3), row_ - px(1)}, color);
    }
    sheet_.text(text, margin_ + px(8), y + px(1), label_ - px(16), color);
  }

  // Makes cells as wide as those of all other steps if numbers fit them.
  CellRow row_of(int x, int room, std::size_t n_values, std::size_t number_columns) {
    has_cells_ = true;
    const CellRow alike(x, room, n_values, std::max(most_columns_, number_columns), style_);
    return alike.has_numbers ? alike : CellRow(x, room, n_values, number_columns, style_);
  }

  // Draws cells for numbers of at least `number_columns`.
  void draw(const VectorBlock& block, std::size_t number_columns) {
    float largest = 0.0f;
    for (const VectorRow& row : block.rows) {
      largest = std::max(
          largest, largest_size({row.values.data(), 1, row.values.size(), row.values.size()}));
    }
    y_ += block.is_apart ? px(5) : 0;
    const CellRow cells = row_of(cells_x_, cells_room_, block.rows.front().values.size(),
                                 std::max(number_columns, block.numbers.width()));
    sheet_.cell_border(cells, y_, row_ * static_cast<int>(block.rows.size()));
    for (const VectorRow& row : block.rows) {
      label(row.label, row.role, y_);
      sheet_.cells(cells, y_, row_, row.values, largest, block.numbers);
      y_ += row_;
    }
    remarks(block.remarks);
  }

  // Draws a matrix whose columns stand over those of the vector that it produces.
  void draw(const MatrixBlock& block, std::size_t number_columns) {
    const int highest = px(128);
    const ConstMatrix values = block.values;
    const NumberGroup numbers(values);
    CellRow cells = row_of(cells_x_, cells_room_, values.cols, number_columns);
    const auto n_rows =
        static_cast<int>(std::min<std::size_t>(values.rows, static_cast<std::size_t>(highest)));
    const bool all_rows_fit = n_rows * row_ <= highest;
    cells.has_numbers = cells.has_numbers && all_rows_fit;
    const int height = all_rows_fit ? row_ : std::max(1, highest / n_rows);
    label(block.title, block.role, y_);
    const float largest = largest_size(values);
    sheet_.cell_border(cells, y_, height * n_rows);
    for (int row = 0; row < n_rows; ++row) {
      const std::size_t source =
          static_cast<std::size_t>(row) * values.rows / static_cast<std::size_t>(n_rows);
      sheet_.cells(cells, y_, height, values.row(source), largest, numbers);
      y_ += height;
    }
    y_ += px(5);
  }

  void remarks(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      y_ += sheet_.paragraph(text, margin_ + px(8), y_, room_ - px(8), colors_.note, small_);
    }
  }

  // Draws numbers in columns, and a bar for the weight.
  void draw(const TableBlock& block, std::size_t /*number_columns*/) {
    constexpr int kColumn = 108;
    constexpr int kNarrowColumn = 92;  // when many columns leave the bars little room
    constexpr int kLeastBars = 60;
    constexpr int kLeastColumn = 62;  // beside bars
    constexpr std::size_t kUsualColumns = 7;
    const auto n_columns = static_cast<int>(std::max<std::size_t>(block.columns.size(), 1));
    const int beside_bars = (cells_room_ - px(24) - px(kLeastBars)) / n_columns;
    const int room = !block.bars.empty() && beside_bars >= px(kLeastColumn)
                         ? beside_bars
                         : cells_room_ / n_columns;
    const int column_width =
        std::min(px(block.columns.size() > kUsualColumns ? kNarrowColumn : kColumn), room);
    // In a narrow figure numbers are smaller, and cut only if they are still too wide.
    const bool is_narrow = column_width < px(kNarrowColumn);
    const int number = is_narrow ? px(kSmallestNumber) : text_;
    int right = cells_x_;
    for (const TableColumn& column : block.columns) {
      right += column_width;
      sheet_.text_to(sheet_.fitted(column.heading, column_width - number, number), right, y_,
                     colors_.note, number);
      for (std::size_t i = 0; i < block.rows.size(); ++i) {
        sheet_.text_to(sheet_.fitted(column.cells[i], column_width - number / 2, number), right,
                       y_ + row_ * static_cast<int>(i + 1) + px(1),
                       block.rows[i].is_faint ? colors_.note : colors_.text, number);
      }
    }
    if (!block.bars.empty() && right + px(24) + px(kLeastBars) <= width_ - margin_) {
      bars(block, right + px(24));
    }
    y_ += row_;
    for (const TableRow& row : block.rows) {
      label(row.label.text, row.label.role, y_);
      y_ += row_;
    }
    remarks(block.remarks);
  }

  void bars(const TableBlock& block, int x) {
    const int wide = width_ - margin_ - x;
    sheet_.text("0", x, y_, wide, colors_.note);
    sheet_.text_to(fmt::format("{:.3g}", block.bar_end), x + wide, y_, colors_.note);
    for (std::size_t i = 0; i < block.bars.size(); ++i) {
      const int top = y_ + row_ * static_cast<int>(i + 1) + px(3);
      const double share = std::min(1.0, static_cast<double>(block.bars[i]) / block.bar_end);
      const int filled = static_cast<int>(std::lround(share * wide));
      sheet_.box({x, top, wide, row_ - px(6)}, colors_.bar_ground);
      sheet_.box({x, top, share > 0.0 ? std::max(1, filled) : 0, row_ - px(6)}, colors_.bar);
    }
  }

  // Draws a value, its weight, and its contribution to the context.
  void draw(const ShareBlock& block, std::size_t /*number_columns*/) {
    const int weight = px(76);
    const NumberGroup values(block.values);
    const NumberGroup shares(block.shares);
    const int half = (cells_room_ - weight) / 2;
    const std::size_t wide = std::max(values.width(), shares.width());
    const CellRow left = row_of(cells_x_, half, block.values.cols, wide);
    const CellRow right = row_of(cells_x_ + left.width() + weight, half, block.values.cols, wide);
    sheet_.text("v", left.x, y_, half, color_of(InspectionRole::kValue));
    sheet_.text_to("· weight =", right.x - px(6), y_, colors_.note);
    sheet_.text("weight · v", right.x, y_, half, color_of(InspectionRole::kValue));
    y_ += row_;
    const float largest = largest_size(block.values);
    const float largest_share = largest_size(block.shares);
    for (const ShareBlock::Row& row : block.rows) {
      label(row.label, InspectionRole::kValue, y_);
      sheet_.cell_border(left, y_, row_);
      sheet_.cell_border(right, y_, row_);
      sheet_.cells(left, y_, row_, row.value, largest, values);
      sheet_.text_to(row.weight, right.x - px(8), y_ + px(1), colors_.text);
      sheet_.cells(right, y_, row_, row.share, largest_share, shares);
      y_ += row_;
    }
    remarks(block.remarks);
  }

  const InspectionPage& page_;
  const FigureStyle& style_;
  const SheetColors& colors_;
  const int text_ = style_.pixels(FigureSheet::kText);  // width of columns of text
  const int small_ = style_.pixels(FigureSheet::kSmallText);
  const int width_ = style_.width ? style_.width_pixels() : style_.pixels(kUsualSheet);
  const int margin_ = style_.pixels(kSheetMargin);
  const int room_ = width_ - 2 * margin_;
  const int label_ = std::min(style_.pixels(150), room_ / 3);  // the column of labels
  const int cells_x_ = margin_ + label_;
  const int cells_room_ = room_ - label_;
  const int row_ = style_.pixels(18);
  FigureSheet sheet_;
  std::size_t most_columns_ = 0;  // in the numbers of a head's steps
  bool has_cells_ = false;
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
