// Formats that draw: figures as PNG, and text.
#include <string>

#include "attnviz/document/json/attention_json.h"
#include "attnviz/picture/inspection_figure.h"
#include "attnviz/picture/png.h"
#include "attnviz/terminal/bars_view.h"
#include "attnviz/terminal/heatmap_view.h"
#include "attnviz/terminal/inspection_text.h"
#include "attnviz/terminal/next_tokens_view.h"
#include "attnviz/terminal/overview_view.h"
#include "outputs/formats/writers.h"

namespace attnviz::app {

namespace {

// Bars for one token, else cells.
std::string drawn_picture(const ShownAttention& shown, const TerminalOptions& terminal) {
  if (shown.overview()) {
    return render_terminal(*shown.overview(), terminal);
  }
  const AttentionDocument& document = shown.first();
  const Heatmap& picture = shown.heatmap();
  const auto& focus = document.drawing.focus;
  if (!focus) {
    return render_terminal(picture, terminal);
  }
  const auto& tokens = focus->as_key ? document.query_tokens : document.key_tokens;
  return render_bars(picture, {focus->token, tokens.size() - picture.n_keys(), focus->as_key},
                     terminal);
}

// What stands below a drawing: how the text goes on, and what the documents predict; may be empty.
std::string drawn_next_tokens(std::span<const AttentionDocument> documents,
                              const TerminalOptions& terminal) {
  const AttentionDocument& first = documents.front();
  std::string text;
  if (first.continuation) {
    text += render_continuation(*first.continuation, terminal);
  }
  for (std::size_t i = 0; i < documents.size(); ++i) {
    if (documents[i].predictions) {
      text += render_predictions(*documents[i].predictions,
                                 documents.size() > 1 ? first.drawing.side_by_side[i] : "",
                                 first.drawing.scale.colormap, terminal);
    }
  }
  return text;
}

}  // namespace

void write_attention_png(const ShownAttention& shown, const Look& look, const ByteSink& sink) {
  if (!shown.overview()) {
    return sink(render_png(shown.heatmap(), look.figure, attention_facts(shown.first())));
  }
  AttentionDocument drawn = shown.first();
  drawn.drawing.overview = HeadChoice{shown.overview()->chosen, shown.overview()->sentence};
  sink(render_png(*shown.overview(), look.figure, attention_facts(drawn)));
}

void write_inspection_png(const ShownInspection& shown, const Look& look, const ByteSink& sink) {
  sink(render_inspection_figure(shown.page, look.figure));
}

OverviewCells png_cells(const ShownAttention& shown, const Look& look) {
  return shown.overview() ? figure_cells(*shown.overview(), look.figure)
                          : OverviewCells{figure_grid(shown.heatmap(), look.figure), {}};
}

void write_attention_text(const ShownAttention& shown, const Look& look, const ByteSink& sink) {
  sink(drawn_picture(shown, look.terminal) + drawn_next_tokens(shown.documents(), look.terminal));
}

void write_inspection_text(const ShownInspection& shown, const Look& look, const ByteSink& sink) {
  sink(render_inspection(shown.page, look.terminal));
}

OverviewCells text_cells(const ShownAttention& shown, const Look& look) {
  return shown.overview() ? terminal_cells(*shown.overview(), look.terminal)
                          : OverviewCells{terminal_grid(shown.heatmap(), look.terminal), {}};
}

}  // namespace attnviz::app
