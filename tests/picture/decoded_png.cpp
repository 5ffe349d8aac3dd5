#include "picture/decoded_png.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <memory>
#include <string_view>

#define STBI_ONLY_PNG
#define STBI_NO_STDIO
#define STB_IMAGE_STATIC
#ifndef __clang_analyzer__  // it reports a false leak in stb's own code
#define STB_IMAGE_IMPLEMENTATION
#endif
#include <stb/stb_image.h>

namespace attnviz::test {

Rgb DecodedPng::at(int x, int y) const {
  const auto index = (static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                      static_cast<std::size_t>(x)) *
                     3;
  return {rgb.at(index), rgb.at(index + 1), rgb.at(index + 2)};
}

bool DecodedPng::is_filled(int left, int top, int wide, int high, Rgb color) const {
  for (int y = top; y < top + high; ++y) {
    for (int x = left; x < left + wide; ++x) {
      if (!(at(x, y) == color)) {
        return false;
      }
    }
  }
  return true;
}

DecodedPng decode_png(const std::string& bytes) {
  DecodedPng image;
  const std::unique_ptr<stbi_uc, decltype(&stbi_image_free)> pixels(
      stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(bytes.data()),
                            static_cast<int>(bytes.size()), &image.width, &image.height,
                            &image.channels, 3),
      &stbi_image_free);
  REQUIRE(pixels != nullptr);
  image.rgb.assign(pixels.get(), pixels.get() + static_cast<std::size_t>(image.width) *
                                                    static_cast<std::size_t>(image.height) * 3);
  return image;
}

namespace {

std::uint32_t big_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char byte : bytes.substr(0, 4)) {
    value = value << 8 | static_cast<unsigned char>(byte);
  }
  return value;
}

// Bit by bit, as PNG's specification (ISO 15948, annex D) defines it.
std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = 0xFFFFFFFFu;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc & 1u) != 0 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
    }
  }
  return ~crc;
}

}  // namespace

std::vector<PngChunk> chunks_of(const std::string& bytes) {
  std::vector<PngChunk> chunks;
  std::string_view rest = std::string_view(bytes).substr(8);
  while (!rest.empty()) {
    REQUIRE(rest.size() >= 12);
    const std::size_t length = big_endian(rest);
    REQUIRE(length <= rest.size() - 12);
    chunks.push_back({std::string(rest.substr(4, 4)), std::string(rest.substr(8, length))});
    rest.remove_prefix(12 + length);
  }
  return chunks;
}

bool has_sound_chunks(const std::string& bytes) {
  std::string_view rest = bytes;
  if (!rest.starts_with("\x89PNG\r\n\x1A\n")) {
    return false;
  }
  rest.remove_prefix(8);
  std::string_view type;
  while (rest.size() >= 12) {
    const std::size_t length = big_endian(rest);
    if (rest.size() - 12 < length) {
      return false;
    }
    type = rest.substr(4, 4);
    if (crc32(rest.substr(4, 4 + length)) != big_endian(rest.substr(8 + length))) {
      return false;
    }
    rest.remove_prefix(12 + length);
  }
  return rest.empty() && type == "IEND";
}

}  // namespace attnviz::test
