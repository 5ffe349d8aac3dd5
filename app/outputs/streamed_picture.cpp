#include "outputs/streamed_picture.h"

#include <algorithm>
#include <utility>

#include "attnviz/attention/run_observer.h"
#include "attnviz/document/attention_heatmap.h"
#include "attnviz/document/overview.h"
#include "attnviz/document/patterns/shown_tokens.h"

namespace attnviz::app {

void DrawnCells::add(const PoolGrid& grid) {
  if (std::none_of(grids_.begin(), grids_.end(),
                   [&grid](const PoolGrid& other) { return other.same_cells(grid); })) {
    grids_.push_back(grid);
  }
}

Pooling DrawnCells::pooling(const Drawing& drawing, const PoolGrid& grid) const noexcept {
  return of_thumbnails_ ? thumbnail_pooling_of(drawing, grid) : pooling_of(drawing);
}

double DrawnCells::bytes(std::size_t n_heads, const Drawing& drawing) const noexcept {
  double sum = 0.0;
  for (const PoolGrid& grid : grids_) {
    sum += PooledPatterns::bytes(n_heads, pooling(drawing, grid), grid);
  }
  return sum;
}

void DrawnCells::begin(const std::vector<HeadId>& heads, const AttentionDocument& document,
                       std::vector<PatternSink*>& sinks) {
  const std::vector<MaskedHeads> groups = heads_by_mask(document, heads);
  for (const PoolGrid& grid : grids_) {
    for (const MaskedHeads& group : groups) {
      cells_.push_back(std::make_shared<PooledPatterns>(group.heads, group.visibility,
                                                        pooling(document.drawing, grid), grid));
      sinks.push_back(cells_.back().get());
    }
  }
}

void DrawnCells::set(Heatmap& picture, const AttentionDocument& document) const {
  set_cells(picture, document, {cells_.begin(), cells_.end()});
}

void StreamedPicture::plan(const AttentionDocument& document) {
  document_ = &document;
  panels_ = DrawnCells(is_overview_);
  large_ = DrawnCells();
  if (is_overview_) {
    TellingHead any;  // grids do not depend on it
    any.head = heads_.front();
    shown_.emplace(document, overview_of(document, any));
  } else {
    shown_.emplace(document, attention_heatmap(document));
  }
  for (const Format& format : all_formats()) {
    if (format.cells == nullptr) {
      continue;
    }
    for (const Look& look : outputs_.looks(format)) {
      const OverviewCells cells = format.cells(*shown_, look);
      const bool turns = document.drawing.transposed;
      panels_.add(turns ? transposed(cells.thumbnails) : cells.thumbnails);
      if (is_overview_) {
        large_.add(turns ? transposed(cells.large) : cells.large);
      }
    }
  }
}

bool StreamedPicture::keeps_large() const {
  constexpr double kFewBytes = 256e6;
  return large_.bytes(heads_.size(), document_->drawing) <= kFewBytes;
}

double StreamedPicture::bytes() const {
  return panels_.bytes(heads_.size(), document_->drawing) +
         large_.bytes(keeps_large() ? heads_.size() : 1, document_->drawing) +
         (is_overview_ ? TellingSearch::bytes(heads_, document_->query_tokens.size()) : 0.0);
}

void StreamedPicture::begin(std::vector<PatternSink*>& sinks) {
  if (is_overview_) {
    telling_.emplace(telling_search(*document_, heads_));
    sinks.push_back(&*telling_);
  }
  panels_.begin(heads_, *document_, sinks);
  if (keeps_large()) {
    large_.begin(heads_, *document_, sinks);
  }
}

const ShownAttention& StreamedPicture::finish(const ComputeAgain& compute_again) {
  if (!is_overview_) {
    Heatmap picture = shown_->heatmap();
    panels_.set(picture, *document_);
    return shown_.emplace(*document_, std::move(picture));
  }
  const TellingHead choice = telling_->best();
  if (!large_.begun()) {
    std::vector<PatternSink*> sinks;
    large_.begin({choice.head}, *document_, sinks);
    SinkGroup group(std::move(sinks));
    compute_again(group);
  }
  Overview overview = overview_of(*document_, choice);
  panels_.set(overview.thumbnails, *document_);
  large_.set(overview.large, document_of_head(*document_, choice.head));
  return shown_.emplace(*document_, std::move(overview));
}

std::optional<PoolGrid> StreamedPicture::grid() const {
  return panels_.grids().empty() ? std::nullopt : std::optional(panels_.grids().front());
}

}  // namespace attnviz::app
