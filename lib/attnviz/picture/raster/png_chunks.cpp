#include "attnviz/picture/raster/png_chunks.h"

#include <libdeflate.h>

#include <cmath>
#include <cstdint>

namespace attnviz {

namespace {

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

}  // namespace

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

}  // namespace attnviz
