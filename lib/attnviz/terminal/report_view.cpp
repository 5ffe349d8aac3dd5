#include "attnviz/terminal/views.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "attnviz/core/message.h"
#include "attnviz/core/utf8.h"
#include "attnviz/report/reports/report.h"
#include "attnviz/terminal/page/page.h"
#include "attnviz/terminal/page/terminal_palette.h"
#include "attnviz/terminal/page/text_table.h"

namespace attnviz {

namespace {

Style style_of(Emphasis emphasis) {
  return emphasis == Emphasis::kStrong ? kBold : emphasis == Emphasis::kQuiet ? kDim : Style{};
}

class ReportView {
 public:
  ReportView(const Report& report, const TerminalOptions& options)
      : report_(report), options_(options), charset_(options.style) {}

  Page draw() {
    if (!report_.title.empty()) {
      draw(Paragraph{report_.title, Emphasis::kStrong});
    }
    for (const std::string& note : report_.notes) {
      draw(Paragraph{note, Emphasis::kQuiet});
    }
    for (const Block& block : report_.blocks) {
      std::visit([this](const auto& one) { draw(one); }, block);
    }
    return std::move(page_);
  }

 private:
  void draw(const Paragraph& one) {
    // Long lines are hard to read.
    constexpr std::size_t kWidestText = 100;
    const std::size_t columns = std::min(options_.columns, kWidestText);
    const std::string text = charset_.sentence(one.text);
    if (one.aside.empty()) {
      page_.add(paragraph(text, columns, style_of(one.emphasis), one.indent));
      return;
    }
    std::vector<Line> words;
    const auto add = [&](std::string_view said, const Style& style) {
      for (const std::string_view word : words_of(said)) {
        words.emplace_back(charset_.fitted(word, columns), style);
      }
    };
    add(text, style_of(one.emphasis));
    const std::string aside = charset_.sentence(one.aside);
    if (display_width(aside) <= columns) {
      words.emplace_back(aside, kDim);
    } else {
      add(aside, kDim);
    }
    page_.add(flow(words, 1, columns));
  }
  void draw(const Gap& /*gap*/) { page_.blank(); }
  void draw(const Heading& heading) {
    page_.blank();
    draw(Paragraph{heading.text, Emphasis::kStrong});
  }

  void draw(const Figure& figure) {
    if (!figure.on_screen) {
      return;
    }
    if (const auto* const heatmap = std::get_if<Heatmap>(&figure.drawing)) {
      page_.add(heatmap_page(beside_title(*heatmap), options_));
    } else if (const auto* const bars = std::get_if<BarsFigure>(&figure.drawing)) {
      page_.add(bars_page(bars->heatmap, bars->subject, options_));
    } else {
      page_.add(chart_page(std::get<ChartFigure>(figure.drawing), options_, figure.rows));
    }
  }

  // Removes the heatmap's title, since the screen has one. Puts panels to compare side by side, and
  // many panels in rows of three unless there is much room.
  Heatmap beside_title(Heatmap heatmap) const {
    constexpr std::size_t kFewPanels = 4;
    constexpr std::size_t kMuchRoom = 120;
    if (!report_.title.empty()) {
      const std::size_t n = heatmap.panels.size();
      heatmap.title.clear();
      heatmap.panels_together = n <= kFewPanels ? n : options_.columns < kMuchRoom ? 3 : 1;
    }
    for (HeatmapPanel& panel : heatmap.panels) {
      panel.title = charset_.formula(panel.title);
    }
    return heatmap;
  }

  std::string text_of(const Column& column, const Datum& cell) const {
    const std::string text = shown_text(column, cell);
    const bool is_token = column.are_tokens && cell.text() != nullptr;
    const std::string shown = is_token ? charset_.label(text) : charset_.sentence(text);
    constexpr std::size_t kUsualColumns = 80;
    constexpr std::size_t kLeastText = 10;
    return column.most_columns == 0
               ? shown
               : charset_.fitted(shown, std::max(kLeastText, column.most_columns *
                                                                 options_.columns / kUsualColumns));
  }

  Span bar(const Column& column, const Datum& cell, std::size_t columns) const {
    const double share = bar_share(column, cell);
    const TerminalPalette palette(column.bars->colormap, options_.color);
    return {charset_.bar(share, columns),
            has_colored_bar(column, cell)
                ? Style{.ink = palette.share_ink(static_cast<float>(share))}
                : kDim};
  }

  void draw(const Table& table) {
    const std::vector<std::size_t> rows = shown_rows(table);
    TextTable text;
    text.indent = table.indent;
    text.has_headings = table.has_headings;
    bool is_first = true;
    text.cuts_labels = table.cuts_names;
    std::size_t n_seen = 0;
    for (const Column& column : table.columns) {
      if (column.for_programs) {
        continue;
      }
      TextColumn cells = column_of(table, column, rows, n_seen++);
      if (std::exchange(is_first, false)) {
        text.labels = std::move(cells.cells);
        text.corner = std::move(cells.heading);
        continue;
      }
      if (column.fits_line) {
        constexpr std::size_t kLeastText = 20;
        for (Span& cell : cells.cells) {
          cell.text = charset_.fitted(cell.text, std::max(kLeastText, room_beside(text)));
        }
      }
      if (!column.bars_alone) {
        text.columns.push_back(std::move(cells));
      }
      if (column.bars) {
        // Cut bars would all look equally long.
        constexpr std::size_t kLeastBar = 4;
        const std::size_t room = room_beside(text);
        if (column.bars_alone && room < kLeastBar) {
          continue;
        }
        const std::size_t width =
            room < kLeastBar ? column.bars->columns : std::min(column.bars->columns, room);
        TextColumn bars{{{}, kDim}, {}, false, true};
        for (const std::size_t row : rows) {
          bars.cells.push_back(bar(column, column.cells[row], width));
        }
        bars.cells.resize(text.labels.size());
        text.columns.push_back(std::move(bars));
      }
    }
    constexpr std::size_t kLeastBeside = 20;
    if (!table.cuts_names && room_beside(names_of(text)) < kLeastBeside) {
      rows_below_names(text);
    } else {
      page_.add(draw_table(text, options_.columns, charset_));
    }
    if (!table.left_out.empty()) {
      draw(Paragraph{"… " + table.left_out, Emphasis::kQuiet, table.indent});
    }
  }

  TextColumn column_of(const Table& table, const Column& column,
                       const std::vector<std::size_t>& rows, std::size_t index) const {
    TextColumn out{{charset_.sentence(column.heading), kDim}, {}};
    out.with_previous = column.with_previous;
    for (const std::size_t row : rows) {
      const Datum& cell = column.cells[row];
      const Style of_row = table.emphasis.empty() ? Style() : style_of(table.emphasis[row]);
      out.to_right = out.to_right && (column.to_right || cell.is_null() || cell.number());
      out.cells.push_back({text_of(column, cell), cell.is_null()      ? kDim
                                                  : of_row != Style{} ? of_row
                                                                      : style_of(column.emphasis)});
    }
    for (const ExtraRow& extra : table.extra_rows) {
      const bool has_cell = index < extra.cells.size();
      out.cells.push_back({has_cell ? text_of(column, extra.cells[index]) : std::string(),
                           style_of(extra.emphasis)});
    }
    return out;
  }

  static TextTable names_of(const TextTable& table) {
    TextTable names;
    names.labels = table.labels;
    names.cuts_labels = table.cuts_labels;
    names.indent = table.indent;
    return names;
  }

  // Puts cells below row names that leave no room beside them.
  void rows_below_names(const TextTable& table) {
    constexpr std::size_t kIndent = 2;
    for (std::size_t row = 0; row < table.labels.size(); ++row) {
      const Span& name = table.labels[row];
      page_.add(paragraph(name.text, options_.columns, name.style, table.indent));
      for (const TextColumn& column : table.columns) {
        const Span& cell = column.cells[row];
        page_.add(paragraph(cell.text, options_.columns, cell.style, table.indent + kIndent));
      }
    }
  }

  // The room that the columns leave for another one.
  std::size_t room_beside(const TextTable& table) const {
    std::size_t used = table.indent + label_columns(table, options_.columns) + table.gap;
    for (const TextColumn& column : table.columns) {
      used += column.width() + table.gap;
    }
    return options_.columns - std::min(options_.columns, used);
  }

  void draw(const Strip& strip) {
    const bool has_color = options_.color != ColorDepth::kNone;
    if (strip.needs_color && !has_color) {
      return;
    }
    const TerminalPalette paper(strip.colormap, options_.color);
    RunningText running(options_.columns);
    for (const StripPiece& piece : strip.pieces) {
      for (std::size_t i = 0; i < piece.lines_before; ++i) {
        running.end_line();
      }
      if (piece.lines_before > 1) {
        running.blank_line();
      }
      const Style style = !piece.share ? Style()
                          : has_color  ? Style{.fill = paper.color(*piece.share)}
                                       : kBold;
      bool is_close = piece.is_close;
      Style blank;
      if (!piece.mark.empty()) {
        running.put(piece.mark, kBold, is_close, blank);
        is_close = false;
      }
      const std::string words = charset_.sentence(piece.text);
      for (const std::string_view word : words_of(words)) {
        running.put(word, style, is_close, blank);
        is_close = false;
        blank = style;
      }
    }
    page_.add(running.take());
  }

  const Report& report_;
  TerminalOptions options_;
  Charset charset_;
  Page page_;
};

}  // namespace

Page report_page(const Report& report, const TerminalOptions& options) {
  return ReportView(report, wide_enough(options)).draw();
}

void write_report(const Report& report, bool as_json, const TerminalOptions& options,
                  const ByteSink& sink) {
  as_json ? write_report_json(report, sink)
          : sink(to_ansi(report_page(report, options), options.color));
}

}  // namespace attnviz
