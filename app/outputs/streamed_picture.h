// Pictures that are drawn together from rows while these are computed.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "attnviz/analysis/pooled_patterns.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/document/attention_document.h"
#include "attnviz/document/heatmap.h"
#include "attnviz/picture/layout/figure_style.h"
#include "attnviz/terminal/page/terminal_options.h"
#include "options/options.h"
#include "outputs/outputs.h"

namespace attnviz::app {

/// Computes the attention again, of the heads that `sink` wants.
using ComputeAgain = std::function<void(PatternSink& sink)>;

/// What of one text's attention is drawn.
class StreamedPicture {
 public:
  virtual ~StreamedPicture() = default;

  /// For a document without weights; before all else, and again when its drawing has changed.
  /// `document` must outlive the picture.
  virtual void plan(const AttentionDocument& document) = 0;
  /// An estimate of the bytes that the planned picture takes.
  virtual double bytes() const = 0;
  /// Adds the sinks that the rows are for.
  virtual void begin(std::vector<PatternSink*>& sinks) = 0;
  /// Once every row has come.
  virtual void finish(const ComputeAgain& compute_again) = 0;
  /// Says that the picture is nearly of one colour when it is; whether it was said.
  virtual bool tell_flat() const = 0;
  /// The picture as PNG or as text.
  virtual void write(OutputFormat format, const TerminalOptions& terminal,
                     const ByteSink& sink) const = 0;
};

/// Grids without those that cut into the same cells as others.
class PoolGrids {
 public:
  void clear() { grids_.clear(); }
  void add(const PoolGrid& grid);
  const PoolGrid& front() const { return grids_.front(); }
  bool empty() const noexcept { return grids_.empty(); }

  /// What the cells of `n_heads` heads take.
  double bytes(std::size_t n_heads, const Drawing& drawing) const noexcept;
  /// A sink for each grid, for `heads` of `document`.
  std::vector<std::shared_ptr<PooledPatterns>> sinks(const std::vector<HeadId>& heads,
                                                     const AttentionDocument& document) const;

 private:
  std::vector<PoolGrid> grids_;
};

/// A panel for each head.
class StreamedPanels : public StreamedPicture {
 public:
  StreamedPanels(const ShowOptions& options, const std::vector<HeadId>& heads,
                 const FigureStyle& figure, const Outputs& outputs)
      : options_(options), heads_(heads), figure_(figure), outputs_(outputs) {}

  void plan(const AttentionDocument& document) override;
  double bytes() const override;
  void begin(std::vector<PatternSink*>& sinks) override;
  void finish(const ComputeAgain& compute_again) override;
  bool tell_flat() const override;
  void write(OutputFormat format, const TerminalOptions& terminal,
             const ByteSink& sink) const override;

 private:
  const ShowOptions& options_;
  const std::vector<HeadId>& heads_;
  const FigureStyle& figure_;
  const Outputs& outputs_;
  const AttentionDocument* document_ = nullptr;
  Heatmap picture_;
  PoolGrids grids_;
  std::vector<std::shared_ptr<PooledPatterns>> cells_;
};

}  // namespace attnviz::app
