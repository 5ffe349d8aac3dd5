#include "attnviz/render/font.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <numbers>
#include <string>

#include "attnviz/render/font_data.h"

#define STBTT_STATIC
#define STB_TRUETYPE_IMPLEMENTATION
#include <stb/stb_truetype.h>

namespace attnviz {

namespace {

using Outline = std::vector<stbtt_vertex>;

// Lengths in the font's own units.
struct FontMetrics {
  int advance = 0;
  int ascent = 0;
  int descent = 0;
  int digit_height = 0;
};

// The font once parsed; read-only afterwards.
struct Font {
  stbtt_fontinfo info = {};
  FontMetrics metrics;
};

const Font& font() noexcept {
  static const Font parsed = [] {
    Font font;
    stbtt_InitFont(&font.info, kFontData.data(), 0);
    int bearing = 0;
    stbtt_GetCodepointHMetrics(&font.info, '0', &font.metrics.advance, &bearing);
    int gap = 0;
    int descent = 0;
    stbtt_GetFontVMetrics(&font.info, &font.metrics.ascent, &descent, &gap);
    font.metrics.descent = -descent;
    int left = 0;
    int bottom = 0;
    int right = 0;
    stbtt_GetCodepointBox(&font.info, '0', &left, &bottom, &right, &font.metrics.digit_height);
    return font;
  }();
  return parsed;
}

double pixels_per_unit(int column_width) noexcept {
  return static_cast<double>(column_width) / font().metrics.advance;
}

int baseline(int column_width) noexcept {
  return static_cast<int>(std::lround(font().metrics.ascent * pixels_per_unit(column_width)));
}

struct Direction {
  double cosine;
  double sine;
};

Direction direction(TextAngle angle) noexcept {
  switch (angle) {
    case TextAngle::kLevel:
      return {1.0, 0.0};
    case TextAngle::kRising:
      return {1.0 / std::numbers::sqrt2, 1.0 / std::numbers::sqrt2};
    case TextAngle::kUp:
      return {0.0, 1.0};
  }
  return {1.0, 0.0};
}

// The pixel `along` to the right and `down` from the origin, as the reader of the text sees it.
PixelPoint turned(double along, double down, TextAngle angle) noexcept {
  const Direction d = direction(angle);
  return {along * d.cosine + down * d.sine, -along * d.sine + down * d.cosine};
}

Outline glyph_outline(char32_t code_point) {
  stbtt_vertex* vertices = nullptr;
  const int count = stbtt_GetCodepointShape(&font().info, static_cast<int>(code_point), &vertices);
  Outline outline(vertices, vertices + count);
  stbtt_FreeShape(&font().info, vertices);
  return outline;
}

using Coordinate = stbtt_vertex_type;

// Every point p of the outline becomes (map_x(p), map_y(p)).
template <class MapX, class MapY>
void transform(Outline& outline, MapX map_x, MapY map_y) {
  const auto move = [&](Coordinate& x, Coordinate& y) {
    const double from_x = x;
    const double from_y = y;
    x = static_cast<Coordinate>(std::lround(map_x(from_x, from_y)));
    y = static_cast<Coordinate>(std::lround(map_y(from_x, from_y)));
  };
  for (stbtt_vertex& vertex : outline) {
    move(vertex.x, vertex.y);
    move(vertex.cx, vertex.cy);
  }
}

void add_rectangle(Outline& outline, int left, int bottom, int right, int top) {
  const auto add = [&](unsigned char type, int x, int y) {
    stbtt_vertex vertex = {};
    vertex.type = type;
    vertex.x = static_cast<Coordinate>(x);
    vertex.y = static_cast<Coordinate>(y);
    outline.push_back(vertex);
  };
  add(STBTT_vmove, left, bottom);
  add(STBTT_vline, right, bottom);
  add(STBTT_vline, right, top);
  add(STBTT_vline, left, top);
  add(STBTT_vline, left, bottom);
}

// A box of two columns with the code point in hexadecimal, in two rows of two or three digits.
Outline code_point_box(char32_t code_point) {
  const FontMetrics& m = font().metrics;
  const int line = m.advance / 9;
  const int left = m.advance / 10;
  const int right = 2 * m.advance - left;
  const int bottom = -m.descent + m.advance / 12;
  const int top = m.ascent - m.advance / 12;
  Outline outline;
  add_rectangle(outline, left, bottom, right, top);
  // Drawn the other way round, the inner rectangle cuts a hole into the outer one.
  add_rectangle(outline, right - line, bottom + line, left + line, top - line);

  const std::string digits =
      fmt::format("{:0{}X}", static_cast<std::uint32_t>(code_point), code_point > 0xFFFF ? 6 : 4);
  const std::size_t per_row = digits.size() / 2;
  const double pad = 1.6 * line;
  const double cell_width = (right - left - 2 * pad) / static_cast<double>(per_row);
  const double cell_height = (top - bottom - 3 * pad) / 2;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    Outline digit = glyph_outline(static_cast<unsigned char>(digits[i]));
    const double x0 = left + pad + cell_width * static_cast<double>(i % per_row);
    const double y0 = bottom + pad + (i < per_row ? cell_height + pad : 0.0);
    transform(
        digit, [&](double x, double) { return x0 + x * cell_width / m.advance; },
        [&](double, double y) { return y0 + y * cell_height / m.digit_height; });
    outline.insert(outline.end(), digit.begin(), digit.end());
  }
  return outline;
}

// Turned outlines are rounded to whole units; finer ones keep curves smooth. Two columns fit.
constexpr int kUnitsPerFontUnit = 4;
constexpr int kFractions = 4;

InkMap rasterize_outline(Outline& outline, int column_width, TextAngle angle, double shift_x,
                         double shift_y) {
  if (outline.empty()) {
    return {};
  }
  const Direction d = direction(angle);
  transform(
      outline, [&](double x, double y) { return kUnitsPerFontUnit * (x * d.cosine - y * d.sine); },
      [&](double x, double y) { return kUnitsPerFontUnit * (x * d.sine + y * d.cosine); });

  const double scale = pixels_per_unit(column_width) / kUnitsPerFontUnit;
  int x_min = outline.front().x;
  int x_max = x_min;
  int y_min = outline.front().y;
  int y_max = y_min;
  for (const stbtt_vertex& vertex : outline) {
    const bool curve = vertex.type == STBTT_vcurve;
    x_min = std::min<int>({x_min, vertex.x, curve ? vertex.cx : vertex.x});
    x_max = std::max<int>({x_max, vertex.x, curve ? vertex.cx : vertex.x});
    y_min = std::min<int>({y_min, vertex.y, curve ? vertex.cy : vertex.y});
    y_max = std::max<int>({y_max, vertex.y, curve ? vertex.cy : vertex.y});
  }
  InkMap map;
  map.left = static_cast<int>(std::floor(x_min * scale + shift_x));
  map.top = static_cast<int>(std::floor(-y_max * scale + shift_y));
  map.width = static_cast<int>(std::ceil(x_max * scale + shift_x)) - map.left + 1;
  map.height = static_cast<int>(std::ceil(-y_min * scale + shift_y)) - map.top + 1;
  map.ink.assign(static_cast<std::size_t>(map.width) * static_cast<std::size_t>(map.height), 0);
  stbtt__bitmap bitmap = {map.width, map.height, map.width, map.ink.data()};
  constexpr float kFlatness = 0.35f;  // pixels between a curve and the lines that stand for it
  stbtt_Rasterize(&bitmap, kFlatness, outline.data(), static_cast<int>(outline.size()),
                  static_cast<float>(scale), static_cast<float>(scale), static_cast<float>(shift_x),
                  static_cast<float>(shift_y), map.left, map.top,
                  /*invert=*/1, nullptr);
  return map;
}

// Adds a glyph's ink at (x, y); what falls outside is cut off.
void add_ink(const InkMap& glyph, int x, int y, InkMap& text) {
  const int first_row = std::max(0, text.top - y - glyph.top);
  const int end_row = std::min(glyph.height, text.top + text.height - y - glyph.top);
  const int first_column = std::max(0, text.left - x - glyph.left);
  const int end_column = std::min(glyph.width, text.left + text.width - x - glyph.left);
  for (int row = first_row; row < end_row; ++row) {
    const std::uint8_t* source = glyph.ink.data() + static_cast<std::ptrdiff_t>(row) * glyph.width;
    std::uint8_t* target =
        text.ink.data() + static_cast<std::ptrdiff_t>(row + y + glyph.top - text.top) * text.width +
        (x + glyph.left - text.left);
    for (int column = first_column; column < end_column; ++column) {
      target[column] = static_cast<std::uint8_t>(std::min(255, target[column] + source[column]));
    }
  }
}

}  // namespace

int line_height(int column_width) noexcept {
  const double descent = font().metrics.descent * pixels_per_unit(column_width);
  return baseline(column_width) + static_cast<int>(std::ceil(descent));
}

bool font_has(char32_t code_point) noexcept {
  return stbtt_FindGlyphIndex(&font().info, static_cast<int>(code_point)) != 0;
}

std::array<PixelPoint, 4> text_corners(PixelPoint origin, std::size_t columns, int column_width,
                                       TextAngle angle) noexcept {
  const double width = static_cast<double>(columns) * column_width;
  const double height = line_height(column_width);
  std::array<PixelPoint, 4> corners = {turned(0, 0, angle), turned(width, 0, angle),
                                       turned(width, height, angle), turned(0, height, angle)};
  for (PixelPoint& corner : corners) {
    corner.x += origin.x;
    corner.y += origin.y;
  }
  return corners;
}

const InkMap& TextRasterizer::glyph_ink(const GlyphKey& key) {
  const auto found = glyphs_.find(key);
  if (found != glyphs_.end()) {
    return found->second;
  }
  const auto [code_point, in_font, column_width, angle, x_fraction, y_fraction] = key;
  Outline outline = in_font ? glyph_outline(code_point) : code_point_box(code_point);
  return glyphs_
      .emplace(key, rasterize_outline(outline, column_width, angle,
                                      static_cast<double>(x_fraction) / kFractions,
                                      static_cast<double>(y_fraction) / kFractions))
      .first->second;
}

InkMap TextRasterizer::rasterize(std::string_view text, int column_width, TextAngle angle) {
  const std::vector<Glyph> glyphs = fonts_.glyphs(text);
  std::size_t columns = 0;
  for (const Glyph& glyph : glyphs) {
    columns = std::max(columns, glyph.column + glyph.columns);
  }
  const auto corners = text_corners({0.0, 0.0}, columns, column_width, angle);
  const auto [left, right] = std::minmax({corners[0].x, corners[1].x, corners[2].x, corners[3].x});
  const auto [top, bottom] = std::minmax({corners[0].y, corners[1].y, corners[2].y, corners[3].y});
  InkMap map;
  map.left = static_cast<int>(std::floor(left));
  map.top = static_cast<int>(std::floor(top));
  map.width = static_cast<int>(std::ceil(right)) - map.left;
  map.height = static_cast<int>(std::ceil(bottom)) - map.top;
  map.ink.assign(static_cast<std::size_t>(map.width) * static_cast<std::size_t>(map.height), 0);
  for (const Glyph& glyph : glyphs) {
    const PixelPoint pen =
        turned(static_cast<double>(glyph.column) * column_width, baseline(column_width), angle);
    const auto quarters_x = static_cast<int>(std::lround(pen.x * kFractions));
    const auto quarters_y = static_cast<int>(std::lround(pen.y * kFractions));
    const int x = static_cast<int>(std::floor(static_cast<double>(quarters_x) / kFractions));
    const int y = static_cast<int>(std::floor(static_cast<double>(quarters_y) / kFractions));
    add_ink(glyph_ink({glyph.code_point, glyph.in_font, column_width, angle,
                       quarters_x - x * kFractions, quarters_y - y * kFractions}),
            x, y, map);
  }
  return map;
}

}  // namespace attnviz
