// Attention as it is shown: what every format is written from.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>

#include "attnviz/analysis/pool_grid.h"
#include "attnviz/document/arcs_figure.h"
#include "attnviz/document/attention_document.h"
#include "attnviz/document/heatmap.h"
#include "attnviz/document/overview.h"
#include "attnviz/document/patterns/focus_bars.h"
#include "attnviz/html/explorer.h"

namespace attnviz::app {

/// Documents, and the picture of them, which is made when it is first asked for.
class ShownAttention {
 public:
  /// Of a panel for each head. `documents`, at least one, must outlive it; several stand side by
  /// side.
  explicit ShownAttention(std::span<const AttentionDocument> documents) : documents_(documents) {}
  /// Of all heads small and one large.
  ShownAttention(const AttentionDocument& document, Overview overview)
      : documents_(&document, 1), overview_(std::move(overview)) {}
  /// Of panels that are drawn already.
  ShownAttention(const AttentionDocument& document, Heatmap panels)
      : documents_(&document, 1), is_drawn_(true), panels_(std::move(panels)) {}

  /// Of lines between tokens.
  ShownAttention(std::span<const AttentionDocument> documents, ArcsFigure arcs)
      : documents_(documents), arcs_(std::move(arcs)) {}

  std::span<const AttentionDocument> documents() const noexcept { return documents_; }
  const AttentionDocument& first() const { return documents_.front(); }

  /// A line that the panels' legend begins with, and the head whose cell it speaks of, if any.
  void set_remark(std::string remark, std::optional<TellingHead> of = {}) {
    remark_ = std::move(remark);
    remarked_ = of;
  }

  /// What a page has beside them; its views must outlive this.
  const ExplorerExtras& extras() const noexcept { return extras_; }
  void set_extras(ExplorerExtras extras) { extras_ = std::move(extras); }

  /// Empty where panels are drawn.
  const std::optional<Overview>& overview() const noexcept { return overview_; }
  /// Empty where there are none.
  const std::optional<ArcsFigure>& arcs() const noexcept { return arcs_; }
  /// The panels, of an overview the small ones. Throws as attention_heatmap().
  const Heatmap& heatmap() const;
  /// Of one token: its bars are those of heatmap(). Empty where something else is drawn.
  std::optional<BarsSubject> bars() const;
  /// Throws what heatmap() throws where it may throw, for formats that hold no picture: nothing is
  /// written of what cannot be drawn as it was asked for.
  void check_drawing() const;

 private:
  std::span<const AttentionDocument> documents_;
  std::optional<Overview> overview_;
  std::optional<ArcsFigure> arcs_;
  ExplorerExtras extras_;
  std::string remark_;
  std::optional<TellingHead> remarked_;
  bool is_drawn_ = false;
  mutable std::optional<Heatmap> panels_;
};

}  // namespace attnviz::app
