// Attention with the figure to show; every format writes this.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include "attnviz/analysis/informative_heads.h"
#include "attnviz/attention/pattern_sink.h"
#include "attnviz/page/explorer.h"
#include "attnviz/report/attention_document.h"
#include "attnviz/report/figures.h"
#include "attnviz/report/heatmap.h"
#include "attnviz/report/patterns/focus_bars.h"

namespace attnviz::app {

/// The drawing of attention: a panel for each head, bars for one token, an overview with all heads
/// small and one large, or lines between tokens.
using AttentionFigure = std::variant<Heatmap, BarsFigure, Overview, ArcsFigure>;

/// The figure's panels, or the small ones of an overview; null if it has none.
const Heatmap* panels_of(const AttentionFigure& figure) noexcept;

/// Attention documents and their figure.
class ShownAttention {
 public:
  /// Shows panels, or bars if one token is in focus; the figure is made on first use. `documents`
  /// must outlive this and have at least one element; several are shown side by side.
  explicit ShownAttention(std::span<const AttentionDocument> documents) : documents_(documents) {}
  ShownAttention(std::span<const AttentionDocument> documents, AttentionFigure figure)
      : documents_(documents), figure_(std::move(figure)) {}

  std::span<const AttentionDocument> documents() const noexcept { return documents_; }
  const AttentionDocument& first() const { return documents_.front(); }

  /// Sets the first line of the panels' legend and the head whose cell it refers to, if any.
  void set_remark(std::string remark, std::optional<InformativeHead> of = {}) {
    remark_ = std::move(remark);
    remarked_ = of;
  }

  /// Extra data for a page; its views must outlive this.
  const ExplorerExtras& extras() const noexcept { return extras_; }
  void set_extras(ExplorerExtras extras) { extras_ = std::move(extras); }

  /// Throws as attention_heatmap().
  const AttentionFigure& figure() const;
  /// Throws what figure() would throw, for formats without a picture: attention that cannot be
  /// drawn as requested is not written at all.
  void check_drawing() const;

 private:
  std::span<const AttentionDocument> documents_;
  ExplorerExtras extras_;
  std::string remark_;
  std::optional<InformativeHead> remarked_;
  mutable std::optional<AttentionFigure> figure_;
};

}  // namespace attnviz::app
