#include "attnviz/picture/layout/figure_layout.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "attnviz/color/colormap.h"
#include "attnviz/color/group_colors.h"
#include "attnviz/picture/layout/figure_labels.h"
#include "attnviz/picture/layout/layouts.h"

namespace attnviz {

namespace {

// Pixels at 96 dpi.
constexpr int kHatchSpacing = 6;
constexpr int kSmallestHatched = 12;  // smaller cells are plain grey

// Whether a colour of the scale could be mistaken for `color`.
bool resembles(const Colormap& colormap, Rgb color) {
  constexpr int kSteps = 32;
  constexpr int kAlike = 60;  // sum of the channels' distances
  for (int step = 0; step <= kSteps; ++step) {
    const Rgb other = colormap(static_cast<float>(step) / kSteps);
    const int distance =
        std::abs(other.r - color.r) + std::abs(other.g - color.g) + std::abs(other.b - color.b);
    if (distance < kAlike) {
      return true;
    }
  }
  return false;
}

// Returns `rect` enlarged by `pixels` on each side.
PixelRect grown(const PixelRect& rect, int pixels) {
  return {rect.x - pixels, rect.y - pixels, rect.width + 2 * pixels, rect.height + 2 * pixels};
}

// Adds a frame of `thickness` that begins `distance` outside of `inner`.
void add_frame(const PixelRect& inner, int distance, int thickness, Rgb color,
               std::vector<SceneItem>& items) {
  const PixelRect outer = grown(inner, distance + thickness);
  for (const PixelRect& side :
       {PixelRect{outer.x, outer.y, outer.width, thickness},
        PixelRect{outer.x, outer.bottom() - thickness, outer.width, thickness},
        PixelRect{outer.x, outer.y, thickness, outer.height},
        PixelRect{outer.right() - thickness, outer.y, thickness, outer.height}}) {
    items.emplace_back(Rectangle{side, color});
  }
}

// Adds the items of one heatmap at their positions in its layout.
class FigureItems {
 public:
  FigureItems(const Heatmap& heatmap, const FigureLayout& layout, const FigureStyle& style,
              std::vector<SceneItem>& items)
      : heatmap_(heatmap),
        layout_(layout),
        style_(style),
        theme_(theme_colors(style.theme)),
        look_(heatmap.scale, style, layout.grid, layout.value_column_width != 0),
        items_(items) {
    const int smallest = std::min(layout.grid.queries.pitch, layout.grid.keys.pitch);
    hatched_ = smallest >= style.pixels(kSmallestHatched) ||
               resembles(heatmap.scale.colormap, theme_.masked);
  }

  void add() {
    for (std::size_t i = 0; i < layout_.panels.size(); ++i) {
      add_panel(heatmap_.panels[i], layout_.panels[i]);
    }
    add_legend();
    if (heatmap_.marked) {
      add_mark(*heatmap_.marked);
    }
    for (const FigureLayout::Band& band : layout_.bands) {
      const GroupColor& color = group_color(band.role % kMostGroups);
      fill(band.rect, style_.theme == FigureTheme::kDark ? color.dark : color.light);
    }
    for (const PixelRect& tick : layout_.ticks) {
      fill(tick, theme_.tick);
    }
    items_.insert(items_.end(), layout_.texts.begin(), layout_.texts.end());
  }

 private:
  void fill(const PixelRect& rect, Rgb color) { items_.emplace_back(Rectangle{rect, color}); }

  // A line around the rectangle, which is painted over it next.
  void outline(const PixelRect& rect) { fill(grown(rect, layout_.line), theme_.outline); }

  void hatch(const PixelRect& rect) {
    items_.emplace_back(Hatch{rect, theme_.hatch, style_.pixels(kHatchSpacing), layout_.line});
  }

  void add_panel(const HeatmapPanel& from, const PixelRect& panel) {
    const CellAxis& queries = layout_.grid.queries;
    const CellAxis& keys = layout_.grid.keys;
    const PooledMatrix cells = pool(heatmap_, from, queries.tokens, keys.tokens);
    if (queries.gap == 0) {
      outline(panel);
    }
    const CellImage image = {panel,    keys.pitch,  queries.pitch,
                             keys.gap, queries.gap, colors_of(cells)};
    items_.emplace_back(image);
    if (hatched_) {
      hatch_masked(image);
    }
    if (look_.has_discs()) {
      look_.add_discs(cells, image, items_);
    }
    if (layout_.value_column_width != 0) {
      add_numbers(cells, image);
    }
  }

  std::shared_ptr<const CellColors> colors_of(const PooledMatrix& cells) const {
    auto colors = std::make_shared<CellColors>();
    colors->rows = cells.rows;
    colors->cols = cells.cols;
    colors->palette = look_.palette();
    const std::vector<float>& shown = cells.shares.empty() ? cells.values : cells.shares;
    colors->numbers.resize(shown.size());
    for (std::size_t i = 0; i < shown.size(); ++i) {
      colors->numbers[i] = cells.visible[i] != 0 ? look_.fill(shown[i]) : CellDesign::kMasked;
    }
    return colors;
  }

  // Adjacent masked cells of a row are hatched together.
  void hatch_masked(const CellImage& image) {
    for (std::size_t row = 0; row < image.colors->rows; ++row) {
      PixelRect run;
      for (std::size_t col = 0; col < image.colors->cols; ++col) {
        if (image.colors->number(row, col) != CellDesign::kMasked) {
          continue;
        }
        const PixelRect cell = image.cell(row, col);
        if (!run.empty() && run.right() != cell.x) {
          hatch(run);
          run = {};
        }
        run = run.empty() ? cell : PixelRect{run.x, run.y, run.width + cell.width, run.height};
      }
      if (!run.empty()) {
        hatch(run);
      }
    }
  }

  void add_numbers(const PooledMatrix& cells, const CellImage& image) {
    const CellNumbers numbers = cell_numbers(heatmap_.scale.low, heatmap_.scale.high);
    for (std::size_t row = 0; row < cells.rows; ++row) {
      for (std::size_t col = 0; col < cells.cols; ++col) {
        std::string text = numbers.format(cells.value(row, col));
        if (cells.is_visible(row, col) && text.size() <= numbers.columns) {
          TextRun number = cell_number(TextRole::kCellNumber, std::move(text),
                                       layout_.value_column_width, image.cell(row, col));
          number.color = look_.number_ink(cells.shown(row, col), image.colors->at(row, col));
          items_.emplace_back(std::move(number));
        }
      }
    }
  }

  void add_mark(const MarkedCell& marked) {
    const CellAxis& queries = layout_.grid.queries;
    const CellAxis& keys = layout_.grid.keys;
    const PixelRect& panel = layout_.panels[marked.panel];
    const auto row = static_cast<int>(queries.tokens.cell_of(marked.row));
    const auto column = static_cast<int>(keys.tokens.cell_of(marked.column));
    const PixelRect cell = {panel.x + column * keys.pitch, panel.y + row * queries.pitch,
                            keys.pitch - keys.gap, queries.pitch - queries.gap};
    add_frame(cell, queries.gap == 0 ? layout_.line : 0, style_.pixels(kFrameWidth), theme_.frame,
              items_);
  }

  void add_legend() {
    if (!layout_.color_bar.empty()) {
      const PixelRect& bar = layout_.color_bar;
      const bool level = bar.width > bar.height;
      std::vector<PixelRect> ticks;
      std::ranges::copy_if(layout_.ticks, std::back_inserter(ticks), [&](const PixelRect& tick) {
        return level ? tick.y == bar.bottom() + layout_.line : tick.x == bar.right() + layout_.line;
      });
      look_.add_bar(bar, ticks, layout_.line, items_);
    }
    const auto add_swatch = [this](const PixelRect& swatch, Rgb color) {
      if (!swatch.empty()) {
        outline(swatch);
        fill(swatch, color);
      }
    };
    add_swatch(layout_.visible_swatch, look_.palette().front());
    add_swatch(layout_.masked_swatch, theme_.masked);
    if (hatched_ && !layout_.masked_swatch.empty()) {
      hatch(layout_.masked_swatch);
    }
    add_swatch(layout_.nan_swatch, kNanColor);
  }

  const Heatmap& heatmap_;
  const FigureLayout& layout_;
  const FigureStyle& style_;
  const ThemeColors& theme_;
  CellDesign look_;
  bool hatched_ = false;
  std::vector<SceneItem>& items_;
};

Scene empty_scene(int width, int height, const FigureStyle& style) {
  return {width, height, style.dpi, theme_colors(style.theme).background, {}};
}

}  // namespace

Scene figure_scene(const Heatmap& whole, const FigureStyle& style) {
  check(whole);
  check(style);
  const Heatmap heatmap = style.cells == CellStyle::kMask ? one_panel_a_mask(whole) : whole;
  const FigureLayout layout = lay_out_figure(heatmap, style);
  Scene scene = empty_scene(layout.width, layout.height, style);
  FigureItems(heatmap, layout, style, scene.items).add();
  return scene;
}

Scene overview_scene(const Overview& overview, const FigureStyle& style) {
  check(overview.thumbnails);
  check(overview.large);
  check(style);
  const OverviewLayout layout = lay_out_overview(overview, style);
  Scene scene = empty_scene(layout.width, layout.height, style);
  for (const PixelRect& blank : layout.blanks) {
    scene.items.emplace_back(Rectangle{blank, theme_colors(style.theme).masked});
  }
  FigureItems(overview.thumbnails, layout.thumbnails, style, scene.items).add();
  FigureItems(overview.large, layout.large, style, scene.items).add();
  const Rgb color = theme_colors(style.theme).frame;
  const int thickness = style.pixels(kFrameWidth);
  add_frame(layout.chosen, 2 * layout.thumbnails.line, thickness, color, scene.items);
  add_frame(layout.swatch, 0, thickness, color, scene.items);
  return scene;
}

namespace {

constexpr double kLargestDisc = 0.94;  // of a cell's side

// The strength of a position on the scale, from 0 to 1: a scale around zero has two halves.
float strength(const ColorScale& scale, float t) noexcept {
  const float at = std::clamp(t, 0.0f, 1.0f);
  return scale.colormap.diverging() ? std::abs(2.0f * at - 1.0f) : at;
}

}  // namespace

int largest_disc(const FigureStyle& style, const FigureGrid& grid) noexcept {
  const int smallest = std::min(grid.queries.pitch, grid.keys.pitch);
  if (style.cells != CellStyle::kDots || smallest < style.pixels(kLeastDisc)) {
    return 0;
  }
  const int side = smallest - std::max(grid.queries.gap, grid.keys.gap);
  return std::max(1, static_cast<int>(std::lround(kLargestDisc * side)));
}

CellDesign::CellDesign(const ColorScale& scale, const FigureStyle& style, const FigureGrid& grid,
                       bool has_numbers)
    : scale_(scale), theme_(theme_colors(style.theme)) {
  disc_ = largest_disc(style, grid);
  has_discs_ = disc_ > 0.0;
  fill_ = style.cells == CellStyle::kColors ? Fill::kScale
          : style.cells == CellStyle::kMask ? Fill::kInk
          : has_discs_ || has_numbers       ? Fill::kGround
                                            : Fill::kShades;
}

Rgb CellDesign::disc_ink(float t) const noexcept {
  // The ends of a scale around zero are too dark for a dark figure.
  constexpr float kFromMiddle = 0.38f;
  return scale_.colormap.diverging()
             ? scale_.colormap(t < 0.5f ? 0.5f - kFromMiddle : 0.5f + kFromMiddle)
             : theme_.text;
}

Rgb CellDesign::step_fill(std::size_t step) const noexcept {
  switch (fill_) {
    case Fill::kScale:
      return scale_.colormap.step_color(step);
    case Fill::kGround:
      return theme_.cell;
    case Fill::kInk:
      return theme_.note;
    case Fill::kShades:
      break;
  }
  const float t = static_cast<float>(step) / static_cast<float>(Colormap::kSteps - 1);
  return mixed(theme_.cell, disc_ink(t), strength(scale_, t));
}

std::vector<Rgb> CellDesign::palette() const {
  std::vector<Rgb> colors;
  for (std::size_t step = 0; step < Colormap::kSteps; ++step) {
    colors.push_back(step_fill(step));
  }
  colors.push_back(fill_ == Fill::kInk ? theme_.note : kNanColor);
  colors.push_back(theme_.masked);
  return colors;
}

std::uint8_t CellDesign::fill(float shown) const noexcept {
  return static_cast<std::uint8_t>(scale_.colormap.step(scale_.position(shown)));
}

Rgb CellDesign::number_ink(float shown, Rgb fill) const noexcept {
  if (fill_ != Fill::kGround) {
    return ink_on(fill);
  }
  const float t = scale_.position(shown);
  return std::isnan(t) ? theme_.text : mixed(theme_.tick, disc_ink(t), strength(scale_, t));
}

void CellDesign::add_discs(const PooledMatrix& cells, const CellImage& image,
                           std::vector<SceneItem>& items) const {
  // As many sizes as the eye can distinguish: discs of one size in a row are one item.
  constexpr float kSizes = 64.0f;
  for (std::size_t row = 0; row < cells.rows; ++row) {
    std::map<std::pair<bool, int>, Strokes> discs;
    for (std::size_t col = 0; col < cells.cols; ++col) {
      const float t = scale_.position(cells.shown(row, col));
      if (!cells.is_visible(row, col) || std::isnan(t)) {
        continue;
      }
      const int size = static_cast<int>(std::lround(std::sqrt(strength(scale_, t)) * kSizes));
      if (size == 0) {
        continue;
      }
      Strokes& same = discs[{t < 0.5f && scale_.colormap.diverging(), size}];
      const PixelRect cell = image.cell(row, col);
      const PixelPoint middle{cell.x + cell.width / 2.0, cell.y + cell.height / 2.0};
      same.curves.push_back({middle, middle});
      same.width = disc_ * size / static_cast<double>(kSizes);
      same.color = disc_ink(t);
    }
    for (auto& [size, same] : discs) {
      items.emplace_back(std::move(same));
    }
  }
}

void CellDesign::add_bar(const PixelRect& bar, std::span<const PixelRect> ticks, int line,
                         std::vector<SceneItem>& items) const {
  const bool level = bar.width > bar.height;
  const int length = std::max(bar.width, bar.height);
  if (has_discs_) {
    for (const PixelRect& tick : ticks) {
      const double along =
          level ? tick.x + tick.width / 2.0 - bar.x : bar.bottom() - tick.y - tick.height / 2.0;
      const auto t = static_cast<float>((along - disc_ / 2.0) / (length - disc_));
      const PixelPoint middle = level ? PixelPoint{bar.x + along, bar.y + bar.height / 2.0}
                                      : PixelPoint{bar.x + bar.width / 2.0, bar.bottom() - along};
      const double wide = disc_ * std::sqrt(static_cast<double>(strength(scale_, t)));
      items.emplace_back(Strokes{{{middle, middle}}, wide, disc_ink(t)});
    }
    return;
  }
  const PixelRect ground{bar.x - line, bar.y - line, bar.width + 2 * line, bar.height + 2 * line};
  items.emplace_back(Rectangle{ground, theme_.outline});
  // Consecutive steps of one colour are one rectangle.
  const auto color_at = [&](int i) {
    return step_fill(scale_.colormap.step(static_cast<float>(i) / static_cast<float>(length - 1)));
  };
  for (int begin = 0; begin < length;) {
    int end = begin + 1;
    while (end < length && color_at(end) == color_at(begin)) {
      ++end;
    }
    const PixelRect step = level ? PixelRect{bar.x + begin, bar.y, end - begin, bar.height}
                                 : PixelRect{bar.x, bar.bottom() - end, bar.width, end - begin};
    items.emplace_back(Rectangle{step, color_at(begin)});
    begin = end;
  }
}

}  // namespace attnviz
