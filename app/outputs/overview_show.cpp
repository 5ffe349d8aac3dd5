#include "outputs/overview_show.h"

#include <span>
#include <utility>

#include "attnviz/analysis/telling_search.h"
#include "attnviz/attention/sink_group.h"
#include "attnviz/document/attention_heatmap.h"
#include "attnviz/document/json/attention_json.h"
#include "attnviz/picture/png.h"
#include "attnviz/terminal/overview_view.h"
#include "attnviz/terminal/page/terminal_options.h"
#include "outputs/drawing_notes.h"
#include "outputs/show_formats.h"

namespace attnviz::app {

bool draws_overview(const std::vector<HeadId>& heads, const HeadOptions& asked,
                    const PatternOptions& pattern, StyleChoice style, const Outputs& outputs) {
  const bool is_deep =
      heads.size() > kMostHeadsAsPanels && heads.front().layer != heads.back().layer;
  // Heads that stand far apart would make a grid of nothing.
  const OverviewGrid grid(heads);
  const bool is_full = grid.layers.size() <= 2 * heads.size() / grid.heads.size();
  const bool is_drawn = outputs.writes(OutputFormat::kPng) || outputs.writes(OutputFormat::kText);
  return is_deep && is_full && is_drawn && asked.heads.empty() && asked.layers.empty() &&
         !pattern.average && !pattern.focus && style != StyleChoice::kMask;
}

std::optional<Overview> overview_of_kept(const std::vector<AttentionDocument>& documents,
                                         const HeadOptions& asked, const PatternOptions& pattern,
                                         StyleChoice style, const Outputs& outputs) {
  const AttentionDocument& document = documents.front();
  const Drawing& drawing = document.drawing;
  if (documents.size() > 1 || document.average || drawing.focus || !drawing.side_by_side.empty() ||
      !draws_overview(heads_of(document), asked, pattern, style, outputs)) {
    return std::nullopt;
  }
  const auto choice = most_telling(document);
  return choice ? std::optional(overview_of(document, *choice)) : std::nullopt;
}

void write_overview(OutputFormat format, const AttentionDocument& document,
                    const Overview& overview, const FigureStyle& figure,
                    const TerminalOptions& terminal, const ByteSink& sink) {
  if (format == OutputFormat::kText) {
    return sink(render_terminal(overview, terminal) +
                drawn_next_tokens(std::span(&document, 1), terminal));
  }
  AttentionDocument drawn = document;
  drawn.drawing.overview = HeadChoice{overview.chosen, overview.sentence};
  sink(render_png(overview, figure, attention_facts(drawn)));
}

void StreamedOverview::plan(const AttentionDocument& document) {
  document_ = &document;
  TellingHead any;  // grids do not depend on it
  any.head = heads_.front();
  overview_ = overview_of(document, any);
  thumbnail_grids_.clear();
  large_grids_.clear();
  const auto add = [this](const OverviewCells& cells) {
    thumbnail_grids_.add(cells.thumbnails);
    large_grids_.add(cells.large);
  };
  if (outputs_.writes(OutputFormat::kPng)) {
    add(figure_cells(overview_, figure_));
  }
  for (const TerminalOptions& drawing : outputs_.drawings()) {
    add(terminal_cells(overview_, drawing));
  }
}

bool StreamedOverview::keeps_large() const {
  constexpr double kFewBytes = 256e6;
  return large_grids_.bytes(heads_.size(), document_->drawing) <= kFewBytes;
}

double StreamedOverview::bytes() const {
  return thumbnail_grids_.bytes(heads_.size(), document_->drawing) +
         large_grids_.bytes(keeps_large() ? heads_.size() : 1, document_->drawing) +
         TellingSearch::bytes(heads_, document_->query_tokens.size());
}

void StreamedOverview::begin(std::vector<PatternSink*>& sinks) {
  telling_.emplace(telling_search(*document_, heads_));
  sinks.push_back(&*telling_);
  thumbnails_ = thumbnail_grids_.sinks(heads_, *document_);
  large_ = keeps_large() ? large_grids_.sinks(heads_, *document_) : Cells{};
  for (const Cells* all : {&thumbnails_, &large_}) {
    for (const auto& cells : *all) {
      sinks.push_back(cells.get());
    }
  }
}

void StreamedOverview::finish(const ComputeAgain& compute_again) {
  const TellingHead choice = telling_->best();
  overview_ = overview_of(*document_, choice);
  if (large_.empty()) {
    large_ = large_grids_.sinks({choice.head}, *document_);
    std::vector<PatternSink*> sinks;
    sinks.reserve(large_.size());
    for (const auto& cells : large_) {
      sinks.push_back(cells.get());
    }
    SinkGroup group(std::move(sinks));
    compute_again(group);
  }
  set_cells(overview_.thumbnails, *document_, {thumbnails_.begin(), thumbnails_.end()});
  set_cells(overview_.large, document_of_head(*document_, choice.head),
            {large_.begin(), large_.end()});
}

bool StreamedOverview::tell_flat() const {
  return app::tell_flat(overview_.thumbnails, options_, outputs_, thumbnail_grids_.front());
}

void StreamedOverview::write(OutputFormat format, const TerminalOptions& terminal,
                             const ByteSink& sink) const {
  write_overview(format, *document_, overview_, figure_, terminal, sink);
}

}  // namespace attnviz::app
