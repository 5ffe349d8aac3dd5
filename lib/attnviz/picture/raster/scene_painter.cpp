#include "attnviz/picture/raster/scene_painter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "attnviz/picture/fonts/font_face.h"
#include "attnviz/picture/fonts/glyphs.h"
#include "attnviz/picture/raster/png_encode.h"

namespace attnviz {

namespace {

class Painter {
 public:
  Painter(Canvas& canvas, const FontSet& fonts) : canvas_(canvas), text_(fonts) {}

  void operator()(const CellImage& image) { paint_cells(image, canvas_); }

  void operator()(const Rectangle& item) { canvas_.fill(item.rect, item.color); }

  void operator()(const Hatch& item) {
    canvas_.hatch(item.rect, item.color, item.spacing, item.thickness);
  }

  void operator()(const Strokes& item) {
    const StrokeMask mask = stroke_mask(item, canvas_.width(), canvas_.height());
    canvas_.blend(mask.rect, mask.shares, item.color);
  }

  void operator()(const TextRun& item) {
    canvas_.draw(text_.rasterize(item.text, item.column_width, item.angle), item.x, item.y,
                 item.color);
  }

 private:
  Canvas& canvas_;
  TextRasterizer text_;
};

}  // namespace

void paint_cells(const CellImage& image, Canvas& canvas) {
  const CellColors& colors = *image.colors;
  std::array<Canvas::Code, 256> codes;
  codes.fill(Canvas::kNoCode);
  const std::uint8_t* number = colors.numbers.data();
  for (std::size_t row = 0; row < colors.rows; ++row) {
    const PixelRect first = image.cell(row, 0);
    // Adjacent cells of one colour, such as masked ones, are painted together.
    int begin = first.x;
    int end = first.x;
    std::uint8_t run_number = 0;
    const auto fill_run = [&] {
      Canvas::Code& code = codes[run_number];
      if (begin < end && !canvas.is_current(code)) {
        code = canvas.code(colors.palette[run_number]);
      }
      canvas.fill_row(begin, first.y, end - begin, code);
    };
    int x = first.x;
    for (std::size_t col = 0; col < colors.cols; ++col, ++number, x += image.pitch_x) {
      if (*number != run_number || end != x) {
        fill_run();
        begin = x;
        run_number = *number;
      }
      end = x + first.width;
    }
    fill_run();
    canvas.repeat_top_row({first.x, first.y, image.rect.width, first.height});
  }
}

Canvas paint(Scene scene, const FontSet& fonts) {
  Canvas canvas(scene.width, scene.height, scene.background);
  Painter painter(canvas, fonts);
  for (SceneItem& item : scene.items) {
    std::visit(painter, std::as_const(item));
    item = Rectangle{};  // frees the memory of large cell images
  }
  return canvas;
}

std::string scene_png(Scene scene, const FontSet& fonts,
                      std::vector<std::pair<std::string, std::string>> texts) {
  const int dpi = scene.dpi;
  return encode_png(paint(std::move(scene), fonts), {dpi, std::move(texts)});
}

namespace {

// Length of straight pieces of a curve: longer ones would show corners.
constexpr double kPiece = 8.0;
constexpr double kMostPieces = 256.0;

class MaskPainter {
 public:
  MaskPainter(const Strokes& strokes, int width, int height)
      : strokes_(strokes), reach_(strokes.width / 2.0 + 0.5) {
    if (strokes.curves.empty()) {
      return;
    }
    // A curve lies between its ends, as do its control points.
    PixelPoint low = strokes.curves.front().from;
    PixelPoint high = low;
    for (const Curve& curve : strokes.curves) {
      low = {std::min({low.x, curve.from.x, curve.to.x}),
             std::min({low.y, curve.from.y, curve.to.y})};
      high = {std::max({high.x, curve.from.x, curve.to.x}),
              std::max({high.y, curve.from.y, curve.to.y})};
    }
    const int left = clipped(std::floor(low.x - reach_), width);
    const int top = clipped(std::floor(low.y - reach_), height);
    mask_.rect = {left, top, clipped(std::ceil(high.x + reach_), width) - left,
                  clipped(std::ceil(high.y + reach_), height) - top};
    mask_.shares.resize(static_cast<std::size_t>(mask_.rect.width) *
                        static_cast<std::size_t>(mask_.rect.height));
  }

  StrokeMask paint() {
    if (mask_.rect.empty()) {
      return {};
    }
    for (const Curve& curve : strokes_.curves) {
      const double length =
          std::abs(curve.to.x - curve.from.x) + std::abs(curve.to.y - curve.from.y);
      const int n_pieces =
          curve.bend == 0.0
              ? 1
              : static_cast<int>(std::clamp(std::ceil(length / kPiece), 1.0, kMostPieces));
      PixelPoint begin = curve.from;
      for (int piece = 1; piece <= n_pieces; ++piece) {
        const PixelPoint end = curve.at(static_cast<double>(piece) / n_pieces);
        add(begin, end);
        begin = end;
      }
    }
    return std::move(mask_);
  }

 private:
  static int clipped(double pixel, int size) noexcept {
    return static_cast<int>(std::clamp(pixel, 0.0, static_cast<double>(size)));
  }

  // Adds a straight piece with round ends.
  void add(PixelPoint a, PixelPoint b) {
    const PixelRect& rect = mask_.rect;
    const double dx = b.x - a.x;
    const double dy = b.y - a.y;
    const double squared = dx * dx + dy * dy;
    const int top = std::max(rect.y, static_cast<int>(std::floor(std::min(a.y, b.y) - reach_)));
    const int bottom =
        std::min(rect.bottom(), static_cast<int>(std::ceil(std::max(a.y, b.y) + reach_)));
    for (int y = top; y < bottom; ++y) {
      const double down = y + 0.5 - a.y;
      // Only the part of the piece near this row can affect its pixels.
      double first = 0.0;
      double last = 1.0;
      if (dy != 0.0) {
        first = std::clamp((down - reach_) / dy, 0.0, 1.0);
        last = std::clamp((down + reach_) / dy, 0.0, 1.0);
      }
      const double begin = a.x + std::min(first * dx, last * dx) - reach_;
      const double end = a.x + std::max(first * dx, last * dx) + reach_;
      const int left = std::max(rect.x, static_cast<int>(std::floor(begin)));
      const int right = std::min(rect.right(), static_cast<int>(std::ceil(end)));
      std::uint8_t* const row =
          mask_.shares.data() + static_cast<std::ptrdiff_t>(y - rect.y) * rect.width;
      for (int x = left; x < right; ++x) {
        const double along = x + 0.5 - a.x;
        const double t =
            squared == 0.0 ? 0.0 : std::clamp((along * dx + down * dy) / squared, 0.0, 1.0);
        const double off_x = along - t * dx;
        const double off_y = down - t * dy;
        const double inside = reach_ - std::sqrt(off_x * off_x + off_y * off_y);
        const double rounded = std::clamp(inside, 0.0, 1.0) * strokes_.opacity * 255.0 + 0.5;
        std::uint8_t& covered = row[x - rect.x];
        covered = std::max(covered, static_cast<std::uint8_t>(rounded));
      }
    }
  }

  const Strokes& strokes_;
  double reach_;  // from the middle of a stroke to the end of its coverage
  StrokeMask mask_;
};

}  // namespace

StrokeMask stroke_mask(const Strokes& strokes, int width, int height) {
  return MaskPainter(strokes, width, height).paint();
}

namespace {

constexpr int kFractions = 4;

// Each pixel of an image is the mean of a square of samples. A letter of 20 pixels shrinks its
// image 7 times.
constexpr int kSamples = 8;

// An image larger than this (in pixels) belongs to a broken font.
constexpr int kLargestImage = 1024;

using Corners = std::array<PixelPoint, 4>;

// Returns an empty map that covers a box with these corners.
InkMap box_of(const Corners& corners) {
  const auto [left, right] = std::minmax({corners[0].x, corners[1].x, corners[2].x, corners[3].x});
  const auto [top, bottom] = std::minmax({corners[0].y, corners[1].y, corners[2].y, corners[3].y});
  InkMap map;
  map.left = static_cast<int>(std::floor(left));
  map.top = static_cast<int>(std::floor(top));
  map.width = static_cast<int>(std::ceil(right)) - map.left;
  map.height = static_cast<int>(std::ceil(bottom)) - map.top;
  return map;
}

// Draws the image of a colour font with its top left, top right, bottom right and bottom left
// corners at these pixels (a rectangle, upright or turned); each pixel is the mean of the image
// under it.
InkMap draw_image(const GlyphImage& image, const Corners& corners) {
  InkMap map = box_of(corners);
  const PixelPoint across = {corners[1].x - corners[0].x, corners[1].y - corners[0].y};
  const PixelPoint down = {corners[3].x - corners[0].x, corners[3].y - corners[0].y};
  const double area = across.x * down.y - across.y * down.x;
  if (map.width >= kLargestImage || map.height >= kLargestImage || !(area > 0.0)) {
    return {};
  }
  map.image.reserve(static_cast<std::size_t>(map.width) * static_cast<std::size_t>(map.height) * 4);
  for (int row = 0; row < map.height; ++row) {
    for (int column = 0; column < map.width; ++column) {
      std::array<int, 4> sum = {};  // colours times their alpha, and the alpha
      for (int i = 0; i < kSamples * kSamples; ++i) {
        const int sample_column = i % kSamples;
        const int sample_row = i / kSamples;
        const double x = map.left + column + (sample_column + 0.5) / kSamples - corners[0].x;
        const double y = map.top + row + (sample_row + 0.5) / kSamples - corners[0].y;
        const double u = (x * down.y - y * down.x) / area;  // 0 to 1 inside the image
        const double v = (across.x * y - across.y * x) / area;
        if (u < 0.0 || u >= 1.0 || v < 0.0 || v >= 1.0) {
          continue;
        }
        const auto source_x = static_cast<std::size_t>(u * image.width);
        const auto source_y = static_cast<std::size_t>(v * image.height);
        const std::uint8_t* pixel =
            image.rgba.data() + 4 * (source_y * static_cast<std::size_t>(image.width) + source_x);
        for (std::size_t channel = 0; channel < 3; ++channel) {
          sum[channel] += pixel[channel] * pixel[3];
        }
        sum[3] += pixel[3];
      }
      for (std::size_t channel = 0; channel < 3; ++channel) {
        map.image.push_back(static_cast<std::uint8_t>(sum[channel] / (255 * kSamples * kSamples)));
      }
      map.image.push_back(static_cast<std::uint8_t>(sum[3] / (kSamples * kSamples)));
    }
  }
  return map;
}

// Turns an outline and scales it by `scale`; y stays upwards.
void turn(Outline& outline, double scale, TextAngle angle) {
  for (std::vector<PixelPoint>& contour : outline) {
    for (PixelPoint& point : contour) {
      const PixelPoint pixel = turned(point.x * scale, -point.y * scale, angle);
      point = {pixel.x, -pixel.y};
    }
  }
}

// Adds a glyph's rows to a text's, where two maps with the same kind of pixels overlap.
template <class Mix>
void mix_rows(const InkMap& glyph, int x, int y, const InkMap& text, Mix mix) {
  const int first_row = std::max(0, text.top - y - glyph.top);
  const int end_row = std::min(glyph.height, text.top + text.height - y - glyph.top);
  const int first_column = std::max(0, text.left - x - glyph.left);
  const int end_column = std::min(glyph.width, text.left + text.width - x - glyph.left);
  const int count = std::max(0, end_column - first_column);
  for (int row = first_row; row < end_row; ++row) {
    const int text_row = row + y + glyph.top - text.top;
    const int text_column = first_column + x + glyph.left - text.left;
    auto from = static_cast<std::size_t>(row) * static_cast<std::size_t>(glyph.width) +
                static_cast<std::size_t>(first_column);
    auto to = static_cast<std::size_t>(text_row) * static_cast<std::size_t>(text.width) +
              static_cast<std::size_t>(text_column);
    for (int i = 0; i < count; ++i) {
      mix(from++, to++);
    }
  }
}

// Adds a glyph's ink at (x, y); what falls outside is cut off.
void add_glyph(const InkMap& glyph, int x, int y, InkMap& text) {
  if (!glyph.ink.empty()) {
    mix_rows(glyph, x, y, text, [&](std::size_t from, std::size_t to) {
      text.ink[to] = static_cast<std::uint8_t>(std::min(255, text.ink[to] + glyph.ink[from]));
    });
  }
  if (!glyph.image.empty()) {
    text.image.resize(4 * text.ink.size(), 0);
    mix_rows(glyph, x, y, text, [&](std::size_t from, std::size_t to) {
      const int alpha = glyph.image[4 * from + 3];
      for (std::size_t i = 0; i < 4; ++i) {
        std::uint8_t& below = text.image[4 * to + i];
        const int mixed = glyph.image[4 * from + i] + (below * (255 - alpha) + 127) / 255;
        below = static_cast<std::uint8_t>(std::min(255, mixed));
      }
    });
  }
}

}  // namespace

const Outline& TextRasterizer::outline(const OutlineKey& key) {
  const auto [place, is_new] = outlines_.try_emplace(key);
  if (is_new) {
    const auto [kind, id, face] = key;
    place->second = face != nullptr             ? face->outline(id)
                    : kind == Glyph::Kind::kBox ? code_point_box(id)
                                                : embedded_outline(id);
  }
  return place->second;
}

const InkMap& TextRasterizer::glyph_ink(const InkKey& key) {
  const auto [place, is_new] = glyphs_.try_emplace(key);
  if (!is_new) {
    return place->second;
  }
  const auto [glyph, em, column_width, angle, x_quarters, y_quarters] = key;
  const auto [kind, id, face] = glyph;
  const double x = static_cast<double>(x_quarters) / kFractions;
  const double y = static_cast<double>(y_quarters) / kFractions;
  const double scale = column_width * (kind == Glyph::Kind::kFace ? em : 1.0);
  const GlyphImage* image = face == nullptr ? nullptr : face->image(id);
  if (image != nullptr) {
    const GlyphExtents box = face->extents(id);
    Corners corners = {turned(box.left * scale, -box.top * scale, angle),
                       turned(box.right * scale, -box.top * scale, angle),
                       turned(box.right * scale, -box.bottom * scale, angle),
                       turned(box.left * scale, -box.bottom * scale, angle)};
    for (PixelPoint& corner : corners) {
      corner = {corner.x + x, corner.y + y};
    }
    place->second = draw_image(*image, corners);
  } else {
    Outline in_pixels = outline(glyph);
    turn(in_pixels, scale, angle);
    place->second = fill_outline(in_pixels, x, y);
  }
  return place->second;
}

const InkMap& TextRasterizer::rasterize(std::string_view text, int column_width, TextAngle angle) {
  const auto [place, is_new] = texts_.try_emplace({std::string(text), column_width, angle});
  if (is_new) {
    place->second = drawn(text, column_width, angle);
  }
  return place->second;
}

InkMap TextRasterizer::drawn(std::string_view text, int column_width, TextAngle angle) {
  const GlyphRun run = fonts_.run(text);
  InkMap map = box_of(text_corners({0.0, 0.0}, run.columns, column_width, angle));
  map.ink.assign(static_cast<std::size_t>(map.width) * static_cast<std::size_t>(map.height), 0);
  for (const Glyph& glyph : run.glyphs) {
    const PixelPoint pen =
        turned(glyph.x * column_width, baseline(column_width) - glyph.y * column_width, angle);
    const auto quarters_x = static_cast<int>(std::lround(pen.x * kFractions));
    const auto quarters_y = static_cast<int>(std::lround(pen.y * kFractions));
    const int x = static_cast<int>(std::floor(static_cast<double>(quarters_x) / kFractions));
    const int y = static_cast<int>(std::floor(static_cast<double>(quarters_y) / kFractions));
    add_glyph(glyph_ink({{glyph.kind, glyph.id, glyph.face},
                         glyph.em,
                         column_width,
                         angle,
                         quarters_x - x * kFractions,
                         quarters_y - y * kFractions}),
              x, y, map);
  }
  return map;
}

}  // namespace attnviz
