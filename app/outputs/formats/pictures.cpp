// Formats that draw: figures, and text.
#include <utility>
#include <variant>

#include "attnviz/document/json/attention_json.h"
#include "attnviz/picture/figure_file.h"
#include "attnviz/picture/inspection_figure.h"
#include "attnviz/terminal/arcs_view.h"
#include "attnviz/terminal/bars_view.h"
#include "attnviz/terminal/heatmap_view.h"
#include "attnviz/terminal/inspection_text.h"
#include "attnviz/terminal/next_tokens_view.h"
#include "attnviz/terminal/overview_view.h"
#include "attnviz/terminal/page/charset.h"
#include "attnviz/terminal/report_view.h"
#include "outputs/formats/formats.h"

namespace attnviz::app {

namespace {

// Lines where they were asked for, bars for one token, else cells.
Page picture_page(const ShownAttention& shown, const TerminalOptions& terminal) {
  if (shown.arcs()) {
    return arcs_page(*shown.arcs(), terminal);
  }
  if (shown.overview()) {
    return overview_page(*shown.overview(), terminal);
  }
  const auto bars = shown.bars();
  return bars ? bars_page(shown.heatmap(), *bars, terminal)
              : heatmap_page(shown.heatmap(), terminal);
}

// How the text goes on, and what the documents predict; may be empty.
Page next_tokens_page(std::span<const AttentionDocument> documents,
                      const TerminalOptions& terminal) {
  Page page;
  const auto add = [&page](Page part) {
    if (!page.lines.empty()) {
      page.blank();
    }
    page.add(std::move(part));
  };
  const AttentionDocument& first = documents.front();
  if (first.continuation) {
    add(continuation_page(*first.continuation, terminal));
  }
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const AttentionDocument& document = documents[i];
    const std::string variant = documents.size() > 1 ? first.drawing.side_by_side[i] : "";
    const Colormap& colormap = first.drawing.scale.colormap;
    if (document.predictions) {
      add(predictions_page(*document.predictions, variant, colormap, terminal));
    }
    if (!document.all_predictions.empty()) {
      add(all_predictions_page(document.all_predictions, variant, colormap, terminal));
    }
  }
  return page;
}

template <FigureFormat format>
void write_attention_figure(const ShownAttention& shown, const Look& look, const ByteSink& sink) {
  if (shown.arcs()) {
    return sink(render_figure(*shown.arcs(), look.figure, attention_facts(shown.first()), format));
  }
  if (const auto bars = shown.bars()) {
    return sink(
        render_figure(shown.heatmap(), *bars, look.figure, attention_facts(shown.first()), format));
  }
  if (!shown.overview()) {
    return sink(
        render_figure(shown.heatmap(), look.figure, attention_facts(shown.first()), format));
  }
  AttentionDocument drawn = shown.first();
  drawn.drawing.overview = HeadChoice{shown.overview()->chosen, shown.overview()->sentence};
  sink(render_figure(*shown.overview(), look.figure, attention_facts(drawn), format));
}

template <FigureFormat format>
void write_inspection_figure(const ShownInspection& shown, const Look& look, const ByteSink& sink) {
  sink(render_inspection_figure(shown.page, look.figure, format));
}

// Precondition: the report has a figure.
template <FigureFormat format>
void write_report_figure(const Report& report, const Look& look, const ByteSink& sink) {
  const auto& drawing = picture_of(report)->drawing;
  if (const auto* const bars = std::get_if<BarsFigure>(&drawing)) {
    sink(render_figure(bars->heatmap, bars->subject, look.figure, {}, format));
  } else if (const auto* const heatmap = std::get_if<Heatmap>(&drawing)) {
    sink(render_figure(*heatmap, look.figure, {}, format));
  } else {
    sink(render_figure(std::get<ChartFigure>(drawing), look.figure, {}, format));
  }
}

OverviewCells figure_cells_of(const ShownAttention& shown, const Look& look) {
  return shown.overview() ? figure_cells(*shown.overview(), look.figure)
                          : OverviewCells{figure_grid(shown.heatmap(), look.figure), {}};
}

void write_attention_text(const ShownAttention& shown, const Look& look, const ByteSink& sink) {
  Page page;
  if (!look.heading.empty()) {
    const Charset charset(look.terminal.style);
    page.add(charset.fitted(charset.sentence(look.heading), wide_enough(look.terminal).columns),
             kBold);
  }
  page.add(next_tokens_page(shown.documents(), look.terminal));
  const AttentionDocument& first = shown.first();
  const bool has_answer = first.predictions || !first.all_predictions.empty();
  if (!look.answer_alone || !has_answer) {
    if (!page.lines.empty()) {
      page.blank();
    }
    page.add(picture_page(shown, look.terminal));
  }
  sink(to_ansi(page, look.terminal.color));
}

void write_inspection_text(const ShownInspection& shown, const Look& look, const ByteSink& sink) {
  sink(render_inspection(shown.page, look.terminal));
}

void write_report_text(const Report& report, const Look& look, const ByteSink& sink) {
  write_report(report, /*as_json=*/false, look.terminal, sink);
}

OverviewCells text_cells(const ShownAttention& shown, const Look& look) {
  return shown.overview() ? terminal_cells(*shown.overview(), look.terminal)
                          : OverviewCells{terminal_grid(shown.heatmap(), look.terminal), {}};
}

template <FigureFormat format>
Format figure_format(std::string_view word, bool is_text) {
  return {.word = word,
          .content = Content::kFigure,
          .is_text = is_text,
          .attention = write_attention_figure<format>,
          .inspection = write_inspection_figure<format>,
          .report = write_report_figure<format>,
          .cells = figure_cells_of};
}

}  // namespace

Format png_format() {
  return figure_format<FigureFormat::kPng>("png", /*is_text=*/false);
}

Format svg_format() {
  return figure_format<FigureFormat::kSvg>("svg", /*is_text=*/true);
}

Format text_format() {
  return {.word = "txt",
          .content = Content::kScreen,
          .is_text = true,
          .attention = write_attention_text,
          .inspection = write_inspection_text,
          .report = write_report_text,
          .cells = text_cells};
}

}  // namespace attnviz::app
