#include "attnviz/render/canvas.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "attnviz/core/error.h"
#include "attnviz/core/tensor.h"

namespace attnviz {

namespace {

// 16 amounts of ink are as smooth as 256 to look at, and keep a picture's colours few.
constexpr unsigned kInkStep = 17;

std::size_t checked_bytes(int width, int height) {
  if (width <= 0 || height <= 0) {
    throw Error(ErrorKind::kUsage,
                fmt::format("picture: {} x {} pixels cannot be drawn", width, height));
  }
  return checked_product({static_cast<std::size_t>(width), static_cast<std::size_t>(height), 3},
                         "the picture");
}

}  // namespace

Canvas::Canvas(int width, int height, Rgb background) : width_(width), height_(height) {
  pixels_.assign(checked_bytes(width, height), background.r);
  if (background.r != background.g || background.g != background.b) {
    fill({0, 0, width, height}, background);
  }
}

PixelRect Canvas::clipped(const PixelRect& rect) const noexcept {
  const int left = std::clamp(rect.x, 0, width_);
  const int top = std::clamp(rect.y, 0, height_);
  return {left, top, std::clamp(rect.right(), left, width_) - left,
          std::clamp(rect.bottom(), top, height_) - top};
}

std::uint8_t* Canvas::pixel(int x, int y) noexcept {
  return pixels_.data() + (static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) +
                           static_cast<std::size_t>(x)) *
                              3;
}

void Canvas::fill(const PixelRect& rect, Rgb color) noexcept {
  const PixelRect area = clipped(rect);
  if (area.empty()) {
    return;
  }
  std::uint8_t* target = pixel(area.x, area.y);
  for (int x = 0; x < area.width; ++x) {
    *target++ = color.r;
    *target++ = color.g;
    *target++ = color.b;
  }
  repeat_top_row(area);
}

void Canvas::hatch(const PixelRect& rect, Rgb color, int spacing, int thickness) noexcept {
  const PixelRect area = clipped(rect);
  for (int y = area.y; y < area.bottom(); ++y) {
    // Lines begin where x + y is a multiple of the spacing; the first may begin left of the area.
    int x = area.x - (area.x + y) % spacing;
    for (; x < area.right(); x += spacing) {
      const int end = std::min(x + thickness, area.right());
      for (int column = std::max(x, area.x); column < end; ++column) {
        std::uint8_t* target = pixel(column, y);
        target[0] = color.r;
        target[1] = color.g;
        target[2] = color.b;
      }
    }
  }
}

void Canvas::repeat_top_row(const PixelRect& rect) noexcept {
  const PixelRect area = clipped(rect);
  if (area.empty()) {
    return;
  }
  const std::uint8_t* source = pixel(area.x, area.y);
  for (int y = area.y + 1; y < area.bottom(); ++y) {
    std::memcpy(pixel(area.x, y), source, static_cast<std::size_t>(area.width) * 3);
  }
}

void Canvas::draw(const InkMap& ink, int x, int y, Rgb color) noexcept {
  const std::array<unsigned, 3> over = {color.r, color.g, color.b};
  const PixelRect area = clipped({x + ink.left, y + ink.top, ink.width, ink.height});
  for (int row = area.y; row < area.bottom(); ++row) {
    const std::ptrdiff_t first =
        static_cast<std::ptrdiff_t>(row - y - ink.top) * ink.width + (area.x - x - ink.left);
    const std::uint8_t* amount = ink.ink.data() + first;
    const std::uint8_t* image = ink.image.empty() ? nullptr : ink.image.data() + 4 * first;
    std::uint8_t* target = pixel(area.x, row);
    for (int column = 0; column < area.width; ++column, ++amount, target += 3) {
      const unsigned share = (*amount + kInkStep / 2) / kInkStep * kInkStep;
      for (std::size_t channel = 0; share != 0 && channel < 3; ++channel) {
        target[channel] = static_cast<std::uint8_t>(
            (over[channel] * share + target[channel] * (255u - share) + 127u) / 255u);
      }
      for (std::size_t channel = 0; image != nullptr && channel < 3; ++channel) {
        const unsigned mixed = image[channel] + (target[channel] * (255u - image[3]) + 127u) / 255u;
        target[channel] = static_cast<std::uint8_t>(std::min(255u, mixed));
      }
      image = image == nullptr ? nullptr : image + 4;
    }
  }
}

}  // namespace attnviz
