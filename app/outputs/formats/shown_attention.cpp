#include "outputs/formats/shown_attention.h"

#include <algorithm>

#include "attnviz/document/attention_heatmap.h"

namespace attnviz::app {

const Heatmap& ShownAttention::heatmap() const {
  if (overview_) {
    return overview_->thumbnails;
  }
  if (!panels_) {
    panels_ = attention_heatmap(documents_);
    if (!remark_.empty()) {
      panels_->notes.insert(panels_->notes.begin(), remark_);
    }
    const std::vector<HeadId> heads = heads_of(first());
    if (const auto meant = remarked_ ? std::ranges::find(heads, remarked_->head) : heads.end();
        meant != heads.end()) {
      mark_cell(*panels_, static_cast<std::size_t>(meant - heads.begin()), remarked_->query,
                remarked_->key);
    }
  }
  return *panels_;
}

std::optional<BarsSubject> ShownAttention::bars() const {
  const std::optional<Focus>& focus = first().drawing.focus;
  if (!focus || overview_ || arcs_ || is_drawn_) {
    return std::nullopt;
  }
  return bars_subject(first(), heatmap());
}

void ShownAttention::check_drawing() const {
  const Drawing& drawing = first().drawing;
  if (drawing.drop_sink || drawing.no_special || drawing.focus) {
    heatmap();
  }
}

}  // namespace attnviz::app
