#include "attnviz/picture/raster/png_encode.h"

#include <fmt/core.h>
#include <libdeflate.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <optional>

#include "attnviz/core/error.h"
#include "attnviz/core/large_memory.h"
#include "attnviz/picture/raster/pixel_palette.h"
#include "attnviz/picture/raster/run_compression.h"

namespace {

unsigned char* allocated(std::size_t size) noexcept {
  return static_cast<unsigned char*>(attnviz::allocate_for_free(size));
}

// What stb_image_write calls in place of its own compressor, which is slower and packs worse. The
// result belongs to stb, which frees it.
unsigned char* compress_zlib(const unsigned char* data, int size, int* compressed_size,
                             int level) noexcept {
  const auto length = static_cast<std::size_t>(size);
  *compressed_size = 0;
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

// Pixels that runs pack to less than one part in so many are written fast; others are packed well.
constexpr std::size_t kRunsPackTo = 20;

void append_bytes(void* out, void* data, int size) {
  static_cast<std::string*>(out)->append(static_cast<const char*>(data),
                                         static_cast<std::size_t>(size));
}

// Rows of pixels, back to back.
struct Rows {
  std::span<const std::uint8_t> pixels;
  std::size_t width;
  std::size_t height;
  std::size_t channels;  // bytes of a pixel

  std::size_t row_bytes() const noexcept { return width * channels; }
};

void check(const Rows& rows) {
  // stb counts bytes, one filter byte a row among them, in an int.
  constexpr auto kLimit = static_cast<std::size_t>(std::numeric_limits<int>::max()) / 2;
  const auto [pixels, width, height, channels] = rows;
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
}

// Filters a row and packs it before the next one, so that no filtered picture has to be in memory.
// Nothing when it does not pack well that way.
std::optional<std::string> packed_as_runs(const Rows& rows) {
  const std::size_t row_bytes = rows.row_bytes();
  const std::size_t size = rows.height * (1 + row_bytes);
  RunCompression compression(size, size / kRunsPackTo);
  std::vector<std::uint8_t> filtered(1 + row_bytes, kUpFilter);
  const std::uint8_t* row = rows.pixels.data();
  std::copy_n(row, row_bytes, filtered.data() + 1);  // nothing is above the first one
  bool fits = compression.add(filtered);
  for (std::size_t y = 1; y < rows.height && fits; ++y) {
    const std::uint8_t* const above = std::exchange(row, row + row_bytes);
    if (std::memcmp(row, above, row_bytes) == 0) {
      fits = compression.add({filtered.data(), 1}) && compression.add_zeros(row_bytes);
      continue;
    }
    for (std::size_t i = 0; i < row_bytes; ++i) {
      filtered[1 + i] = static_cast<std::uint8_t>(row[i] - above[i]);
    }
    fits = compression.add(filtered);
  }
  return fits ? compression.finish() : std::nullopt;
}

// One grey or three colours a pixel. stb writes no palettes: of its file the pixels are taken.
std::string packed_by_stb(const Rows& rows) {
  // stb's settings are variables: set once, so that threads can encode at the same time.
  [[maybe_unused]] static const bool configured = [] {
    stbi_write_force_png_filter = kUpFilter;
    stbi_write_png_compression_level = kCompressionLevel;
    return true;
  }();
  std::string png;
  const int ok = stbi_write_png_to_func(&append_bytes, &png, static_cast<int>(rows.width),
                                        static_cast<int>(rows.height),
                                        static_cast<int>(rows.channels), rows.pixels.data(), 0);
  if (ok == 0) {
    throw std::bad_alloc();
  }
  constexpr std::size_t kBefore = 8 + 25 + 8;  // the signature, IHDR, IDAT's length and type
  constexpr std::size_t kBehind = 4 + 12;      // IDAT's checksum, IEND
  return png.substr(kBefore, png.size() - kBefore - kBehind);
}

// Colour types.
constexpr char kChannels = 2;
constexpr char kIndexed = 3;

constexpr double kMetersPerInch = 0.0254;

void append_big_endian(std::string& bytes, std::uint32_t number) {
  for (const int shift : {24, 16, 8, 0}) {
    bytes.push_back(static_cast<char>(number >> shift & 0xFF));
  }
}

void append_chunk(std::string& bytes, std::string_view type, std::string_view data) {
  append_big_endian(bytes, static_cast<std::uint32_t>(data.size()));
  const std::size_t begin = bytes.size();
  bytes.append(type).append(data);
  append_big_endian(bytes, libdeflate_crc32(0, bytes.data() + begin, bytes.size() - begin));
}

std::string channels_of(std::span<const Rgb> palette) {
  std::string channels;
  channels.reserve(3 * palette.size());
  for (const Rgb color : palette) {
    for (const std::uint8_t channel : {color.r, color.g, color.b}) {
      channels.push_back(static_cast<char>(channel));
    }
  }
  return channels;
}

std::string resolution(int dpi) {
  const auto pixels_a_meter = static_cast<std::uint32_t>(std::lround(dpi / kMetersPerInch));
  std::string data;
  append_big_endian(data, pixels_a_meter);
  append_big_endian(data, pixels_a_meter);
  data.push_back(1);  // the unit: meters
  return data;
}

// Not compressed, in no language in particular.
std::string international_text(std::string_view keyword, std::string_view text) {
  constexpr std::string_view kPlain("\0\0\0\0\0", 5);
  return std::string(keyword).append(kPlain).append(text);
}

// The file of a picture whose filtered rows, as a zlib stream, are `zlib`: 8-bit pixels of colour
// type 3 or 2 (PNG's specification, ISO 15948, 11.2), the facts behind its header as a pHYs and
// iTXt chunks (11.3).
std::string png_file(std::size_t width, std::size_t height, std::span<const Rgb> palette,
                     const PngFacts& facts, std::string_view zlib) {
  std::string header;
  append_big_endian(header, static_cast<std::uint32_t>(width));
  append_big_endian(header, static_cast<std::uint32_t>(height));
  header.push_back(8);  // bits
  header.push_back(palette.empty() ? kChannels : kIndexed);
  header.append(3, '\0');  // the only compression, the only set of filters, not interlaced
  std::string png("\x89PNG\r\n\x1A\n");
  png.reserve(zlib.size() + 3 * palette.size() + 100);
  append_chunk(png, "IHDR", header);
  if (facts.dpi > 0) {
    append_chunk(png, "pHYs", resolution(facts.dpi));
  }
  for (const auto& [keyword, text] : facts.texts) {
    if (!text.empty()) {
      append_chunk(png, "iTXt", international_text(keyword, text));
    }
  }
  if (!palette.empty()) {
    append_chunk(png, "PLTE", channels_of(palette));
  }
  append_chunk(png, "IDAT", zlib);
  append_chunk(png, "IEND", {});
  return png;
}

// Without a palette, pixels are channels.
std::string encoded(const Rows& rows, std::span<const Rgb> palette, const PngFacts& facts) {
  check(rows);
  try {
    std::optional<std::string> packed = packed_as_runs(rows);
    if (!packed) {
      packed = packed_by_stb(rows);
    }
    return png_file(rows.width, rows.height, palette, facts, *packed);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::kIo,
                fmt::format("png: out of memory for {} x {} pixels", rows.width, rows.height));
  }
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

std::string encode_png(std::span<const std::uint8_t> rgb, std::size_t width, std::size_t height,
                       const PngFacts& facts) {
  return encoded({rgb, width, height, 3}, {}, facts);
}

std::string encode_png(const Canvas& canvas, const PngFacts& facts) {
  const auto width = static_cast<std::size_t>(canvas.width());
  const auto height = static_cast<std::size_t>(canvas.height());
  if (canvas.has_palette()) {
    return encoded({canvas.pixels(), width, height, 1}, canvas.palette(), facts);
  }
  if (const auto picture = numbered(canvas.pixels())) {
    return encoded({picture->numbers, width, height, 1}, picture->palette.colors(), facts);
  }
  return encode_png(canvas.pixels(), width, height, facts);
}

}  // namespace attnviz
