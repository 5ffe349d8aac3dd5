#include "attnviz/picture/raster/scene_painter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>

#include "attnviz/picture/raster/png_encode.h"
#include "attnviz/picture/raster/text_rasterizer.h"

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
    // Cells of one colour that touch each other, as masked ones do, are painted at once.
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
    item = Rectangle{};  // many cells make room for their pixels
  }
  return canvas;
}

std::string scene_png(Scene scene, const FontSet& fonts,
                      std::vector<std::pair<std::string, std::string>> texts) {
  const int dpi = scene.dpi;
  return encode_png(paint(std::move(scene), fonts), {dpi, std::move(texts)});
}

namespace {

// Straight pieces of a curve: longer ones would be seen as corners.
constexpr double kPiece = 8.0;
constexpr double kMostPieces = 256.0;

class MaskPainter {
 public:
  MaskPainter(const Strokes& strokes, int width, int height)
      : strokes_(strokes), reach_(strokes.width / 2.0 + 0.5) {
    if (strokes.curves.empty()) {
      return;
    }
    // A curve lies between its ends, as its control points do.
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

  // A straight piece with round ends.
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
      // Only what of the piece is near this row can be near its pixels.
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
  double reach_;  // from the middle of a stroke to where nothing is covered
  StrokeMask mask_;
};

}  // namespace

StrokeMask stroke_mask(const Strokes& strokes, int width, int height) {
  return MaskPainter(strokes, width, height).paint();
}

}  // namespace attnviz
