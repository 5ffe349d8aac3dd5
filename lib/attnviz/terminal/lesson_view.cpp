#include "attnviz/terminal/lesson_view.h"

#include <algorithm>
#include <string>
#include <utility>

#include "attnviz/core/utf8.h"
#include "attnviz/terminal/chart_view.h"
#include "attnviz/terminal/heatmap_view.h"
#include "attnviz/terminal/page/charset.h"
#include "attnviz/terminal/page/paragraph.h"
#include "attnviz/terminal/page/text_table.h"

namespace attnviz {

namespace {

// The names of Greek letters and what else has no sign of 7 bits.
std::string lesson_words(const Charset& charset, std::string text) {
  if (!charset.is_ascii()) {
    return text;
  }
  constexpr std::pair<const char*, const char*> kSpelled[] = {{"φ", "phi"}};
  for (const auto& [sign, word] : kSpelled) {
    for (std::size_t at = text.find(sign); at != std::string::npos; at = text.find(sign)) {
      text.replace(at, std::string_view(sign).size(), word);
    }
  }
  return charset.formula(text);
}

void add_figure(Page& page, const Lesson& lesson, const TerminalOptions& options,
                const Charset& charset) {
  // A table below takes lines, too.
  const bool has_table =
      std::ranges::any_of(lesson.table, [](const LessonColumn& column) { return column.is_shown; });
  const std::size_t rows = has_table ? 6 : 8;
  if (const auto* const chart = std::get_if<ChartFigure>(&lesson.figure)) {
    page.add(chart_page(*chart, options, rows));
    page.blank();
  }
  if (const auto* const given = std::get_if<Heatmap>(&lesson.figure)) {
    Heatmap heatmap = *given;
    heatmap.title.clear();  // the screen has it
    // To be compared they stand side by side, and many in rows of three unless there is much room:
    // a lesson is one screen.
    constexpr std::size_t kFewPanels = 4;
    constexpr std::size_t kMuchRoom = 120;
    const std::size_t n = heatmap.panels.size();
    heatmap.panels_together = n <= kFewPanels ? n : options.columns < kMuchRoom ? 3 : 1;
    for (HeatmapPanel& panel : heatmap.panels) {
      panel.title = lesson_words(charset, panel.title);
    }
    page.add(heatmap_page(heatmap, options));
    page.blank();
  }
}

void add_table(Page& page, const Lesson& lesson, std::size_t columns, const Charset& charset) {
  TextTable table;
  for (const LessonColumn& column : lesson.table) {
    if (!column.is_shown) {
      continue;
    }
    const Span heading{lesson_words(charset, column.heading), kDim};
    if (table.labels.empty()) {
      table.corner = heading;
      for (const LessonCell& cell : column.cells) {
        table.labels.push_back({lesson_words(charset, cell.text)});
      }
      continue;
    }
    TextColumn shown{heading, {}};
    for (const LessonCell& cell : column.cells) {
      shown.to_right = shown.to_right && cell.number.has_value();
      shown.cells.push_back({lesson_words(charset, cell.text)});
    }
    table.columns.push_back(std::move(shown));
  }
  if (!table.labels.empty()) {
    page.add(draw_table(table, columns, charset));
    page.blank();
  }
}

// Commands on the left, what they do on the right, or below where that is too wide.
void add_next(Page& page, const Lesson& lesson, std::size_t columns) {
  std::size_t widest = 0;
  for (const NextCommand& next : lesson.next) {
    widest = std::max(widest, display_width(next.command));
  }
  for (const NextCommand& next : lesson.next) {
    Line line;
    line.put_padded(next.command, widest + 2, kBold);
    if (widest + 2 + display_width(next.text) <= columns) {
      line.put(next.text, kDim);
      page.add(std::move(line));
    } else {
      page.add(paragraph(next.command, columns, kBold));
      page.add(paragraph(next.text, columns, kDim, 2));
    }
  }
}

}  // namespace

Page lesson_page(const Lesson& lesson, const TerminalOptions& given, bool with_figure) {
  const TerminalOptions options = wide_enough(given);
  const Charset charset(options.style);
  // Sentences are read line by line: not in lines of any length.
  constexpr std::size_t kWidestText = 100;
  const std::size_t text = std::min(options.columns, kWidestText);
  Page page;
  page.add(paragraph(lesson_words(charset, lesson.title), options.columns, kBold));
  for (const std::string& sentence : lesson.says) {
    page.add(paragraph(lesson_words(charset, sentence), text));
  }
  page.blank();
  if (with_figure) {
    add_figure(page, lesson, options, charset);
  }
  add_table(page, lesson, options.columns, charset);
  for (const std::string& sentence : lesson.ends) {
    page.add(paragraph(lesson_words(charset, sentence), text));
  }
  if (!lesson.next.empty()) {
    page.blank();
    add_next(page, lesson, options.columns);
  }
  return page;
}

Page lessons_page(const TerminalOptions& given) {
  const TerminalOptions options = wide_enough(given);
  const Charset charset(options.style);
  Page page;
  page.add(paragraph("lessons: one screen and one figure each", options.columns, kBold));
  page.blank();
  constexpr std::size_t kName = 11;
  for (std::size_t i = 0; i < kLessonChoices.size(); ++i) {
    const LessonSummary& summary = kLessonSummaries[i];
    const std::string teaches = lesson_words(charset, std::string(summary.teaches));
    const std::size_t room = options.columns - std::min(options.columns - 8, kName);
    std::string_view name = kLessonChoices[i].word;
    for (const std::string& text : wrap(teaches, room)) {
      Line line;
      line.put_padded(name, kName, kBold);
      line.put(text);
      page.add(std::move(line));
      name = "";
    }
    page.add(paragraph(lesson_words(charset, "figure: " + std::string(summary.draws)),
                       options.columns, kDim, kName));
  }
  return page;
}

}  // namespace attnviz
