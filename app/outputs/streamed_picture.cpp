#include "outputs/streamed_picture.h"

#include <algorithm>
#include <span>

#include "attnviz/document/attention_heatmap.h"
#include "attnviz/picture/png.h"
#include "attnviz/terminal/heatmap_view.h"
#include "attnviz/terminal/page/terminal_options.h"
#include "outputs/drawing_notes.h"
#include "outputs/show_formats.h"

namespace attnviz::app {

void PoolGrids::add(const PoolGrid& grid) {
  if (std::none_of(grids_.begin(), grids_.end(),
                   [&grid](const PoolGrid& other) { return other.same_cells(grid); })) {
    grids_.push_back(grid);
  }
}

double PoolGrids::bytes(std::size_t n_heads, const Drawing& drawing) const noexcept {
  double sum = 0.0;
  for (const PoolGrid& grid : grids_) {
    sum += PooledPatterns::bytes(n_heads, pooling_of(drawing), grid);
  }
  return sum;
}

std::vector<std::shared_ptr<PooledPatterns>> PoolGrids::sinks(
    const std::vector<HeadId>& heads, const AttentionDocument& document) const {
  std::vector<std::shared_ptr<PooledPatterns>> sinks;
  const std::vector<MaskedHeads> groups = heads_by_mask(document, heads);
  sinks.reserve(grids_.size() * groups.size());
  for (const PoolGrid& grid : grids_) {
    for (const MaskedHeads& group : groups) {
      sinks.push_back(std::make_shared<PooledPatterns>(group.heads, group.mask,
                                                       pooling_of(document.drawing), grid));
    }
  }
  return sinks;
}

void StreamedPanels::plan(const AttentionDocument& document) {
  document_ = &document;
  picture_ = attention_heatmap(document);
  grids_.clear();
  if (outputs_.writes(OutputFormat::kPng)) {
    grids_.add(figure_grid(picture_, figure_));
  }
  for (const TerminalOptions& drawing : outputs_.drawings()) {
    grids_.add(terminal_grid(picture_, drawing));
  }
}

double StreamedPanels::bytes() const {
  return grids_.bytes(heads_.size(), document_->drawing);
}

void StreamedPanels::begin(std::vector<PatternSink*>& sinks) {
  cells_ = grids_.sinks(heads_, *document_);
  for (const auto& cells : cells_) {
    sinks.push_back(cells.get());
  }
}

void StreamedPanels::finish(const ComputeAgain& /*compute_again*/) {
  set_cells(picture_, *document_, {cells_.begin(), cells_.end()});
}

bool StreamedPanels::tell_flat() const {
  return !grids_.empty() && app::tell_flat(picture_, options_, outputs_, grids_.front());
}

void StreamedPanels::write(OutputFormat format, const TerminalOptions& terminal,
                           const ByteSink& sink) const {
  write_attention(format, std::span(document_, 1), picture_, figure_, terminal, sink);
}

}  // namespace attnviz::app
