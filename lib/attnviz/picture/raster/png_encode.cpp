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
#include "attnviz/picture/raster/canvas.h"

namespace {

// Called by stb_image_write instead of its own compressor, which is slower and compresses less. stb
// frees the result.
unsigned char* compress_zlib(const unsigned char* data, int size, int* compressed_size,
                             int /*level*/) noexcept {
  *compressed_size = 0;
  try {
    const std::string zlib = attnviz::compress_filtered({data, static_cast<std::size_t>(size)});
    auto* const compressed = static_cast<unsigned char*>(std::malloc(zlib.size()));
    if (compressed != nullptr) {
      std::ranges::copy(zlib, compressed);
      *compressed_size = static_cast<int>(zlib.size());
    }
    return compressed;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
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
#include <stb/stb_image_write.h>

namespace attnviz {

namespace {

void append_bytes(void* out, void* data, int size) {
  static_cast<std::string*>(out)->append(static_cast<const char*>(data),
                                         static_cast<std::size_t>(size));
}

// Rows of pixels, back to back.
struct Rows {
  std::span<const std::uint8_t> pixels;
  std::size_t width;
  std::size_t height;
  std::size_t channels;  // bytes per pixel

  std::size_t row_bytes() const noexcept { return width * channels; }
  bool equals_above(const std::uint8_t* row) const noexcept {
    return row != pixels.data() && std::memcmp(row, row - row_bytes(), row_bytes()) == 0;
  }
};

void check(const Rows& rows) {
  // A chunk has a 32-bit length, of which readers accept 31 bits, and stb counts bytes in an int.
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

// An iTXt chunk's content, not compressed, without a language.
std::string international_text(std::string_view keyword, std::string_view text) {
  constexpr std::string_view kPlain("\0\0\0\0\0", 5);
  return std::string(keyword).append(kPlain).append(text);
}

// Returns a PNG file whose filtered rows are the zlib stream `zlib`: 8-bit pixels of colour type 3
// or 2 (PNG specification, ISO 15948, 11.2), with the facts after its header as pHYs and iTXt
// chunks (11.3).
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

// For pictures with more colours than a palette holds. stb writes a whole file, of which only the
// pixel data is used.
std::string packed_by_stb(const Rows& rows) {
  // stb's settings are global variables: set once, so that threads can encode at the same time.
  [[maybe_unused]] static const bool configured = [] {
    constexpr int kUpFilter = 2;  // rows mostly repeat the one above
    stbi_write_force_png_filter = kUpFilter;
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
  constexpr std::size_t kAfter = 4 + 12;       // IDAT's checksum, IEND
  return png.substr(kBefore, png.size() - kBefore - kAfter);
}

// Without a palette, pixels are channels.
std::string encoded(const Rows& rows, std::span<const Rgb> palette, const PngFacts& facts) {
  check(rows);
  try {
    return png_file(
        rows.width, rows.height, palette, facts,
        palette.empty() ? packed_by_stb(rows) : compress_rows(rows.pixels, rows.row_bytes()));
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::kIo,
                fmt::format("png: out of memory for {} x {} pixels", rows.width, rows.height));
  }
}

struct NumberedPicture {
  PixelPalette palette;
  std::unique_ptr<std::uint8_t[]> numbers;
};

// Numbers the remaining colours of a picture, some of which may have been painted over; nothing
// when they are many.
std::optional<NumberedPicture> numbered(const Rows& rows) {
  NumberedPicture picture;
  picture.numbers.reset(new std::uint8_t[rows.width * rows.height]);
  std::uint8_t number = 0;
  std::uint8_t* target = picture.numbers.get();
  const std::uint8_t* row = rows.pixels.data();
  for (std::size_t y = 0; y < rows.height; ++y, row += rows.row_bytes(), target += rows.width) {
    if (rows.equals_above(row)) {
      std::memcpy(target, target - rows.width, rows.width);
      continue;
    }
    for (std::size_t x = 0; x < rows.width; ++x) {
      const std::uint8_t* const pixel = row + 3 * x;
      if (x == 0 || std::memcmp(pixel, pixel - 3, 3) != 0) {
        const auto found = picture.palette.number({pixel[0], pixel[1], pixel[2]});
        if (!found) {
          return std::nullopt;
        }
        number = *found;
      }
      target[x] = number;
    }
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
  const Rows rows{canvas.pixels(), width, height, 3};
  if (const auto picture = numbered(rows)) {
    return encoded({{picture->numbers.get(), width * height}, width, height, 1},
                   picture->palette.colors(), facts);
  }
  return encoded(rows, {}, facts);
}

}  // namespace attnviz
