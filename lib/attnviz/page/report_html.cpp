#include "attnviz/page/explorer.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <variant>

#include "attnviz/core/utf8.h"
#include "attnviz/formats/base64.h"
#include "attnviz/page/page_file.h"
#include "attnviz/picture/figure_file.h"
#include "attnviz/report/reports/report.h"

namespace attnviz {

namespace {

std::string data_url(std::string_view svg) {
  return "data:image/svg+xml;base64," + encoded_base64(svg);
}

class ReportHtml {
 public:
  ReportHtml(const Report& report, const FigureStyle& style) : report_(report), style_(style) {}

  std::string draw() {
    out_ += "<article class=\"report\">\n";
    if (!report_.title.empty()) {
      out_ += fmt::format("<h1>{}</h1>\n", html_text(report_.title));
    }
    if (!report_.notes.empty()) {
      out_ += "<p class=\"notes\">";
      for (std::size_t i = 0; i < report_.notes.size(); ++i) {
        out_ += i == 0 ? html_text(report_.notes[i])
                       : fmt::format("<span>{}</span>", html_text(report_.notes[i]));
      }
      out_ += "</p>\n";
    }
    for (const Block& block : report_.blocks) {
      std::visit([this](const auto& one) { draw(one); }, block);
    }
    return out_ + "</article>\n";
  }

 private:
  void draw(const Paragraph& one) {
    const char* const kind = one.emphasis == Emphasis::kStrong  ? " class=\"strong\""
                             : one.emphasis == Emphasis::kQuiet ? " class=\"quiet\""
                                                                : "";
    out_ += fmt::format("<p{}>{}", kind, html_text(one.text));
    if (!one.aside.empty()) {
      out_ += fmt::format(" <span class=\"aside\">{}</span>", html_text(one.aside));
    }
    out_ += "</p>\n";
  }
  void draw(const Heading& heading) {
    out_ += fmt::format("<h2>{}</h2>\n", html_text(heading.text));
  }
  void draw(const Gap& /*gap*/) { out_ += "<div class=\"gap\"></div>\n"; }

  void draw(const Figure& figure) {
    if (const auto* const bars = std::get_if<BarsFigure>(&figure.drawing)) {
      picture(bars->heatmap.title, bars->heatmap, bars->subject);
    } else if (const auto* const heatmap = std::get_if<Heatmap>(&figure.drawing)) {
      picture(heatmap->title, *heatmap);
    } else {
      charts(std::get<ChartFigure>(figure.drawing));
    }
  }

  // One picture each: beside each other where there is room, below each other on a phone.
  void charts(const ChartFigure& figure) {
    out_ += "<div class=\"charts\">\n";
    for (const LineChart& chart : figure.charts) {
      const bool is_last = &chart == &figure.charts.back();
      picture(chart.title.empty() ? figure.title : chart.title,
              ChartFigure{{chart}, {}, is_last ? figure.notes : std::vector<std::string>()});
    }
    out_ += "</div>\n";
  }

  void picture(const std::string& text, const auto& drawing, const auto&... subject) {
    const auto svg = [&](FigureTheme theme) {
      FigureStyle style = style_;
      style.theme = theme;
      return data_url(render_figure(drawing, subject..., style, {}, FigureFormat::kSvg));
    };
    out_ += fmt::format(
        "<picture><source media=\"(prefers-color-scheme: dark)\" srcset=\"{}\">"
        "<img src=\"{}\" alt=\"{}\"></picture>\n",
        svg(FigureTheme::kDark), svg(FigureTheme::kLight), html_text(text));
  }

  // Colours as data, which the script turns into styles: the policy forbids styles in HTML.
  void draw(const Strip& strip) {
    out_ += "<p class=\"strip\">";
    for (const StripPiece& piece : strip.pieces) {
      const bool is_first = &piece == strip.pieces.data();
      out_ += piece.lines_before > 0 && !is_first ? "</p>\n<p class=\"strip\">"
              : piece.is_close || is_first        ? ""
                                                  : " ";
      if (!piece.mark.empty()) {
        out_ += fmt::format("<b>{}</b> ", html_text(piece.mark));
      }
      if (!piece.share) {
        out_ += html_text(piece.text);
        continue;
      }
      const Rgb fill = strip.colormap(*piece.share);
      out_ += fmt::format("<span data-fill=\"#{:02x}{:02x}{:02x}\" data-ink=\"{}\">{}</span>",
                          fill.r, fill.g, fill.b, dark_text_on(fill) ? "#000000" : "#ffffff",
                          html_text(piece.text));
    }
    out_ += "</p>\n";
  }

  static bool is_number(const Column& column) {
    return column.to_right || std::ranges::all_of(column.cells, [](const Datum& cell) {
             return cell.is_null() || cell.number();
           });
  }

  static std::string cell_text(const Column& column, const Datum& cell) {
    const std::string text = shown_text(column, cell);
    return html_text(column.are_tokens ? browser_label(printable(text)) : text);
  }

  // A number sorts by its value; the text may be a word.
  static std::string cell_html(const Column& column, const Datum& cell, bool is_number) {
    if (column.bars_alone) {
      return {};
    }
    const auto number = cell.number();
    return fmt::format("<td{}{}>{}</td>",
                       is_number          ? " class=\"number\""
                       : column.fits_line ? " class=\"sentence\""
                                          : "",
                       number ? fmt::format(" data-value=\"{}\"", *number) : "",
                       cell_text(column, cell));
  }

  // The length of a bar, and whether it is coloured.
  static std::string bar_html(const Column& column, const Datum& cell) {
    return fmt::format("<td class=\"bars\"><span class=\"bar{}\" data-bar=\"{:.3f}\"></span></td>",
                       has_colored_bar(column, cell) ? "" : " other", bar_share(column, cell));
  }

  void draw(const Table& table) {
    out_ += "<div class=\"table-box\" tabindex=\"0\"><table class=\"numbers\">\n";
    if (table.has_headings) {
      out_ += "<thead><tr>";
      for (const Column& column : table.columns) {
        if (!column.for_programs) {
          out_ += fmt::format(
              "<th scope=\"col\"{}{}>{}</th>", is_number(column) ? " class=\"number\"" : "",
              column.bars && !column.bars_alone ? " colspan=\"2\"" : "", html_text(column.heading));
        }
      }
      out_ += "</tr></thead>\n";
    }
    out_ += "<tbody>\n";
    for (const std::size_t row : shown_rows(table)) {
      const Emphasis emphasis = table.emphasis.empty() ? Emphasis::kPlain : table.emphasis[row];
      begin_row(emphasis);
      for (const Column& column : table.columns) {
        if (!column.for_programs) {
          out_ += cell_html(column, column.cells[row], is_number(column)) +
                  (column.bars ? bar_html(column, column.cells[row]) : "");
        }
      }
      out_ += "</tr>\n";
    }
    out_ += "</tbody>\n";
    draw_extra_rows(table);
    out_ += "</table></div>\n";
    if (!table.left_out.empty()) {
      draw(Paragraph{"… " + table.left_out, Emphasis::kQuiet});
    }
  }

  void begin_row(Emphasis emphasis) {
    out_ += emphasis == Emphasis::kQuiet    ? "<tr class=\"quiet\">"
            : emphasis == Emphasis::kStrong ? "<tr class=\"strong\">"
                                            : "<tr>";
  }

  void draw_extra_rows(const Table& table) {
    if (table.extra_rows.empty()) {
      return;
    }
    out_ += "<tfoot>\n";
    for (const ExtraRow& extra : table.extra_rows) {
      begin_row(extra.emphasis);
      std::size_t i = 0;
      for (const Column& column : table.columns) {
        if (!column.for_programs) {
          out_ += (i < extra.cells.size() ? cell_html(column, extra.cells[i], is_number(column))
                                          : "<td></td>") +
                  std::string(column.bars ? "<td></td>" : "");
          ++i;
        }
      }
      out_ += "</tr>\n";
    }
    out_ += "</tfoot>\n";
  }

  const Report& report_;
  const FigureStyle& style_;
  std::string out_;
};

}  // namespace

void write_report_html(const Report& report, const FigureStyle& style, const ByteSink& sink) {
  write_page(
      report.title.empty() ? "attnviz" : report.title, ReportHtml(report, style).draw(),
      [&report](const ByteSink& data) {
        JsonWriter json(data);
        std::string csv;
        write_report_csv(report, [&csv](std::string_view rows) { csv += rows; });
        json.begin_object();
        json.member("schema", "attnviz.report/1");
        json.member("csv", csv);
        json.end_object();
        json.finish();
      },
      sink);
}

}  // namespace attnviz
