#include "attnviz/picture/layout/figure_labels.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "attnviz/core/utf8.h"
#include "attnviz/picture/fonts/glyphs.h"

namespace attnviz {

namespace {

// Lengths are pixels at 96 dpi.
constexpr std::size_t kMostBarNameLines = 3;
constexpr std::size_t kMostRole = 12;  // columns: less than the shortest bar
constexpr int kBarWidth = 14;
constexpr int kShortestBar = 120;
constexpr int kLongestBar = 480;
constexpr int kTickDistance = 56;
constexpr int kSwatch = 12;

bool has_cell(const Heatmap& heatmap, const auto& is_meant) {
  for (std::size_t query = 0; query < heatmap.n_queries(); ++query) {
    for (std::size_t key = 0; key < heatmap.n_keys(); ++key) {
      if (is_meant(query, key)) {
        return true;
      }
    }
  }
  return false;
}

bool has_masked(const Heatmap& heatmap, const HeatmapPanel& panel) {
  return panel.visible && has_cell(heatmap, [&panel](std::size_t query, std::size_t key) {
           return !panel.visible(query, key);
         });
}

bool has_nan(const Heatmap& heatmap, const HeatmapPanel& panel) {
  return !panel.values.empty() && has_cell(heatmap, [&panel](std::size_t query, std::size_t key) {
    return std::isnan(panel.values(query, key)) && panel.is_visible(query, key);
  });
}

void take_values(const Heatmap& heatmap, const HeatmapPanel& panel, OpenEnds& open) {
  const ColorScale& scale = heatmap.scale;
  if (panel.pooled) {
    open.take(scale, 0.0f);
    open.take(scale, 1.0f);
    return;
  }
  const bool by_row = scale.kind == ScaleKind::kRowMax;
  std::vector<float> shares(by_row ? heatmap.n_keys() : 0);
  for (std::size_t query = 0; query < panel.values.rows && !(open.low && open.high); ++query) {
    std::span<const float> shown = panel.values.row(query);
    if (by_row) {
      row_shares(panel, query, shares);
      shown = shares;
    }
    for (std::size_t key = 0; key < shown.size(); ++key) {
      if (shown[key] >= scale.low && shown[key] <= scale.high) {
        continue;
      }
      OpenEnds with = open;
      with.take(scale, shown[key]);
      // Checking visibility is the slow part, so it comes last.
      if ((with.low != open.low || with.high != open.high) && panel.is_visible(query, key)) {
        open = with;
      }
    }
  }
}

bool shows_scale(const FigureStyle& style) {
  return style.cells == CellStyle::kColors || style.cells == CellStyle::kDots;
}

}  // namespace

FigureSwatches::FigureSwatches(const Heatmap& heatmap, const FigureStyle& style)
    : visible(style.cells == CellStyle::kMask) {
  for (const HeatmapPanel& panel : heatmap.panels) {
    masked = masked || has_masked(heatmap, panel);
    nan = nan || (!visible && has_nan(heatmap, panel));
    if (shows_scale(style)) {
      take_values(heatmap, panel, open);
    }
  }
}

FigureLegend::FigureLegend(const Heatmap& heatmap, const FigureStyle& style,
                           const FigureSwatches& swatches, LegendPlace place, int body_length,
                           int disc)
    : heatmap_(heatmap),
      style_(style),
      place_(place),
      text_column_(style.pixels(kTextColumn)),
      disc_(disc),
      bar_width_(std::max(px(kBarWidth), disc)) {
  if (shows_scale(style)) {
    bar_length_ = std::max(std::clamp(body_length, px(kShortestBar), px(kLongestBar)), 2 * disc_);
    const int distance = std::max(px(kTickDistance), disc_);
    const int room = std::max(0, bar_length_ - disc_);
    ticks_ =
        color_ticks(heatmap.scale, static_cast<std::size_t>(room / distance) + 1, swatches.open);
    bar_name_ =
        style.fonts->wrap(printable_message(heatmap.value_name),
                          static_cast<std::size_t>(bar_length_ / text_column_), kMostBarNameLines);
  }
  for (std::size_t role = 0; role < heatmap.roles.names.size(); ++role) {
    swatches_.push_back(
        {style.fonts->shorten(printable_message(heatmap.roles.names[role]), kMostRole), nullptr,
         role});
  }
  if (swatches.visible) {
    swatches_.push_back({"sees", &FigureLayout::visible_swatch, 0});
  }
  if (swatches.masked) {
    swatches_.push_back({heatmap.masked_name, &FigureLayout::masked_swatch, 0});
  }
  if (swatches.nan) {
    swatches_.push_back({"not a number", &FigureLayout::nan_swatch, 0});
  }
  std::size_t tick_columns = 0;
  for (const ColorTick& tick : ticks_) {
    tick_columns = std::max(tick_columns, display_width(tick.label));
  }
  const int ticks = static_cast<int>(tick_columns) * text_column_;
  if (place == LegendPlace::kBelow) {
    width_ = has_bar() ? bar_length_ + ticks : 0;
  } else if (has_bar()) {
    width_ = bar_width_ + tick_room(style_) + ticks + px(kSpace) / 2 +
             static_cast<int>(bar_name_.size()) * line();
  }
  const FigureTexts texts(style);
  for (const Swatch& swatch : swatches_) {
    const int wide = px(kSwatch) + px(kSpace) / 2 + texts.width(swatch.name, text_column_);
    width_ = std::max(width_, wide);
  }
}

int FigureLegend::line() const noexcept {
  return line_height(text_column_);
}

// From the low end of the bar, which discs do not extend beyond.
int FigureLegend::tick_at(const ColorTick& tick) const noexcept {
  return disc_ / 2 + static_cast<int>(std::lround(tick.position * (bar_length_ - disc_ - 1)));
}

int FigureLegend::place_upright_bar(const TextArea& area, int top, FigureLayout& layout,
                                    FigureTexts& texts) const {
  const PixelRect bar = {area.x, area.y, bar_width_, bar_length_};
  layout.color_bar = bar;
  const int labels_x = bar.right() + tick_room(style_);
  int widest = 0;
  for (const ColorTick& tick : ticks_) {
    const int y = bar.bottom() - 1 - tick_at(tick);
    layout.ticks.push_back(
        {bar.right() + layout.line, y - layout.line / 2, px(kTickLength), layout.line});
    widest = std::max(widest, texts.width(tick.label, text_column_));
    texts.add(TextRole::kLegend, tick.label, text_column_, labels_x, std::max(y - line() / 2, top));
  }
  int name_x = labels_x + widest + px(kSpace) / 2;
  for (const std::string& name : bar_name_) {
    const int wide = texts.width(name, text_column_);
    texts.add(TextRole::kLegend, name, text_column_, name_x, bar.y + (bar.height + wide) / 2,
              TextAngle::kUp);
    name_x += line();
  }
  return bar.bottom() + line() / 2;
}

int FigureLegend::place_level_bar(const TextArea& area, FigureLayout& layout,
                                  FigureTexts& texts) const {
  const PixelRect bar = {area.x + (area.room - bar_length_) / 2, area.y, bar_length_, bar_width_};
  layout.color_bar = bar;
  for (const ColorTick& tick : ticks_) {
    const int x = bar.x + tick_at(tick);
    layout.ticks.push_back(
        {x - layout.line / 2, bar.bottom() + layout.line, layout.line, px(kTickLength)});
    const int wide = texts.width(tick.label, text_column_);
    texts.add(TextRole::kLegend, tick.label, text_column_, x - wide / 2,
              bar.bottom() + tick_room(style_));
  }
  int y = bar.bottom() + tick_room(style_) + line();
  for (const std::string& name : bar_name_) {
    texts.add_centred(TextRole::kLegend, name, text_column_, bar.x, bar.width, y);
    y += line();
  }
  return y;
}

int FigureLegend::place(const TextArea& area, int top, FigureLayout& layout,
                        FigureTexts& texts) const {
  const bool beside = place_ == LegendPlace::kBeside;
  int bottom = !has_bar() ? area.y - px(kSpace)
               : beside   ? place_upright_bar(area, top, layout, texts)
                          : place_level_bar(area, layout, texts);
  // Below the panels, swatches stand side by side while there is room.
  const int begin = beside || !has_bar() ? area.x : layout.color_bar.x;
  const int end = beside ? 0 : area.x + area.room;
  const int size = px(kSwatch);
  int x = begin;
  int y = 0;
  for (const Swatch& swatch : swatches_) {
    const int wide = size + px(kSpace) / 2 + texts.width(swatch.name, text_column_);
    if (x == begin || x + wide > end) {
      x = begin;
      y = bottom + px(kSpace);
      bottom = y + (size + line()) / 2;
    }
    if (swatch.rect != nullptr) {
      layout.*swatch.rect = {x, y, size, size};
    } else {
      layout.bands.push_back({{x, y, size, size}, swatch.role});
    }
    texts.add(TextRole::kLegend, swatch.name, text_column_, x + size + px(kSpace) / 2,
              y + (size - line()) / 2);
    x += wide + 2 * px(kSpace);
  }
  return bottom;
}

}  // namespace attnviz
