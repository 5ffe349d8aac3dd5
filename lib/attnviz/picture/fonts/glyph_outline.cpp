#include "attnviz/picture/fonts/glyphs.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>
#include <string>

#include "attnviz/picture/fonts/font_data.h"
#include "attnviz/picture/fonts/stb_memory.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"  // from stb_memory()
#define STBTT_malloc(size, context) ((void)(context), attnviz::stb_memory(nullptr, size))
#define STBTT_free(memory, context) ((void)(context), std::free(memory))
#define STBTT_STATIC
#define STB_TRUETYPE_IMPLEMENTATION
#include <stb/stb_truetype.h>
#pragma GCC diagnostic pop

namespace attnviz {

namespace {

// Enough lines per curve that a letter of 60 pixels looks smooth.
constexpr int kLinesPerCurve = 8;

// An outline larger than this (in pixels) belongs to a broken font.
constexpr double kLargestOutline = 2048.0;

// The font once parsed; read-only afterwards.
struct Font {
  stbtt_fontinfo info = {};
  double unit = 0.0;  // in columns
  EmbeddedMetrics metrics;
};

const Font& font() noexcept {
  static const Font parsed = [] {
    Font font;
    stbtt_InitFont(&font.info, kFontData.data(), 0);
    int advance = 0;
    int bearing = 0;
    stbtt_GetCodepointHMetrics(&font.info, '0', &advance, &bearing);
    font.unit = 1.0 / advance;
    int ascent = 0;
    int descent = 0;
    int gap = 0;
    stbtt_GetFontVMetrics(&font.info, &ascent, &descent, &gap);
    int left = 0;
    int bottom = 0;
    int right = 0;
    int top = 0;
    stbtt_GetCodepointBox(&font.info, '0', &left, &bottom, &right, &top);
    const double em = 1.0 / stbtt_ScaleForMappingEmToPixels(&font.info, 1.0f);
    font.metrics = {em * font.unit, ascent * font.unit, -descent * font.unit, top * font.unit};
    return font;
  }();
  return parsed;
}

PixelPoint between(PixelPoint a, PixelPoint b, double t) {
  return {a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * t};
}

std::vector<PixelPoint> rectangle(double left, double bottom, double right, double top) {
  return {{left, bottom}, {right, bottom}, {right, top}, {left, top}};
}

// Accumulates the signed area between lines and the right edge, pixel by pixel: each line changes
// only the pixels that it crosses and the ones just right of them; a sum along the row does the
// rest.
//
// Source  R. Levien, font-rs (2016), accumulation buffer.
class AreaBuffer {
 public:
  AreaBuffer(int width, int height)
      : width_(width),
        height_(height),
        stride_(static_cast<std::size_t>(width) + 2),
        changes_(stride_ * static_cast<std::size_t>(height), 0.0) {}

  // Adds a line from `a` to `b`, in pixels from the top left corner; parts outside are moved to the
  // edge.
  void add_line(PixelPoint a, PixelPoint b) {
    const double sign = a.y < b.y ? 1.0 : -1.0;
    if (a.y > b.y) {
      std::swap(a, b);
    }
    const double slope = a.y == b.y ? 0.0 : (b.x - a.x) / (b.y - a.y);
    // The conversion truncates; above the first row nothing needs to be added.
    const int first = std::max(0, static_cast<int>(a.y));
    const int end =
        std::min(height_, static_cast<int>(b.y) + (b.y > static_cast<int>(b.y) ? 1 : 0));
    for (int row = first; row < end; ++row) {
      const double top = std::max(a.y, static_cast<double>(row));
      const double bottom = std::min(b.y, row + 1.0);
      const double x0 = std::clamp(a.x + slope * (top - a.y), 0.0, 1.0 * width_);
      const double x1 = std::clamp(a.x + slope * (bottom - a.y), 0.0, 1.0 * width_);
      add_in_row(row, std::min(x0, x1), std::max(x0, x1), sign * (bottom - top));
    }
  }

  std::vector<std::uint8_t> ink() const {
    std::vector<std::uint8_t> ink;
    ink.reserve(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_));
    for (std::size_t row = 0; row < static_cast<std::size_t>(height_); ++row) {
      double area = 0.0;
      for (std::size_t column = 0; column < static_cast<std::size_t>(width_); ++column) {
        area += changes_[row * stride_ + column];
        const double rounded_up = std::min(1.0, std::abs(area)) * 255.0 + 0.5;
        ink.push_back(static_cast<std::uint8_t>(rounded_up));
      }
    }
    return ink;
  }

 private:
  // Adds a line that goes from x0 to x1 >= x0 while it descends by `height`.
  void add_in_row(int row, double x0, double x1, double height) {
    double* changes = changes_.data() + static_cast<std::size_t>(row) * stride_;
    const auto first = static_cast<std::size_t>(x0);
    if (x1 <= static_cast<double>(first) + 1.0) {  // in one pixel, as most lines of letters
      const double area = static_cast<double>(first) + 1.0 - (x0 + x1) / 2;
      changes[first] += height * area;
      changes[first + 1] += height * (1.0 - area);
      return;
    }
    const double span = x1 - x0;
    double covered = 0.0;  // right of the line in the pixels so far, per height
    for (std::size_t column = first;; ++column) {
      const auto left = static_cast<double>(column);
      const double enter = std::max(x0, left);
      const double leave = std::min(x1, left + 1.0);
      // The line is in this pixel for `share` of its height; the part left of it covers it fully.
      const double share = (leave - enter) / span;
      const double before = (enter - x0) / span;
      const double area = before + share * (left + 1.0 - (enter + leave) / 2);
      changes[column] += height * (area - covered);
      covered = area;
      if (x1 <= left + 1.0) {
        changes[column + 1] += height * (1.0 - covered);
        return;
      }
    }
  }

  int width_;
  int height_;
  std::size_t stride_;
  std::vector<double> changes_;  // [height, width + 2]
};

}  // namespace

// By de Casteljau's algorithm.
void add_curve(std::vector<PixelPoint>& contour, std::initializer_list<PixelPoint> controls) {
  const PixelPoint start = contour.empty() ? *controls.begin() : contour.back();
  for (int i = 1; i <= kLinesPerCurve; ++i) {
    const double t = static_cast<double>(i) / kLinesPerCurve;
    std::array<PixelPoint, 4> points = {start};
    std::copy(controls.begin(), controls.end(), points.begin() + 1);
    for (std::size_t left = controls.size(); left > 0; --left) {
      for (std::size_t at = 0; at < left; ++at) {
        points[at] = between(points[at], points[at + 1], t);
      }
    }
    contour.push_back(points.front());
  }
}

const EmbeddedMetrics& embedded_metrics() noexcept {
  return font().metrics;
}

bool embedded_has(char32_t code_point) noexcept {
  return stbtt_FindGlyphIndex(&font().info, static_cast<int>(code_point)) != 0;
}

Outline embedded_outline(char32_t code_point) {
  stbtt_vertex* vertices = nullptr;
  const int count = stbtt_GetCodepointShape(&font().info, static_cast<int>(code_point), &vertices);
  const double unit = font().unit;
  Outline outline;
  for (int i = 0; i < count; ++i) {
    const stbtt_vertex& vertex = vertices[i];
    const PixelPoint point = {vertex.x * unit, vertex.y * unit};
    if (vertex.type == STBTT_vmove || outline.empty()) {
      outline.push_back({point});
    } else if (vertex.type == STBTT_vcurve) {
      add_curve(outline.back(), {{vertex.cx * unit, vertex.cy * unit}, point});
    } else {
      outline.back().push_back(point);
    }
  }
  stbtt_FreeShape(&font().info, vertices);
  return outline;
}

Outline code_point_box(char32_t code_point) {
  const EmbeddedMetrics& m = font().metrics;
  constexpr double kLine = 1.0 / 9;
  constexpr double kLeft = 0.1;
  constexpr double kRight = 2.0 - kLeft;
  const double bottom = -m.descent + 1.0 / 12;
  const double top = m.ascent - 1.0 / 12;
  Outline outline = {rectangle(kLeft, bottom, kRight, top)};
  // Drawn in the opposite direction, the inner rectangle cuts a hole into the outer one.
  outline.push_back(rectangle(kRight - kLine, bottom + kLine, kLeft + kLine, top - kLine));

  const std::string digits =
      fmt::format("{:0{}X}", static_cast<std::uint32_t>(code_point), code_point > 0xFFFF ? 6 : 4);
  const std::size_t per_row = digits.size() / 2;
  constexpr double kPad = 1.6 * kLine;
  const double cell_width = (kRight - kLeft - 2 * kPad) / static_cast<double>(per_row);
  const double cell_height = (top - bottom - 3 * kPad) / 2;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const double x0 = kLeft + kPad + cell_width * static_cast<double>(i % per_row);
    const double y0 = bottom + kPad + (i < per_row ? cell_height + kPad : 0.0);
    for (std::vector<PixelPoint>& contour :
         embedded_outline(static_cast<unsigned char>(digits[i]))) {
      for (PixelPoint& point : contour) {
        point = {x0 + point.x * cell_width, y0 + point.y * cell_height / m.digit_height};
      }
      outline.push_back(std::move(contour));
    }
  }
  return outline;
}

InkMap fill_outline(const Outline& outline, double x, double y) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double left = kInfinity;
  double right = -kInfinity;
  double bottom = kInfinity;
  double top = -kInfinity;
  for (const std::vector<PixelPoint>& contour : outline) {
    for (const PixelPoint& point : contour) {
      if (!(std::abs(point.x) < kLargestOutline && std::abs(point.y) < kLargestOutline)) {
        return {};
      }
      left = std::min(left, point.x);
      right = std::max(right, point.x);
      bottom = std::min(bottom, point.y);
      top = std::max(top, point.y);
    }
  }
  if (left > right) {
    return {};
  }
  InkMap map;
  map.left = static_cast<int>(std::floor(left + x));
  map.top = static_cast<int>(std::floor(-top + y));
  map.width = static_cast<int>(std::ceil(right + x)) - map.left + 1;
  map.height = static_cast<int>(std::ceil(-bottom + y)) - map.top + 1;
  AreaBuffer areas(map.width, map.height);
  for (const std::vector<PixelPoint>& contour : outline) {
    for (std::size_t i = 0; i < contour.size(); ++i) {
      const PixelPoint& from = contour[i];
      const PixelPoint& to = contour[(i + 1) % contour.size()];
      areas.add_line({from.x + x - map.left, y - from.y - map.top},
                     {to.x + x - map.left, y - to.y - map.top});
    }
  }
  map.ink = areas.ink();
  return map;
}

}  // namespace attnviz
