// Pictures that are drawn together from rows while these are computed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "attnviz/analysis/pooled_patterns.h"
#include "attnviz/analysis/token_roles.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/document/attention_document.h"
#include "attnviz/document/heatmap.h"
#include "outputs/formats/formats.h"
#include "outputs/outputs.h"

namespace attnviz::app {

/// Computes the attention again, of the heads that `sink` wants.
using ComputeAgain = std::function<void(PatternSink& sink)>;

/// The cells of heads on every grid that is drawn.
class DrawnCells {
 public:
  /// Thumbnails' cells may be means where those of other pictures are not.
  explicit DrawnCells(bool of_thumbnails = false) : of_thumbnails_(of_thumbnails) {}

  /// A grid, unless it cuts into the same cells as another.
  void add(const PoolGrid& grid);
  const std::vector<PoolGrid>& grids() const noexcept { return grids_; }

  /// What the cells of `n_heads` heads take.
  double bytes(std::size_t n_heads, const Drawing& drawing) const noexcept;

  /// Adds a sink for each grid, for `heads` of `document`.
  void begin(const std::vector<HeadId>& heads, const AttentionDocument& document,
             std::vector<PatternSink*>& sinks);
  bool begun() const noexcept { return !cells_.empty(); }

  /// Gives the panels of the document's picture their cells, once every row has come.
  void set(Heatmap& picture, const AttentionDocument& document) const;

 private:
  Pooling pooling(const Drawing& drawing, const PoolGrid& grid) const noexcept;

  bool of_thumbnails_;
  std::vector<PoolGrid> grids_;
  std::vector<std::shared_ptr<PooledPatterns>> cells_;
};

/// What of one text's attention is drawn: a panel for each head, or an overview. That keeps
/// thumbnails of all heads, and the large picture of all as well where these are few bytes; else
/// the large head is computed again.
class StreamedPicture {
 public:
  /// Both must outlive it.
  StreamedPicture(const std::vector<HeadId>& heads, bool is_overview, const Outputs& outputs)
      : heads_(heads), is_overview_(is_overview), outputs_(outputs) {}

  /// For a document without weights; before all else, and again when its drawing has changed.
  /// `document` must outlive the picture.
  void plan(const AttentionDocument& document);
  /// An estimate of the bytes that the planned picture takes.
  double bytes() const;
  /// Adds the sinks that the rows are for.
  void begin(std::vector<PatternSink*>& sinks);
  /// Once every row has come. What is shown then.
  const ShownAttention& finish(const ComputeAgain& compute_again);

  /// The cells that panels, or thumbnails, were first drawn with; nothing where none are.
  std::optional<PoolGrid> grid() const;

 private:
  bool keeps_large() const;

  const std::vector<HeadId>& heads_;
  bool is_overview_;
  const Outputs& outputs_;
  const AttentionDocument* document_ = nullptr;
  std::optional<ShownAttention> shown_;
  DrawnCells panels_;                     // or thumbnails
  DrawnCells large_;                      // of an overview
  std::optional<TellingSearch> telling_;  // once it has begun
};

}  // namespace attnviz::app
