#include "picture/checked_layout.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "attnviz/picture/fonts/glyphs.h"

namespace attnviz::test {

namespace {

using Corners = std::array<PixelPoint, 4>;

Corners corners_of(const TextRun& text) {
  return text_corners({static_cast<double>(text.x), static_cast<double>(text.y)}, text.columns,
                      text.column_width, text.angle);
}

Corners corners_of(const PixelRect& rect) {
  const auto x = static_cast<double>(rect.x);
  const auto y = static_cast<double>(rect.y);
  return {PixelPoint{x, y},
          {x + rect.width, y},
          {x + rect.width, y + rect.height},
          {x, y + rect.height}};
}

// Whether a line along some side of `a` separates `a` from `b`, up to the rounding of origins to
// whole pixels.
bool side_separates(const Corners& a, const Corners& b) {
  constexpr double kRounding = 1.0;
  for (std::size_t i = 0; i < 4; ++i) {
    const PixelPoint from = a[i];
    const PixelPoint to = a[(i + 1) % 4];
    const double length = std::hypot(to.x - from.x, to.y - from.y);
    const bool outside = std::all_of(b.begin(), b.end(), [&](const PixelPoint& p) {
      const double across = (to.x - from.x) * (p.y - from.y) - (to.y - from.y) * (p.x - from.x);
      return across <= kRounding * length;
    });
    if (outside) {
      return true;
    }
  }
  return false;
}

bool overlap(const Corners& a, const Corners& b) {
  return !side_separates(a, b) && !side_separates(b, a);
}

// The bounding box of every text, for a quick check before the exact one.
struct Box {
  double left, top, right, bottom;
};

Box bounds(const Corners& c) {
  return {std::min({c[0].x, c[1].x, c[2].x, c[3].x}), std::min({c[0].y, c[1].y, c[2].y, c[3].y}),
          std::max({c[0].x, c[1].x, c[2].x, c[3].x}), std::max({c[0].y, c[1].y, c[2].y, c[3].y})};
}

struct Item {
  Corners corners;
  Box box;
  std::string name;
};

bool inside(const Box& box, const FigureLayout& layout) {
  const int margin = layout.margin - 1;  // origins are rounded to whole pixels
  return box.left >= margin && box.top >= margin && box.right <= layout.width - margin &&
         box.bottom <= layout.height - margin;
}

bool near(const Box& a, const Box& b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

std::vector<Item> shapes_of(const FigureLayout& layout) {
  std::vector<Item> shapes;
  const auto add = [&shapes](const PixelRect& rect, const char* name) {
    shapes.push_back({corners_of(rect), bounds(corners_of(rect)), name});
  };
  for (const PixelRect& panel : layout.panels) {
    add(panel, "panel");
  }
  for (const FigureLayout::Band& band : layout.bands) {
    add(band.rect, "band");
  }
  if (!layout.color_bar.empty()) {
    add(layout.color_bar, "colour bar");
  }
  for (const PixelRect& swatch : {layout.visible_swatch, layout.masked_swatch, layout.nan_swatch}) {
    if (!swatch.empty()) {
      add(swatch, "swatch");
    }
  }
  return shapes;
}

}  // namespace

// Thousands of texts: only failures are reported.
void check_layout(const FigureLayout& layout) {
  std::vector<Item> texts;
  for (const TextRun& text : layout.texts) {
    const Corners corners = corners_of(text);
    texts.push_back({corners, bounds(corners), text.text});
    if (text.columns == 0 || text.columns != FontSet::embedded().columns(text.text)) {
      FAIL_CHECK("text ", text.text, " has ", text.columns, " columns");
    }
    if (!inside(texts.back().box, layout)) {
      FAIL_CHECK("text ", text.text, " reaches into the margin");
    }
  }
  const std::vector<Item> shapes = shapes_of(layout);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (!inside(shapes[i].box, layout)) {
      FAIL_CHECK("the ", shapes[i].name, " reaches into the margin");
    }
    for (std::size_t j = i + 1; j < shapes.size(); ++j) {
      if (near(shapes[i].box, shapes[j].box)) {
        FAIL_CHECK("the ", shapes[i].name, " and the ", shapes[j].name, " overlap");
      }
    }
  }
  for (const PixelRect& tick : layout.ticks) {
    if (!inside(bounds(corners_of(tick)), layout)) {
      FAIL_CHECK("a tick reaches into the margin");
    }
  }

  std::sort(texts.begin(), texts.end(),
            [](const Item& a, const Item& b) { return a.box.top < b.box.top; });
  for (std::size_t i = 0; i < texts.size(); ++i) {
    for (std::size_t j = i + 1; j < texts.size() && texts[j].box.top < texts[i].box.bottom; ++j) {
      if (near(texts[i].box, texts[j].box) && overlap(texts[i].corners, texts[j].corners)) {
        FAIL_CHECK("texts overlap: ", texts[i].name, " and ", texts[j].name);
      }
    }
    for (const Item& shape : shapes) {
      if (near(texts[i].box, shape.box) && overlap(texts[i].corners, shape.corners)) {
        FAIL_CHECK("text ", texts[i].name, " lies on the ", shape.name);
      }
    }
  }
}

}  // namespace attnviz::test
