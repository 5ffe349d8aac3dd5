#include "attnviz/picture/raster/canvas.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "attnviz/core/error.h"
#include "attnviz/core/tensor.h"

namespace attnviz {

namespace {

// 16 amounts of ink look as smooth as 256, and keep the number of a picture's colours small.
constexpr unsigned kInkStep = 17;

std::size_t checked_bytes(int width, int height) {
  if (width <= 0 || height <= 0) {
    throw Error(ErrorKind::kUsage,
                fmt::format("picture: {} x {} pixels cannot be drawn", width, height));
  }
  return checked_product({static_cast<std::size_t>(width), static_cast<std::size_t>(height), 3},
                         "the picture");
}

// Mixes `color`, by its share of 255, over `below`.
Rgb mix(Rgb below, Rgb color, unsigned share) noexcept {
  const auto channel = [share](std::uint8_t under, std::uint8_t over) {
    return static_cast<std::uint8_t>((over * share + under * (255u - share) + 127u) / 255u);
  };
  return {channel(below.r, color.r), channel(below.g, color.g), channel(below.b, color.b)};
}

// Returns how many pixels `amounts` begins with that have no ink, given that the first has none;
// they make up most of the area around turned text. At most `count`.
int blank(const std::uint8_t* amounts, int count) noexcept {
  int i = 1;
  for (std::uint64_t eight = 0; i + 8 <= count; i += 8) {
    std::memcpy(&eight, amounts + i, sizeof eight);
    if (eight != 0) {
      break;
    }
  }
  return i;
}

// Lays a pixel of an image over `below`: three channels times their alpha, and the alpha.
Rgb laid_over(Rgb below, const std::uint8_t* image) noexcept {
  const auto channel = [image](std::uint8_t under, std::uint8_t over) {
    const unsigned sum = over + (under * (255u - image[3]) + 127u) / 255u;
    return static_cast<std::uint8_t>(std::min(255u, sum));
  };
  return {channel(below.r, image[0]), channel(below.g, image[1]), channel(below.b, image[2])};
}

}  // namespace

Canvas::Canvas(int width, int height, Rgb background) : width_(width), height_(height) {
  // All pixels are 0 at first: the number of the first colour.
  pixels_.resize(checked_bytes(width, height) / 3);
  palette_.number(background);
}

Rgb Canvas::at(int x, int y) const noexcept {
  const std::uint8_t* const bytes = pixels_.data() + offset(x, y);
  return has_palette() ? palette_.colors()[bytes[0]] : Rgb{bytes[0], bytes[1], bytes[2]};
}

PixelRect Canvas::clipped(const PixelRect& rect) const noexcept {
  const int left = std::clamp(rect.x, 0, width_);
  const int top = std::clamp(rect.y, 0, height_);
  return {left, top, std::clamp(rect.right(), left, width_) - left,
          std::clamp(rect.bottom(), top, height_) - top};
}

Canvas::Code Canvas::code(Rgb color) {
  if (has_palette()) {
    if (const auto number = palette_.number(color)) {
      return *number;
    }
    widen();
  }
  return code_of(color.r, color.g, color.b);
}

void Canvas::widen() {
  // Four bytes are copied at once; the next pixel overwrites the last one.
  std::array<std::array<std::uint8_t, 4>, PixelPalette::kMostColors> colors{};
  for (std::size_t i = 0; i < palette().size(); ++i) {
    const auto [r, g, b] = palette()[i];
    colors[i] = {r, g, b, 0};
  }
  Pixels channels(pixels_.size() * 3 + 1);
  std::uint8_t* target = channels.data();
  for (const std::uint8_t number : pixels_) {
    std::memcpy(target, colors[number].data(), 4);
    target += 3;
  }
  channels.pop_back();
  pixels_ = std::move(channels);
  channels_ = 3;
}

void Canvas::paint_row(int x, int y, int count, Code code) noexcept {
  std::uint8_t* target = pixel(x, y);
  if (has_palette()) {
    std::memset(target, static_cast<std::uint8_t>(code), static_cast<std::size_t>(count));
    return;
  }
  for (int i = 0; i < count; ++i, target += channels_) {
    paint(target, code);
  }
}

void Canvas::fill(const PixelRect& rect, Rgb color) {
  const PixelRect area = clipped(rect);
  if (area.empty()) {
    return;
  }
  const Code painted = code(color);
  paint_row(area.x, area.y, area.width, painted);
  repeat_first_row(area);
}

void Canvas::fill_row(int x, int y, int width, Code code) noexcept {
  const int left = std::max(x, 0);
  const int right = std::min(x + width, width_);
  if (y >= 0 && y < height_ && left < right) {
    paint_row(left, y, right - left, code);
  }
}

void Canvas::hatch(const PixelRect& rect, Rgb color, int spacing, int thickness) {
  const PixelRect area = clipped(rect);
  if (area.empty()) {
    return;
  }
  const Code painted = code(color);
  for (int y = area.y; y < area.bottom(); ++y) {
    // Lines begin where x + y is a multiple of the spacing; the first may begin left of the area.
    for (int x = area.x - (area.x + y) % spacing; x < area.right(); x += spacing) {
      const int begin = std::max(x, area.x);
      const int end = std::min(x + thickness, area.right());
      if (begin < end) {
        paint_row(begin, y, end - begin, painted);
      }
    }
  }
}

void Canvas::repeat_top_row(const PixelRect& rect) noexcept {
  const PixelRect area = clipped(rect);
  if (!area.empty()) {
    repeat_first_row(area);
  }
}

void Canvas::repeat_first_row(const PixelRect& area) noexcept {
  const std::uint8_t* source = pixel(area.x, area.y);
  for (int y = area.y + 1; y < area.bottom(); ++y) {
    std::memcpy(pixel(area.x, y), source, static_cast<std::size_t>(area.width) * channels_);
  }
}

void Canvas::blend(const PixelRect& rect, std::span<const std::uint8_t> shares, Rgb color) {
  const std::uint8_t* share = shares.data();
  for (int y = rect.y; y < rect.bottom(); ++y) {
    for (int x = rect.x; x < rect.right(); ++x, ++share) {
      if (*share != 0) {
        paint_pixel(x, y, code(mix(at(x, y), color, *share)));
      }
    }
  }
}

void Canvas::draw(const InkMap& ink, int x, int y, Rgb color) {
  const PixelRect area = clipped({x + ink.left, y + ink.top, ink.width, ink.height});
  // Text is mostly on one colour: its mixtures with all amounts of ink are computed once.
  std::array<Code, 255 / kInkStep + 1> mixtures;
  Code mixed_below = kNoCode;
  for (int row = area.y; row < area.bottom(); ++row) {
    const std::ptrdiff_t first =
        static_cast<std::ptrdiff_t>(row - y - ink.top) * ink.width + (area.x - x - ink.left);
    const std::uint8_t* const amounts = ink.ink.data() + first;
    const std::uint8_t* const image = ink.image.empty() ? nullptr : ink.image.data() + 4 * first;
    for (int i = 0; i < area.width; ++i) {
      if (image == nullptr && amounts[i] <= kInkStep / 2) {
        i += blank(amounts + i, area.width - i) - 1;
        continue;
      }
      const unsigned step = (amounts[i] + kInkStep / 2) / kInkStep;
      const int column = area.x + i;
      if (image != nullptr) {
        const Rgb mixed = mix(at(column, row), color, step * kInkStep);
        paint_pixel(column, row, code(laid_over(mixed, image + std::ptrdiff_t{4} * i)));
        continue;
      }
      if (const Code below = code_at(pixel(column, row)); below != mixed_below) {
        mixed_below = below;
        mixtures.fill(kNoCode);
      }
      if (!is_current(mixtures[step])) {
        mixtures[step] = code(mix(at(column, row), color, step * kInkStep));
      }
      paint_pixel(column, row, mixtures[step]);
    }
  }
}

}  // namespace attnviz
