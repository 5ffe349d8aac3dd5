#include "attnviz/picture/fonts/font_face.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>
#include <utility>

#include "attnviz/picture/fonts/harfbuzz-inl.h"
#include "attnviz/picture/fonts/stb_memory.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"  // from stb_memory()
#define STBI_MALLOC(size) attnviz::stb_memory(nullptr, size)
#define STBI_REALLOC(memory, size) attnviz::stb_memory(memory, size)
#define STBI_FREE(memory) std::free(memory)
#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#define STBI_NO_STDIO
#define STBI_MAX_DIMENSIONS 1024
#include <stb/stb_image.h>
#pragma GCC diagnostic pop

namespace attnviz {

// A face and its sources, with the functions that close them.
struct FontFace::Handles {
  const HarfBuzz* hb = nullptr;
  std::shared_ptr<const void> bytes;
  hb_blob_t* blob = nullptr;
  hb_face_t* face = nullptr;
  hb_font_t* font = nullptr;
  hb_draw_funcs_t* pen = nullptr;
  double unit = 0.0;  // in ems
  bool has_images = false;

  ~Handles() {
    hb->draw_funcs_destroy(pen);
    hb->font_destroy(font);
    hb->face_destroy(face);
    hb->blob_destroy(blob);
  }
};

namespace {

// The widest letters are ligatures of whole phrases, some ten ems long.
constexpr double kLargestGlyph = 32.0;

constexpr std::size_t kMostPoints = 100'000;

// Collects the outline that the pen draws.
struct Drawing {
  Outline outline;
  double unit = 0.0;
  std::size_t n_points = 0;
  bool is_too_large = false;

  PixelPoint point(float x, float y) {
    const PixelPoint scaled = {x * unit, y * unit};
    is_too_large = is_too_large || ++n_points > kMostPoints ||
                   !(std::abs(scaled.x) < kLargestGlyph && std::abs(scaled.y) < kLargestGlyph);
    return is_too_large ? PixelPoint{} : scaled;
  }

  std::vector<PixelPoint>& contour() {
    if (outline.empty()) {
      outline.emplace_back();
    }
    return outline.back();
  }
};

// HarfBuzz does not report failed allocations: it continues as if the font contained less.
class MemoryCheck {
 public:
  MemoryCheck() noexcept { errno = 0; }
  MemoryCheck(const MemoryCheck&) = delete;
  MemoryCheck& operator=(const MemoryCheck&) = delete;

  // Throws std::bad_alloc when an allocation has failed since construction.
  static void done() {
    if (errno == ENOMEM) {
      throw std::bad_alloc();
    }
  }
};

void move_to(hb_draw_funcs_t*, void* data, hb_draw_state_t*, float x, float y, void*) {
  auto& drawing = *static_cast<Drawing*>(data);
  drawing.outline.push_back({drawing.point(x, y)});
}

void line_to(hb_draw_funcs_t*, void* data, hb_draw_state_t*, float x, float y, void*) {
  auto& drawing = *static_cast<Drawing*>(data);
  drawing.contour().push_back(drawing.point(x, y));
}

void quadratic_to(hb_draw_funcs_t*, void* data, hb_draw_state_t*, float control_x, float control_y,
                  float x, float y, void*) {
  auto& drawing = *static_cast<Drawing*>(data);
  add_curve(drawing.contour(), {drawing.point(control_x, control_y), drawing.point(x, y)});
}

void cubic_to(hb_draw_funcs_t*, void* data, hb_draw_state_t*, float control1_x, float control1_y,
              float control2_x, float control2_y, float x, float y, void*) {
  auto& drawing = *static_cast<Drawing*>(data);
  add_curve(drawing.contour(), {drawing.point(control1_x, control1_y),
                                drawing.point(control2_x, control2_y), drawing.point(x, y)});
}

void close_path(hb_draw_funcs_t*, void*, hb_draw_state_t*, void*) {}

GlyphImage decoded(const char* bytes, unsigned length) {
  GlyphImage image;
  int channels = 0;
  const std::unique_ptr<stbi_uc, decltype(&stbi_image_free)> pixels(
      stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(bytes), static_cast<int>(length),
                            &image.width, &image.height, &channels, 4),
      &stbi_image_free);
  if (pixels == nullptr) {
    return {};
  }
  const std::size_t size =
      static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height) * 4;
  image.rgba.assign(pixels.get(), pixels.get() + size);
  return image;
}

}  // namespace

FontFace::FontFace() = default;
FontFace::~FontFace() = default;

std::unique_ptr<FontFace> FontFace::open(const FontFile& file) {
  const HarfBuzz* hb = harfbuzz();
  if (hb == nullptr || file.bytes.size() > std::numeric_limits<unsigned>::max()) {
    return nullptr;
  }
  std::unique_ptr<FontFace> face(new FontFace);
  face->handles_ = std::make_unique<Handles>();
  Handles& handles = *face->handles_;
  const MemoryCheck memory;
  handles.hb = hb;
  handles.bytes = file.owner;
  handles.blob = hb->blob_create(file.bytes.data(), static_cast<unsigned>(file.bytes.size()),
                                 HB_MEMORY_MODE_READONLY, nullptr, nullptr);
  handles.face = hb->face_create(handles.blob, file.face);
  handles.font = hb->font_create(handles.face);
  handles.unit = 1.0 / std::max(1u, hb->face_get_upem(handles.face));
  handles.has_images = hb->ot_color_has_png(handles.face) != 0;
  handles.pen = hb->draw_funcs_create();
  hb->draw_funcs_set_move_to_func(handles.pen, move_to, nullptr, nullptr);
  hb->draw_funcs_set_line_to_func(handles.pen, line_to, nullptr, nullptr);
  hb->draw_funcs_set_quadratic_to_func(handles.pen, quadratic_to, nullptr, nullptr);
  hb->draw_funcs_set_cubic_to_func(handles.pen, cubic_to, nullptr, nullptr);
  hb->draw_funcs_set_close_path_func(handles.pen, close_path, nullptr, nullptr);
  const bool has_glyphs = hb->face_get_glyph_count(handles.face) > 0;
  memory.done();
  if (!has_glyphs) {
    return nullptr;
  }
  return face;
}

bool FontFace::has(char32_t code_point) const {
  const MemoryCheck memory;
  hb_codepoint_t glyph = 0;
  const bool is_there =
      handles_->hb->font_get_nominal_glyph(handles_->font, code_point, &glyph) != 0;
  memory.done();
  return is_there && glyph != 0;
}

std::vector<ShapedGlyph> FontFace::shape(std::span<const char32_t> text, bool right_to_left) const {
  const HarfBuzz& hb = *handles_->hb;
  const MemoryCheck memory;
  const std::unique_ptr<hb_buffer_t, decltype(hb.buffer_destroy)> buffer(hb.buffer_create(),
                                                                         hb.buffer_destroy);
  const std::vector<hb_codepoint_t> points(text.begin(), text.end());
  const auto size = static_cast<int>(points.size());
  hb.buffer_add_codepoints(buffer.get(), points.data(), size, 0, size);
  hb.buffer_set_direction(buffer.get(), right_to_left ? HB_DIRECTION_RTL : HB_DIRECTION_LTR);
  hb.buffer_guess_segment_properties(buffer.get());
  hb.shape(handles_->font, buffer.get(), nullptr, 0);
  memory.done();

  unsigned count = 0;
  const hb_glyph_info_t* infos = hb.buffer_get_glyph_infos(buffer.get(), &count);
  const hb_glyph_position_t* positions = hb.buffer_get_glyph_positions(buffer.get(), nullptr);
  std::vector<ShapedGlyph> glyphs;
  double pen_x = 0.0;
  double pen_y = 0.0;
  for (unsigned i = 0; i < count; ++i) {
    const double advance = positions[i].x_advance * handles_->unit;
    glyphs.push_back({infos[i].codepoint, pen_x + positions[i].x_offset * handles_->unit,
                      pen_y + positions[i].y_offset * handles_->unit, advance});
    pen_x += advance;
    pen_y += positions[i].y_advance * handles_->unit;
  }
  return glyphs;
}

GlyphExtents FontFace::extents(std::uint32_t glyph) const {
  const MemoryCheck memory;
  hb_glyph_extents_t box = {};
  const bool has_box = handles_->hb->font_get_glyph_extents(handles_->font, glyph, &box) != 0;
  memory.done();
  if (!has_box) {
    return {};
  }
  const double unit = handles_->unit;
  const GlyphExtents extents = {box.x_bearing * unit, (1.0 * box.y_bearing + box.height) * unit,
                                (1.0 * box.x_bearing + box.width) * unit, box.y_bearing * unit};
  const bool is_sane =
      std::abs(extents.left) < kLargestGlyph && std::abs(extents.right) < kLargestGlyph &&
      std::abs(extents.top) < kLargestGlyph && std::abs(extents.bottom) < kLargestGlyph;
  return is_sane ? extents : GlyphExtents{};
}

Outline FontFace::outline(std::uint32_t glyph) const {
  Drawing drawing;
  drawing.unit = handles_->unit;
  const MemoryCheck memory;
  handles_->hb->font_get_glyph_shape(handles_->font, glyph, handles_->pen, &drawing);
  memory.done();
  return drawing.is_too_large ? Outline{} : std::move(drawing.outline);
}

const GlyphImage* FontFace::image(std::uint32_t glyph) const {
  if (!handles_->has_images) {
    return nullptr;
  }
  const auto [found, is_new] = images_.try_emplace(glyph);
  if (is_new) {
    const HarfBuzz& hb = *handles_->hb;
    const MemoryCheck memory;
    hb_blob_t* png = hb.ot_color_glyph_reference_png(handles_->font, glyph);
    unsigned length = 0;
    const char* bytes = hb.blob_get_data(png, &length);
    memory.done();
    if (bytes != nullptr && length > 0) {
      found->second = decoded(bytes, length);
    }
    hb.blob_destroy(png);
  }
  return found->second.rgba.empty() ? nullptr : &found->second;
}

}  // namespace attnviz
