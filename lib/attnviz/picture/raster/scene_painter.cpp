#include "attnviz/picture/raster/scene_painter.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <variant>

#include "attnviz/picture/raster/png_encode.h"
#include "attnviz/picture/raster/stroke_mask.h"
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

}  // namespace attnviz
