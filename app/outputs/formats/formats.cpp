// Formats for numbers (JSON documents, NumPy arrays, CSV), pages for a browser, and drawings
// (figures, text).
#include "outputs/formats/formats.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "attnviz/attention/interventions.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/core/error.h"
#include "attnviz/formats/json_reader.h"
#include "attnviz/formats/npy.h"
#include "attnviz/page/explorer.h"
#include "attnviz/picture/figure_file.h"
#include "attnviz/report/attention_heatmap.h"
#include "attnviz/report/json/document_json.h"
#include "attnviz/report/reports/reports.h"
#include "attnviz/terminal/inspection_text.h"
#include "attnviz/terminal/page/page.h"
#include "attnviz/terminal/views.h"
#include "outputs/formats/shown_attention.h"

namespace attnviz::app {

const Heatmap* panels_of(const AttentionFigure& figure) noexcept {
  if (const auto* const bars = std::get_if<BarsFigure>(&figure)) {
    return &bars->heatmap;
  }
  const auto* const overview = std::get_if<Overview>(&figure);
  return overview != nullptr ? &overview->thumbnails : std::get_if<Heatmap>(&figure);
}

const AttentionFigure& ShownAttention::figure() const {
  if (figure_) {
    return *figure_;
  }
  Heatmap panels = attention_heatmap(documents_);
  if (!remark_.empty()) {
    panels.notes.insert(panels.notes.begin(), remark_);
  }
  const std::vector<HeadId> heads = heads_of(first());
  if (const auto meant = remarked_ ? std::ranges::find(heads, remarked_->head) : heads.end();
      meant != heads.end()) {
    mark_cell(panels, static_cast<std::size_t>(meant - heads.begin()), remarked_->query,
              remarked_->key);
  }
  if (first().drawing.focus) {
    const BarsSubject subject = bars_subject(first(), panels);
    return figure_.emplace(BarsFigure{std::move(panels), subject});
  }
  return figure_.emplace(std::move(panels));
}

void ShownAttention::check_drawing() const {
  const Drawing& drawing = first().drawing;
  if (drawing.drop_sink || drawing.no_special || drawing.focus) {
    figure();
  }
}

std::span<const Format> all_formats() {
  static const std::array formats = {png_format(), svg_format(), html_format(), json_format(),
                                     npy_format(), csv_format(), text_format()};
  return formats;
}

std::vector<Choice<const Format*>> formats_of(Result result) {
  std::vector<Choice<const Format*>> formats;
  for (const Format& format : all_formats()) {
    if (format.takes(result)) {
      formats.push_back({format.word, &format});
    }
  }
  return formats;
}

const Format* find_format(std::string_view word) {
  const auto found = std::ranges::find(all_formats(), word, &Format::word);
  return found == all_formats().end() ? nullptr : &*found;
}

void draw_as_asked(Report& report, const DrawingRequest& drawing) {
  const auto draw_cells = [&drawing](Heatmap& map) {
    map.scale.colormap = Colormap(drawing.colormap.value_or(map.scale.colormap.name()));
    map.title = drawing.title.value_or(map.title);
  };
  if (report.blocks.size() == 1 && picture_of(report) != nullptr) {
    report.title = drawing.title.value_or(report.title);  // also the picture's title
  }
  for (Block& block : report.blocks) {
    auto* const figure = std::get_if<Figure>(&block);
    if (figure == nullptr) {
      continue;
    }
    if (auto* const heatmap = std::get_if<Heatmap>(&figure->drawing)) {
      draw_cells(*heatmap);
    } else if (auto* const bars = std::get_if<BarsFigure>(&figure->drawing)) {
      draw_cells(bars->heatmap);
    } else {
      auto& chart = std::get<ChartFigure>(figure->drawing);
      chart.title = drawing.title.value_or(chart.title);
    }
  }
}

namespace {

constexpr double kNumberAsText = 14.0;
constexpr double kZeroAsText = 5.0;

// The header of a NumPy array for the document's patterns, which must form a rectangle of layers
// and heads.
std::string npy_header_of(const AttentionDocument& document) {
  const std::vector<HeadId> heads = heads_of(document);
  if (!is_rectangle(heads)) {
    throw Error(ErrorKind::kUsage,
                "--head: an .npy array needs the same heads in every layer; choose a rectangle, or "
                "write .json");
  }
  std::set<std::size_t> layers;
  for (const HeadId head : heads) {
    layers.insert(head.layer);
  }
  const std::array shape = {layers.size(), heads.size() / layers.size(),
                            document.query_tokens.size(), document.key_tokens.size()};
  return npy_header(shape);
}

std::unique_ptr<RowStream> row_stream(const AttentionDocument& document, RowStream::Append append,
                                      RowStream::Take take) {
  return std::make_unique<RowStream>(heads_of(document), document.key_tokens.size(),
                                     std::move(append), std::move(take));
}

// Writes one line for each document.
void write_attention_json(const ShownAttention& shown, const Look& look, const ByteSink& sink) {
  shown.check_drawing();
  for (const AttentionDocument& document : shown.documents()) {
    attnviz::write_attention_json(document, sink, look.line);
  }
}

void write_inspection_json(const ShownInspection& shown, const Look& /*look*/,
                           const ByteSink& sink) {
  attnviz::write_inspection_json(shown.model, shown.text, shown.page.heads, sink);
}

void write_report_json(const Report& report, const Look& /*look*/, const ByteSink& sink) {
  attnviz::write_report_json(report, sink);
}

void write_report_csv(const Report& report, const Look& /*look*/, const ByteSink& sink) {
  attnviz::write_report_csv(report, sink);
}

RowFile begin_json_rows(const AttentionDocument& document, std::size_t line, const ByteSink& sink) {
  const auto json = std::make_shared<AttentionJsonStream>(document, sink, line);
  return {row_stream(document, append_json_row,
                     [json](std::size_t n, std::string_view rows) { json->rows(n, rows); }),
          [json] { json->finish(); }};
}

// Writes the first document only.
void write_attention_npy(const ShownAttention& shown, const Look& /*look*/, const ByteSink& sink) {
  shown.check_drawing();
  sink(npy_header_of(shown.first()));
  for (const DocumentPattern& pattern : shown.first().patterns) {
    write_npy_values(pattern.weights, sink);
  }
}

void check_npy_rows(const AttentionDocument& document) {
  npy_header_of(document);
}

RowFile begin_npy_rows(const AttentionDocument& document, std::size_t /*line*/,
                       const ByteSink& sink) {
  sink(npy_header_of(document));
  return {row_stream(document, append_npy_row,
                     [sink](std::size_t /*n*/, std::string_view rows) { sink(rows); }),
          [] {}};
}

}  // namespace

Format json_format() {
  return {.word = "json",
          .content = Content::kDocument,
          .is_text = true,
          .attention = write_attention_json,
          .inspection = write_inspection_json,
          .report = write_report_json,
          .begin_rows = begin_json_rows,
          .row_bytes = 2.0 * kNumberAsText,  // in preparation and in transit
          .weight_bytes = kNumberAsText,
          .hidden_bytes = kZeroAsText};
}

Format npy_format() {
  return {.word = "npy",
          .content = Content::kNumbers,
          .is_text = false,
          .attention = write_attention_npy,
          .begin_rows = begin_npy_rows,
          .check_rows = check_npy_rows,
          .row_bytes = sizeof(float),
          .weight_bytes = sizeof(float),
          .hidden_bytes = sizeof(float)};
}

Format csv_format() {
  return {.word = "csv", .content = Content::kNumbers, .is_text = true, .report = write_report_csv};
}

namespace {

void write_attention_page(const ShownAttention& shown, const Look& /*look*/, const ByteSink& sink) {
  write_explorer(shown.documents(), shown.extras(), sink);
}

// Shows where the heads look, and how this is computed.
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

namespace {

struct PageOf {
  const TerminalOptions& terminal;

  Page operator()(const Heatmap& panels) const { return heatmap_page(panels, terminal); }
  Page operator()(const BarsFigure& bars) const {
    return bars_page(bars.heatmap, bars.subject, terminal);
  }
  Page operator()(const Overview& overview) const { return overview_page(overview, terminal); }
  Page operator()(const ArcsFigure& arcs) const { return arcs_page(arcs, terminal); }
};

// Renders a figure of attention or a report as the bytes of a file.
struct FileOf {
  const FigureStyle& style;
  std::string facts;
  FigureFormat format;

  std::string operator()(const BarsFigure& bars) const {
    return render_figure(bars.heatmap, bars.subject, style, facts, format);
  }
  std::string operator()(const auto& figure) const {
    return render_figure(figure, style, facts, format);
  }
};

std::string facts_of(const ShownAttention& shown) {
  const auto* const overview = std::get_if<Overview>(&shown.figure());
  if (overview == nullptr) {
    return attention_facts(shown.first());
  }
  AttentionDocument drawn = shown.first();
  drawn.drawing.overview = HeadChoice{overview->chosen, overview->sentence};
  return attention_facts(drawn);
}

template <FigureFormat format>
void write_attention_figure(const ShownAttention& shown, const Look& look, const ByteSink& sink) {
  sink(std::visit(FileOf{look.figure, facts_of(shown), format}, shown.figure()));
}

template <FigureFormat format>
void write_inspection_figure(const ShownInspection& shown, const Look& look, const ByteSink& sink) {
  sink(render_inspection_figure(shown.page, look.figure, format));
}

// Precondition: the report has a figure.
template <FigureFormat format>
void write_report_figure(const Report& report, const Look& look, const ByteSink& sink) {
  sink(std::visit(FileOf{look.figure, {}, format}, picture_of(report)->drawing));
}

OverviewCells figure_cells_of(const ShownAttention& shown, const Look& look) {
  const AttentionFigure& figure = shown.figure();
  const auto* const overview = std::get_if<Overview>(&figure);
  return overview != nullptr
             ? figure_cells(*overview, look.figure)
             : OverviewCells{figure_grid(std::get<Heatmap>(figure), look.figure), {}};
}

void write_attention_text(const ShownAttention& shown, const Look& look, const ByteSink& sink) {
  Page page;
  if (!look.heading.empty()) {
    const Charset charset(look.terminal.style);
    page.add(charset.fitted(charset.sentence(look.heading), wide_enough(look.terminal).columns),
             kBold);
  }
  page.add(report_page(next_tokens_report(shown.documents()), look.terminal));
  const AttentionDocument& first = shown.first();
  const bool has_answer = first.predictions || !first.all_predictions.empty();
  if (!look.answer_alone || !has_answer) {
    if (!page.lines.empty()) {
      page.blank();
    }
    page.add(std::visit(PageOf{look.terminal}, shown.figure()));
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
  const AttentionFigure& figure = shown.figure();
  const auto* const overview = std::get_if<Overview>(&figure);
  return overview != nullptr
             ? terminal_cells(*overview, look.terminal)
             : OverviewCells{terminal_grid(std::get<Heatmap>(figure), look.terminal), {}};
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
