// PNG files read back by code that shares nothing with the writer's compressor.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attnviz/color/colormap.h"

namespace attnviz::test {

struct DecodedPng {
  int width = 0;
  int height = 0;
  int channels = 0;               // as given in the file
  std::vector<std::uint8_t> rgb;  // [height, width, 3]

  Rgb at(int x, int y) const;
  /// Whether every pixel of [x, x + width) by [y, y + height) has the colour.
  bool is_filled(int x, int y, int width, int height, Rgb color) const;
};

/// Fails the test if the bytes are not a PNG.
DecodedPng decode_png(const std::string& bytes);

struct PngChunk {
  std::string type;
  std::string data;
};

/// Every chunk, in the order of the file. Fails the test if one extends past the end.
std::vector<PngChunk> chunks_of(const std::string& bytes);

/// Whether the file has its signature, each chunk's CRC-32 is right, and IEND comes last.
bool has_sound_chunks(const std::string& bytes);

}  // namespace attnviz::test
