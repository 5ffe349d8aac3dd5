#include "attnviz/picture/layout/cell_look.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>

#include "attnviz/picture/layout/figure_labels.h"

namespace attnviz {

namespace {

constexpr double kLargestDisc = 0.94;  // of a cell's side

// The part of a scale that a share of its largest size takes: a scale around zero has two halves.
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

CellLook::CellLook(const ColorScale& scale, const FigureStyle& style, const FigureGrid& grid,
                   bool has_numbers)
    : scale_(scale), theme_(theme_colors(style.theme)) {
  disc_ = largest_disc(style, grid);
  has_discs_ = disc_ > 0.0;
  fill_ = style.cells == CellStyle::kColors ? Fill::kScale
          : style.cells == CellStyle::kMask ? Fill::kInk
          : has_discs_ || has_numbers       ? Fill::kGround
                                            : Fill::kShades;
}

Rgb CellLook::disc_ink(float t) const noexcept {
  // The ends of a scale around zero are too dark for a dark figure.
  constexpr float kFromMiddle = 0.38f;
  return scale_.colormap.diverging()
             ? scale_.colormap(t < 0.5f ? 0.5f - kFromMiddle : 0.5f + kFromMiddle)
             : theme_.text;
}

Rgb CellLook::step_fill(std::size_t step) const noexcept {
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

std::vector<Rgb> CellLook::palette() const {
  std::vector<Rgb> colors;
  for (std::size_t step = 0; step < Colormap::kSteps; ++step) {
    colors.push_back(step_fill(step));
  }
  colors.push_back(fill_ == Fill::kInk ? theme_.note : kNanColor);
  colors.push_back(theme_.masked);
  return colors;
}

std::uint8_t CellLook::fill(float shown) const noexcept {
  return static_cast<std::uint8_t>(scale_.colormap.step(scale_.position(shown)));
}

Rgb CellLook::number_ink(float shown, Rgb fill) const noexcept {
  if (fill_ != Fill::kGround) {
    return ink_on(fill);
  }
  const float t = scale_.position(shown);
  return std::isnan(t) ? theme_.text : mixed(theme_.tick, disc_ink(t), strength(scale_, t));
}

void CellLook::add_discs(const PooledMatrix& cells, const CellImage& image,
                         std::vector<SceneItem>& items) const {
  // As many sizes as eyes tell apart: discs of one size in a row are one item.
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

void CellLook::add_bar(const PixelRect& bar, std::span<const PixelRect> ticks, int line,
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
  // Steps of one colour are one rectangle each.
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
