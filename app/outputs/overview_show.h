// The default drawing of a deep model: all of its heads small, the most telling one large.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "attnviz/analysis/telling_head.h"
#include "attnviz/analysis/telling_search.h"
#include "attnviz/document/overview.h"
#include "attnviz/terminal/page/terminal_options.h"
#include "outputs/streamed_picture.h"

namespace attnviz::app {

/// More heads than these, of several layers, are drawn as an overview: as panels with labels they
/// would be too small to read, or too many to look at.
constexpr std::size_t kMostHeadsAsPanels = 12;

/// Whether the heads are drawn as an overview: several layers and more than kMostHeadsAsPanels
/// heads, when nothing was said of which heads, of means or of one token, and a picture or a
/// drawing is written. The masks of --style mask are drawn once each anyway.
bool draws_overview(const std::vector<HeadId>& heads, const HeadOptions& asked,
                    const PatternOptions& pattern, StyleChoice style, const Outputs& outputs);

/// The overview of patterns that are kept: of one document that draws_overview() and that was not
/// drawn otherwise before; nothing for other documents, and for what is no attention weights.
std::optional<Overview> overview_of_kept(const std::vector<AttentionDocument>& documents,
                                         const HeadOptions& asked, const PatternOptions& pattern,
                                         StyleChoice style, const Outputs& outputs);

/// Writes the overview of a document as PNG or as text.
void write_overview(OutputFormat format, const AttentionDocument& document,
                    const Overview& overview, const FigureStyle& figure,
                    const TerminalOptions& terminal, const ByteSink& sink);

/// The overview of one text's attention. Keeps thumbnails of all heads, and the large picture of
/// all as well where these are few bytes; else the large head is computed again.
class StreamedOverview : public StreamedPicture {
 public:
  StreamedOverview(const ShowOptions& options, const std::vector<HeadId>& heads,
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
  using Cells = std::vector<std::shared_ptr<PooledPatterns>>;

  bool keeps_large() const;

  const ShowOptions& options_;
  const std::vector<HeadId>& heads_;
  const FigureStyle& figure_;
  const Outputs& outputs_;
  const AttentionDocument* document_ = nullptr;
  Overview overview_;
  PoolGrids thumbnail_grids_;
  PoolGrids large_grids_;
  std::optional<TellingSearch> telling_;  // once it has begun
  Cells thumbnails_;
  Cells large_;
};

}  // namespace attnviz::app
