#include "attnviz/terminal/inspection_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "attnviz/core/utf8.h"
#include "attnviz/terminal/inspection_tables.h"
#include "attnviz/terminal/page/paragraph.h"

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

// Which head and query, and what the hues mean.
void InspectionScreen::head_line(const InspectedHead& head) {
  std::vector<Line> items;
  for (const RoleText& fact : head.facts) {
    items.emplace_back(style_.charset.fitted(fact.text, columns()),
                       items.empty() ? kBold : style_.role(fact.role));
  }
  // The meaning of the hues stays together.
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

// The number and the formula on the left, shapes on the right or, where there is no room, below.
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
    bool in_table = false;  // the headings of one table stand together
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

}  // namespace attnviz
