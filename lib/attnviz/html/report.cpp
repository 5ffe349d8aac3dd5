#include "attnviz/html/report.h"

#include <fmt/core.h>

#include <string_view>

#include "attnviz/formats/base64.h"
#include "attnviz/formats/json_writer.h"
#include "attnviz/html/page_file.h"

namespace attnviz {

namespace {

// Colours as data, which the script makes styles of: the policy allows none in HTML.
std::string html_of(const Span& span) {
  const auto color = [](std::string_view name, const std::optional<PaletteColor>& given) {
    return given ? fmt::format(" data-{}=\"#{:02x}{:02x}{:02x}\"", name, given->rgb.r, given->rgb.g,
                               given->rgb.b)
                 : std::string();
  };
  Style style = span.style;
  if (style.fill && !style.ink) {
    const bool is_light = dark_text_on(style.fill->rgb);
    style.ink = PaletteColor{.rgb = is_light ? Rgb{0, 0, 0} : Rgb{0xFF, 0xFF, 0xFF}};
  }
  std::string text = html_text(browser_label(span.text));
  if (style == Style{}) {
    return text;
  }
  return fmt::format("<span{}{}{}{}>{}</span>", style.bold ? " class=\"bold\"" : "",
                     style.dim ? " class=\"dim\"" : "", color("ink", style.ink),
                     color("fill", style.fill), text);
}

std::string html_of(const Page& page) {
  std::string html;
  for (const Line& line : page.lines) {
    for (const Span& span : line.spans) {
      html += html_of(span);
    }
    html += '\n';
  }
  return html;
}

std::string data_url(std::string_view svg) {
  return "data:image/svg+xml;base64," + encoded_base64(svg);
}

std::string html_of(const ReportPage& report) {
  std::string html =
      report.title.empty() ? "" : fmt::format("<h1>{}</h1>\n", html_text(report.title));
  html += "<pre class=\"screen\" tabindex=\"0\">" + html_of(report.screen) + "</pre>\n";
  if (!report.picture.empty()) {
    html += fmt::format(
        "<picture><source media=\"(prefers-color-scheme: dark)\" srcset=\"{}\">"
        "<img src=\"{}\" alt=\"{}\"></picture>\n",
        data_url(report.dark_picture), data_url(report.picture), html_text(report.picture_text));
  }
  return html;
}

}  // namespace

void write_report(const ReportPage& report, const ByteSink& sink) {
  write_page(
      report.title.empty() ? "attnviz" : report.title, html_of(report),
      [&report](const ByteSink& data) {
        JsonWriter json(data);
        json.begin_object();
        json.member("schema", "attnviz.report/1");
        json.member("csv", report.csv);
        json.end_object();
        json.finish();
      },
      sink);
}

}  // namespace attnviz
