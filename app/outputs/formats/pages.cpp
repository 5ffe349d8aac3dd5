// Pages for a browser.
#include <utility>
#include <vector>

#include "attnviz/document/drawing_choice.h"
#include "attnviz/html/explorer.h"
#include "attnviz/html/report_html.h"
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

void write_report_page(const Report& report, const Look& look, const ByteSink& sink) {
  write_report_html(report, look.figure, sink);
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
