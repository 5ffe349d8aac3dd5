#include "attnviz/picture/inspection_figure.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "attnviz/color/role_colors.h"
#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/picture/figure_sheet.h"
#include "attnviz/picture/inspection_figure_blocks.h"
#include "attnviz/picture/raster/png_chunks.h"
#include "attnviz/picture/raster/text_rasterizer.h"

namespace attnviz {

namespace {

constexpr Rgb kText = FigureBlocks::kText;
constexpr Rgb kNote = FigureBlocks::kNote;
constexpr Rgb kWarning{0xB0, 0x10, 0x10};
constexpr Rgb kRule{0xD8, 0xD8, 0xD8};

constexpr int kWidth = FigureBlocks::kWidth;
constexpr int kMargin = FigureBlocks::kMargin;
constexpr int kGapAfterStep = 18;

std::string figure_facts(const InspectionPage& page) {
  std::string steps;
  for (std::size_t i = 0; i < kInspectionSteps; ++i) {
    const auto is_shown = [&page, step = static_cast<InspectionStep>(i)](const Inspection& head) {
      return page.shows(head, step);
    };
    if (std::any_of(page.heads.begin(), page.heads.end(), is_shown)) {
      steps += fmt::format("{}\"{}\"", steps.empty() ? "" : ", ", inspection_step_names()[i]);
    }
  }
  return fmt::format(R"({{"steps": [{}], "explain": {}}})", steps, page.explain);
}

class Figure {
 public:
  Figure(const InspectionPage& page, const FigureStyle& style) : page_(page), blocks_(style) {}

  std::string paint(const InspectionDocument& document) {
    title(document.title);
    for (const InspectedHead& head : document.heads) {
      head_line(head);
      bool in_table = false;  // the headings of one table stand together
      for (const InspectedStep& step : head.steps) {
        heading(step, in_table);
        blocks_.draw(step);
        blocks_.skip(step.goes_on ? 0 : kGapAfterStep);
        in_table = step.goes_on;
      }
    }
    sheet().text(
        "cells: blue is negative, red is positive, white is 0; the strongest colour of a "
        "block is its largest number",
        kMargin, blocks_.y(), FigureBlocks::room(), kNote, FigureSheet::kSmallText);
    blocks_.skip(line_height(FigureSheet::kSmallText) + kMargin);
    return sheet().paint(blocks_.y());
  }

 private:
  FigureSheet& sheet() noexcept { return blocks_.sheet(); }

  void title(const std::string& title) {
    blocks_.skip(kMargin);
    blocks_.skip(sheet().paragraph(safe_message(title, false), kMargin, blocks_.y(),
                                   FigureBlocks::room(), kText, FigureSheet::kTitle));
    paragraphs(page_.notes, kWarning);
    paragraphs(page_.remarks, kNote);
  }

  void paragraphs(const std::vector<std::string>& texts, Rgb color) {
    for (const std::string& text : texts) {
      blocks_.skip(sheet().paragraph(safe_message(text, false), kMargin, blocks_.y() + 2,
                                     FigureBlocks::room(), color) +
                   2);
    }
  }

  void head_line(const InspectedHead& head) {
    blocks_.skip(6);
    int x = kMargin;
    for (const std::span<const RoleText> texts :
         {std::span<const RoleText>(head.facts), inspection_legend()}) {
      for (const RoleText& text : texts) {
        x += sheet().text(text.text, x, blocks_.y(), kWidth - kMargin - x, role_color(text.role)) +
             2 * FigureSheet::kText;
      }
    }
    blocks_.skip(line_height(FigureSheet::kText) + kGapAfterStep / 2);
  }

  // A rule, the number and the formula on the left, shapes on the right, the sentence and what the
  // numbers come from below.
  void heading(const InspectedStep& step, bool in_table) {
    if (!in_table) {
      sheet().box({kMargin, blocks_.y(), FigureBlocks::room(), 1}, kRule);
      blocks_.skip(7);
    }
    sheet().text(fmt::format("{:<2} {}", step.number, step.formula), kMargin, blocks_.y(),
                 FigureBlocks::room() * 3 / 4, kText);
    sheet().text_to(step.shape, kMargin + FigureBlocks::room(), blocks_.y(), kNote);
    blocks_.skip(line_height(FigureSheet::kText) + 2);
    constexpr int kIndent = 3 * FigureSheet::kText;
    for (const std::string* text : {&step.sentence, &step.note}) {
      if (!text->empty()) {
        blocks_.skip(sheet().paragraph(*text, kMargin + kIndent, blocks_.y(),
                                       FigureBlocks::room() - kIndent, kNote) +
                     2);
      }
    }
    blocks_.skip(2);
  }

  const InspectionPage& page_;
  FigureBlocks blocks_;
};

}  // namespace

std::string render_inspection_figure(const InspectionPage& page, const FigureStyle& style) {
  const InspectionDocument document =
      inspection_document(page, InspectionDetail::kColored, /*ascii=*/false);
  return with_facts(Figure(page, style).paint(document),
                    {kUsualDpi,
                     {{"Title", printable_message(document.title)},
                      {"Software", "attnviz"},
                      {"attnviz", page.facts},
                      {"attnviz-figure", figure_facts(page)}}});
}

}  // namespace attnviz
