// Attention as it is shown: what every format is written from.
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

/// What is drawn of attention: a panel for each head, one token's bars, every head small and one
/// large, lines between tokens.
using AttentionFigure = std::variant<Heatmap, BarsFigure, Overview, ArcsFigure>;

/// Its panels, those of an overview the small ones; null where it has none.
const Heatmap* panels_of(const AttentionFigure& figure) noexcept;

/// Documents, and the figure of them.
class ShownAttention {
 public:
  /// Of panels, or of bars where one token is in focus, which are made when they are first asked
  /// for. `documents`, at least one, must outlive it; several stand side by side.
  explicit ShownAttention(std::span<const AttentionDocument> documents) : documents_(documents) {}
  ShownAttention(std::span<const AttentionDocument> documents, AttentionFigure figure)
      : documents_(documents), figure_(std::move(figure)) {}

  std::span<const AttentionDocument> documents() const noexcept { return documents_; }
  const AttentionDocument& first() const { return documents_.front(); }

  /// A line that the panels' legend begins with, and the head whose cell it speaks of, if any.
  void set_remark(std::string remark, std::optional<InformativeHead> of = {}) {
    remark_ = std::move(remark);
    remarked_ = of;
  }

  /// What a page has beside them; its views must outlive this.
  const ExplorerExtras& extras() const noexcept { return extras_; }
  void set_extras(ExplorerExtras extras) { extras_ = std::move(extras); }

  /// Throws as attention_heatmap().
  const AttentionFigure& figure() const;
  /// Throws what figure() throws where it may throw, for formats that hold no picture: nothing is
  /// written of what cannot be drawn as it was asked for.
  void check_drawing() const;

 private:
  std::span<const AttentionDocument> documents_;
  ExplorerExtras extras_;
  std::string remark_;
  std::optional<InformativeHead> remarked_;
  mutable std::optional<AttentionFigure> figure_;
};

}  // namespace attnviz::app
