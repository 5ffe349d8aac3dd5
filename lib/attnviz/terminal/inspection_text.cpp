#include "attnviz/terminal/inspection_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "attnviz/core/utf8.h"
#include "attnviz/terminal/page/text_table.h"

namespace attnviz {

namespace {

constexpr std::size_t kItemGap = 2;

class InspectionScreen {
 public:
  InspectionScreen(const InspectionPage& page, const TerminalOptions& options)
      : page_(page),
        style_(options),
        document_(inspection_document(
            page, page.full ? InspectionDetail::kFull : InspectionDetail::kWritten,
            style_.charset.is_ascii())) {}

  Page draw();

  void operator()(const VectorBlock& block);
  void operator()(const MatrixBlock& block);
  void operator()(const TableBlock& block);
  void operator()(const ShareBlock& block);

 private:
  std::size_t columns() const noexcept { return style_.options.columns; }
  void add_paragraph(std::string_view text, std::size_t indent, const Style& style = {}) {
    out_.add(paragraph(style_.charset.formula(text), columns(), style, indent));
  }
  void add_table(const TextTable& table) { out_.add(draw_table(table, columns(), style_.charset)); }
  void add_remarks(const std::vector<std::string>& remarks);
  void head_line(const InspectedHead& head);
  void heading(const InspectedStep& step);

  const InspectionPage& page_;
  InspectionStyle style_;
  InspectionDocument document_;
  Page out_;
};

void InspectionScreen::add_remarks(const std::vector<std::string>& remarks) {
  for (const std::string& remark : remarks) {
    add_paragraph(remark, style_.indent, kDim);
  }
}

// The head, the query, and the meaning of the hues.
void InspectionScreen::head_line(const InspectedHead& head) {
  std::vector<Line> items;
  for (const RoleText& fact : head.facts) {
    items.emplace_back(style_.charset.fitted(fact.text, columns()),
                       items.empty() ? kBold : style_.role(fact.role));
  }
  // The meanings of the hues stay together.
  Line meaning;
  for (const RoleText& hue : inspection_legend()) {
    meaning.space(meaning.spans.empty() ? 0 : kItemGap);
    meaning.put(hue.text, style_.role(hue.role));
  }
  if (meaning.width() <= columns()) {
    items.push_back(std::move(meaning));
  }
  out_.add(flow(items, kItemGap, columns()));
}

// The number and the formula on the left, shapes on the right or, without room, below.
void InspectionScreen::heading(const InspectedStep& step) {
  constexpr std::size_t kWidest = 100;
  const std::string number = fmt::format("{:<2} ", step.number);
  const std::string formula = style_.charset.formula(step.formula);
  const std::string shape = style_.charset.formula(step.shape);
  const std::size_t room = std::min(columns(), kWidest);
  const std::size_t width =
      number.size() + display_width(formula) + kItemGap + display_width(shape);
  if (width <= room) {
    Line line(number + formula, kBold);
    line.space(room - width + kItemGap);
    line.put(shape, kDim);
    out_.add(std::move(line));
  } else {
    bool is_first = true;
    for (const std::string& part : wrap(formula, columns() - number.size())) {
      Line line;
      line.put_padded(is_first ? number : "", number.size(), kBold);
      line.put(part, kBold);
      out_.add(std::move(line));
      is_first = false;
    }
    add_paragraph(shape, style_.indent, kDim);
  }
  if (!step.sentence.empty()) {
    add_paragraph(step.sentence, style_.indent);
  }
  if (!step.note.empty()) {
    add_paragraph(step.note, style_.indent, kDim);
  }
}

void InspectionScreen::operator()(const VectorBlock& block) {
  if (!block.caption.empty()) {
    add_paragraph(block.caption, style_.indent, kDim);
  }
  add_table(vector_table(style_, block.rows, block.numbers, page_.full));
  add_remarks(block.remarks);
}

void InspectionScreen::operator()(const MatrixBlock& block) {
  add_paragraph(fmt::format("{} [{}, {}]", block.title, block.values.rows, block.values.cols),
                style_.indent, style_.role(block.role));
  add_table(matrix_table(style_, block, document_.names));
}

void InspectionScreen::operator()(const TableBlock& block) {
  add_table(block_table(style_, block));
  add_remarks(block.remarks);
}

void InspectionScreen::operator()(const ShareBlock& block) {
  add_table(share_table(style_, block));
  add_remarks(block.remarks);
}

Page InspectionScreen::draw() {
  if (!document_.title.empty()) {
    add_paragraph(style_.charset.sentence(document_.title), 0, kBold);
  }
  for (const std::vector<std::string>* texts : {&page_.notes, &page_.remarks}) {
    for (const std::string& text : *texts) {
      add_paragraph(style_.charset.sentence(text), 0);
    }
  }
  for (const InspectedHead& head : document_.heads) {
    out_.blank();
    head_line(head);
    bool in_table = false;  // headings of one table stay together
    for (const InspectedStep& step : head.steps) {
      if (!in_table || page_.explain) {
        out_.blank();
      }
      heading(step);
      for (const InspectionBlock& block : step.blocks) {
        std::visit(*this, block);
      }
      in_table = step.goes_on && step.blocks.empty();
    }
  }
  return std::move(out_);
}

}  // namespace

Page inspection_screen(const InspectionPage& page, const TerminalOptions& options) {
  return InspectionScreen(page, options).draw();
}

namespace {

using Role = InspectionRole;

constexpr std::size_t kColumnGap = 2;

std::size_t room_beside(const InspectionStyle& style, std::size_t label_width) {
  const std::size_t used = style.indent + label_width + kColumnGap;
  return style.options.columns - std::min(style.options.columns - 1, used);
}

std::string gap_text(const InspectionStyle& style, std::size_t count) {
  return fmt::format("{0} {1} more {0}", style.charset.ellipsis(), count);
}

// The room for each of the two vectors beside a weight: a whole line if all of it fits there, or
// else half a line if it holds two numbers and the count of those between.
std::size_t share_room(const InspectionStyle& style, std::size_t label_width,
                       const ShareBlock& block, const NumberGroup& values,
                       const NumberGroup& shares) {
  const std::size_t size = block.values.cols;
  const std::size_t number = std::max(values.width(), shares.width());
  const std::size_t room = room_beside(style, label_width);
  const std::size_t beside =
      std::max(block.weight_columns, std::string_view("weight").size()) + 2 * kColumnGap;
  const std::size_t half = (room - std::min(room, beside)) / 2;
  const std::size_t least = display_width(gap_text(style, size)) + 2 * kColumnGap + 2 * number;
  const std::size_t whole = size * (number + kColumnGap) - kColumnGap;
  return whole > room && half >= least ? half : room;
}

TextTable empty_table(const InspectionStyle& style) {
  TextTable table;
  table.indent = style.indent;
  table.gap = kColumnGap;
  return table;
}

// Adds a last column that is never separated from the one before it.
void add_bars(const InspectionStyle& style, const TableBlock& block, TextTable& table) {
  constexpr std::size_t kLeast = 8;
  constexpr std::size_t kMost = 30;
  const std::size_t columns = style.options.columns;
  const std::size_t labels = label_columns(table, columns);
  std::size_t used = style.indent + labels;
  std::size_t last = 0;  // width of the bars' column with its gap
  for (const TextColumn& column : table.columns) {
    last = kColumnGap + column.width();
    used += last;
  }
  const std::size_t beside = columns - std::min(columns, used + kColumnGap);
  const std::size_t width =
      std::min(kMost, beside >= kLeast ? beside : room_beside(style, labels + last));
  TextColumn& bars = table.columns.emplace_back();
  bars.to_right = false;
  bars.with_previous = true;
  const std::string end = fmt::format("{:.3g}", block.bar_end);
  if (width > end.size() + 1) {
    bars.heading.text = "0" + pad_left(end, width - 1);
  }
  for (const float value : block.bars) {
    bars.cells.push_back(
        {style.charset.bar(static_cast<double>(value) / block.bar_end, width), {}});
  }
  bars.cells.resize(table.labels.size());
}

}  // namespace

InspectionStyle::InspectionStyle(const TerminalOptions& terminal)
    : options(wide_enough(terminal)), charset(terminal.style) {
  constexpr std::size_t kNarrow = 40;
  indent = options.columns < kNarrow ? 1 : 3;
}

Style InspectionStyle::role(InspectionRole role) const {
  if (role == Role::kPlain) {
    return {};
  }
  constexpr int kBackground = 10;  // background minus foreground code
  const RoleColor& color = role_colors(role);
  const bool has_few = options.color == ColorDepth::k16;
  return {.ink = PaletteColor{has_few ? color.code16 + kBackground : color.index256, color.rgb}};
}

std::string vector_text(const InspectionStyle& style, std::span<const float> values,
                        const NumberGroup& numbers, std::size_t room) {
  const std::size_t width = numbers.width();
  const std::size_t slot = width + kColumnGap;
  std::size_t shown = (room + kColumnGap) / slot;
  std::string gap;
  if (shown < values.size()) {
    const std::size_t taken = display_width(gap_text(style, values.size())) + kColumnGap;
    if (room >= taken + width) {
      shown = (room - taken + kColumnGap) / slot;
      gap = gap_text(style, values.size() - shown);
    } else {
      const std::size_t short_gap = display_width(style.charset.ellipsis()) + kColumnGap;
      shown = std::max<std::size_t>(1, (room - std::min(room, short_gap) + kColumnGap) / slot);
      gap = style.charset.ellipsis();
    }
  }
  shown = std::min(shown, values.size());
  const std::size_t before_gap = gap.empty() ? shown : (shown + 1) / 2;
  std::string text;
  const auto put = [&text](const std::string& piece) {
    text += text.empty() ? piece : std::string(kColumnGap, ' ') + piece;
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
  TextTable table = empty_table(style);
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

TextTable block_table(const InspectionStyle& style, const TableBlock& block) {
  TextTable table = empty_table(style);
  table.corner = {style.charset.formula(block.corner.text), style.role(block.corner.role)};
  for (const TableRow& row : block.rows) {
    table.labels.push_back({style.charset.formula(row.label.text),
                            row.label.is_faint ? kDim : style.role(row.label.role)});
  }
  for (const TableColumn& from : block.columns) {
    TextColumn& column = table.columns.emplace_back();
    column.heading = {style.charset.formula(from.heading), style.role(from.role)};
    column.with_previous = from.with_previous;
    for (std::size_t row = 0; row < from.cells.size(); ++row) {
      column.cells.push_back({style.charset.formula(from.cells[row]),
                              block.rows[row].is_faint ? kDim : style.role(from.role)});
    }
  }
  if (!block.bars.empty()) {
    add_bars(style, block, table);
  }
  return table;
}

TextTable share_table(const InspectionStyle& style, const ShareBlock& block) {
  const NumberGroup values(block.values);
  const NumberGroup shares(block.shares);
  TextTable table = empty_table(style);
  table.corner = {"value", style.role(Role::kValue)};
  table.columns.resize(3);
  const std::pair<const char*, Role> headings[] = {
      {"v", Role::kValue}, {"weight", Role::kPlain}, {"weight · v", Role::kValue}};
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const auto& [heading, role] = headings[i];
    table.columns[i].heading = {style.charset.formula(heading), style.role(role)};
    table.columns[i].to_right = role == Role::kPlain;
  }
  for (const ShareBlock::Row& row : block.rows) {
    table.labels.push_back({row.label, style.role(Role::kValue)});
  }
  const std::size_t room =
      share_room(style, label_columns(table, style.options.columns), block, values, shares);
  for (const ShareBlock::Row& row : block.rows) {
    table.columns[0].cells.push_back(
        {vector_text(style, row.value, values, room), style.role(Role::kValue)});
    table.columns[1].cells.push_back({row.weight, {}});
    table.columns[2].cells.push_back(
        {vector_text(style, row.share, shares, room), style.role(Role::kValue)});
  }
  return table;
}

TextTable matrix_table(const InspectionStyle& style, const MatrixBlock& block,
                       const TokenNames& names) {
  constexpr std::size_t kLabelColumns = 10;
  const NumberGroup numbers(block.values);
  const auto label = [&names](MatrixAxis axis, std::size_t i) {
    return axis.is_tokens ? names.indexed(i) : std::to_string(i);
  };
  TextTable table = empty_table(style);
  for (std::size_t row = 0; row < block.values.rows; ++row) {
    table.labels.push_back({label(block.rows, row), style.role(block.rows.role)});
  }
  for (std::size_t col = 0; col < block.values.cols; ++col) {
    TextColumn& column = table.columns.emplace_back();
    column.heading = {style.charset.fitted(label(block.columns, col), kLabelColumns),
                      style.role(block.columns.role)};
    for (std::size_t row = 0; row < block.values.rows; ++row) {
      const float value = block.values(row, col);
      const bool is_masked = std::isinf(value) && value < 0.0f;
      column.cells.push_back(
          {is_masked ? style.charset.formula("−∞") : numbers.text(value), style.role(block.role)});
    }
  }
  return table;
}

}  // namespace attnviz
