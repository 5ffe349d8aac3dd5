#include "attnviz/render/png_encode.h"

#include <fmt/core.h>
#include <libdeflate.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "attnviz/core/error.h"
#include "attnviz/core/large_memory.h"
#include "attnviz/render/pixel_palette.h"
#include "attnviz/render/png_chunks.h"
#include "attnviz/render/run_compression.h"

namespace {

// Data that runs pack to less than one part in so many is written fast; other data is packed well.
constexpr std::size_t kRunsPackTo = 20;

unsigned char* allocated(std::size_t size) noexcept {
  return static_cast<unsigned char*>(attnviz::allocate_for_free(size));
}

// What stb_image_write calls in place of its own compressor, which is slower and packs worse. The
// result belongs to stb, which frees it.
unsigned char* compress_zlib(const unsigned char* data, int size, int* compressed_size,
                             int level) noexcept {
  const auto length = static_cast<std::size_t>(size);
  *compressed_size = 0;
  try {
    if (const auto runs = attnviz::compress_runs({data, length}, length / kRunsPackTo)) {
      unsigned char* const compressed = allocated(runs->size());
      if (compressed != nullptr) {
        std::copy(runs->begin(), runs->end(), compressed);
        *compressed_size = static_cast<int>(runs->size());
      }
      return compressed;
    }
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  const std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor(
      libdeflate_alloc_compressor(level), &libdeflate_free_compressor);
  if (compressor == nullptr) {
    return nullptr;
  }
  const std::size_t bound = libdeflate_zlib_compress_bound(compressor.get(), length);
  unsigned char* const compressed = allocated(bound);
  if (compressed == nullptr) {
    return nullptr;
  }
  *compressed_size =
      static_cast<int>(libdeflate_zlib_compress(compressor.get(), data, length, compressed, bound));
  return compressed;
}

unsigned int crc32(const unsigned char* data, int size) noexcept {
  return libdeflate_crc32(0, data, static_cast<std::size_t>(size));
}

}  // namespace

#define STBI_WRITE_NO_STDIO
#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STBIW_ZLIB_COMPRESS compress_zlib
#define STBIW_CRC32 crc32
#define STBIW_MALLOC attnviz::allocate_for_free
#define STBIW_REALLOC std::realloc
#define STBIW_FREE std::free
#include <stb/stb_image_write.h>

namespace attnviz {

namespace {

// A heatmap's rows mostly repeat the row above: filter 2 ("up") turns those into zeros, and a fast
// level then packs them as well as a slow one.
constexpr int kUpFilter = 2;
constexpr int kCompressionLevel = 1;

void append_bytes(void* out, void* data, int size) {
  static_cast<std::string*>(out)->append(static_cast<const char*>(data),
                                         static_cast<std::size_t>(size));
}

// `channels` bytes a pixel, of one grey or of three colours.
std::string encoded(std::span<const std::uint8_t> pixels, std::size_t width, std::size_t height,
                    std::size_t channels) {
  // stb counts bytes, one filter byte a row among them, in an int.
  constexpr auto kLimit = static_cast<std::size_t>(std::numeric_limits<int>::max()) / 2;
  if (width == 0 || height == 0 || width > kLimit / channels ||
      height > kLimit / (channels * width + 1)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("png: a picture of {} x {} pixels cannot be written", width, height));
  }
  if (pixels.size() != channels * width * height) {
    throw Error(ErrorKind::kUsage,
                fmt::format("png: expected {} bytes for {} x {} pixels, found {}",
                            channels * width * height, width, height, pixels.size()));
  }
  // stb's settings are variables: set once, so that threads can encode at the same time.
  [[maybe_unused]] static const bool configured = [] {
    stbi_write_force_png_filter = kUpFilter;
    stbi_write_png_compression_level = kCompressionLevel;
    return true;
  }();
  std::string png;
  const int ok =
      stbi_write_png_to_func(&append_bytes, &png, static_cast<int>(width), static_cast<int>(height),
                             static_cast<int>(channels), pixels.data(), 0);
  if (ok == 0) {
    throw Error(ErrorKind::kIo,
                fmt::format("png: out of memory for {} x {} pixels", width, height));
  }
  return png;
}

struct NumberedPicture {
  PixelPalette palette;
  std::vector<std::uint8_t> numbers;
};

// A picture in which more colours were painted than are left to see; nothing when they are many.
std::optional<NumberedPicture> numbered(std::span<const std::uint8_t> rgb) {
  NumberedPicture picture;
  picture.numbers.reserve(rgb.size() / 3);  // mostly never touched: many colours show soon
  std::optional<Rgb> last;
  std::uint8_t number = 0;
  for (std::size_t i = 0; i < rgb.size(); i += 3) {
    const Rgb color{rgb[i], rgb[i + 1], rgb[i + 2]};
    if (last != color) {
      const auto found = picture.palette.number(color);
      if (!found) {
        return std::nullopt;
      }
      last = color;
      number = *found;
    }
    picture.numbers.push_back(number);
  }
  return picture;
}

}  // namespace

std::string encode_png(std::span<const std::uint8_t> rgb, std::size_t width, std::size_t height) {
  return encoded(rgb, width, height, 3);
}

std::string encode_png(const Canvas& canvas) {
  const auto width = static_cast<std::size_t>(canvas.width());
  const auto height = static_cast<std::size_t>(canvas.height());
  // stb writes no palettes, but greys do as numbers of colours.
  if (canvas.has_palette()) {
    return with_palette(encoded(canvas.pixels(), width, height, 1), canvas.palette());
  }
  if (const auto picture = numbered(canvas.pixels())) {
    return with_palette(encoded(picture->numbers, width, height, 1), picture->palette.colors());
  }
  return encode_png(canvas.pixels(), width, height);
}

}  // namespace attnviz
