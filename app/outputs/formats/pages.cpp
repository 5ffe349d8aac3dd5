// Pages for a browser.
#include <utility>
#include <vector>

#include "attnviz/document/drawing_choice.h"
#include "attnviz/html/explorer.h"
#include "attnviz/html/report.h"
#include "attnviz/picture/figure_file.h"
#include "outputs/formats/formats.h"

namespace attnviz::app {

namespace {

void write_attention_page(const ShownAttention& shown, const Look& /*look*/, const ByteSink& sink) {
  write_explorer(shown.documents(), shown.extras(), sink);
}

// What its heads look at, and how they come to it.
void write_inspection_page(const ShownInspection& shown, const Look& /*look*/,
                           const ByteSink& sink) {
  const std::span<const Inspection> followed = shown.page.heads;
  std::vector<HeadId> heads;
  for (const Inspection& head : followed) {
    heads.push_back(head.head);
  }
  AttentionDocument document =
      attention_document(shown.model, shown.text, followed.front().request, heads);
  for (std::size_t i = 0; i < heads.size(); ++i) {
    document.patterns[i].weights = followed[i].all->weights.view();
  }
  document.drawing = choose_drawing({}, document);
  document.drawing.title = shown.page.full_title;
  write_explorer(std::span(&document, 1),
                 {.command = shown.command,
                  .text = &shown.text,
                  .first = FirstShown{heads.front(), followed.front().query},
                  .followed = followed},
                 sink);
}

void write_report_page(const ShownReport& shown, const Look& look, const ByteSink& sink) {
  constexpr TerminalOptions kScreen{
      .style = TerminalStyle::kBlocks, .color = ColorDepth::kTrueColor, .columns = 100};
  ReportPage report;
  report.screen =
      shown.page_beside_picture ? shown.page_beside_picture(kScreen) : shown.page(kScreen);
  std::string heading;
  for (const Span& span : report.screen.lines.front().spans) {
    heading += span.text;
  }
  if (!heading.starts_with(' ')) {  // a map without a title begins with its panel's
    report.title = heading;
    report.screen.lines.erase(report.screen.lines.begin());  // the page has it as its heading
  }
  shown.csv([&report](std::string_view rows) { report.csv += rows; });
  const auto add_picture = [&](const auto& picture, const auto&... subject) {
    FigureStyle style = look.figure;
    style.theme = FigureTheme::kLight;
    report.picture = render_figure(picture, subject..., style, {}, FigureFormat::kSvg);
    style.theme = FigureTheme::kDark;
    report.dark_picture = render_figure(picture, subject..., style, {}, FigureFormat::kSvg);
    report.picture_text = picture.title;
  };
  if (shown.chart) {
    add_picture(*shown.chart);
  } else if (shown.bars) {
    add_picture(shown.picture.value(), *shown.bars);
  } else if (shown.picture) {
    add_picture(*shown.picture);
  }
  write_report(report, sink);
}

}  // namespace

Format html_format() {
  return {.word = "html",
          .content = Content::kPage,
          .is_text = true,
          .attention = write_attention_page,
          .inspection = write_inspection_page,
          .report = write_report_page};
}

}  // namespace attnviz::app
